import HealthModel

/// Computes the statistics of days from samples, as a store that has only these samples does. A target that shows days uses it
/// (`SampleStatistics` of the store).
///
///     let days = try makeDays()
///     try days.add(samples)
///     let steps = try days.days(of: .stepCount, bySource: false)
public protocol DayComputing: AnyObject {
    /// Adds samples. All of them are of one person.
    func add(_ samples: [Sample]) throws

    /// Sets the user's orders of sources.
    func set(_ orders: [SourceOrder]) throws

    /// Returns the statistics of each day that has samples. A sample belongs to the day on its own clock, or on UTC's if it has no zone.
    /// ``Statistics/start`` is the midnight of the date in UTC.
    ///
    /// - Parameter bySource: Whether sources are separate. Otherwise each moment counts once.
    func days(of type: SampleType, bySource: Bool) throws -> [Statistics]
}

/// Creates an object without samples.
public typealias DayComputer = @Sendable () throws -> any DayComputing
