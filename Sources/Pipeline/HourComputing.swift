import HealthModel

/// A person and a type, of which a target shows statistics.
public struct HourSeries: Hashable, Sendable {
    /// The person.
    public var person: String
    /// A quantity type.
    public var type: SampleType

    /// A person and a type.
    public init(person: String, type: SampleType) { (self.person, self.type) = (person, type) }
}

/// Computes statistics of hours for a target that shows hours instead of samples, from the samples that the target receives. It
/// reads the store at the time of each call, and counts as `vitalgate stats` does.
public protocol HourComputing: AnyObject {
    /// Returns the people and types that have or had samples.
    func series() throws -> [HourSeries]

    /// Returns the starts of the first and the last sample, or `nil` if there is none.
    func extent(of series: HourSeries) throws -> (first: Instant, last: Instant)?

    /// Passes the hours with samples to `body`, in order, in portions.
    ///
    /// - Parameters:
    ///   - minute: The minute of UTC's hours at which hours begin.
    ///   - from: The start of an hour.
    ///   - to: The start of an hour, exclusive.
    ///   - body: Returns whether to go on.
    func hours(of series: HourSeries, minute: Int, from: Instant, to: Instant, _ body: ([Statistics]) throws -> Bool) throws

    /// Returns the spans of hours whose statistics these samples may affect, sorted and disjoint.
    ///
    /// - Parameter samples: Added and deleted samples of the series.
    func affected(by samples: [Sample], of series: HourSeries, minute: Int) throws -> [Range<Instant>]

    /// The name of a person, or `nil` for the store's own.
    func name(of person: String) throws -> String?

    /// The people of the store.
    func people() throws -> [String]

    /// Returns a zone of the tz database, or `nil` if this machine does not know it.
    func zone(_ name: String) -> TimeZoneRules?

    /// Whether samples were removed permanently without being deleted, so that a target may have hours that the store does not
    /// know.
    func hasRemovedSamples() throws -> Bool
}

/// The differences between the hours of a store and of a target.
public struct HourDifferences: Hashable, Sendable {
    /// Hours that both have with the same values.
    public var equal = 0
    /// Hours that the target lacks.
    public var missing = 0
    /// Hours that both have with different values.
    public var differing = 0
    /// Hours, or whole statistics, that the target has although the store has no samples there.
    public var surplus = 0
    /// Statistics at the target of people that the store does not know.
    public var foreign = 0

    /// Creates counts of zero.
    public init() {}

    /// The number of hours to correct.
    public var count: Int { missing + differing + surplus }

    /// Adds counts.
    public mutating func add(_ other: HourDifferences) {
        equal += other.equal
        missing += other.missing
        differing += other.differing
        surplus += other.surplus
        foreign += other.foreign
    }
}

/// An exporter whose target has statistics of hours, which are compared instead of samples.
public protocol HourComparingExporter: Exporter {
    /// Compares all hours.
    ///
    /// - Parameters:
    ///   - mends: Whether differences are corrected.
    ///   - progress: Called with the number of differences so far.
    func compare(mends: Bool, progress: (Int) -> Void) throws(DeliveryError) -> HourDifferences
}

/// An exporter whose target can remove everything that this store has sent.
public protocol ClearableExporter: Exporter {
    /// Removes everything, and returns the number of removed objects.
    func clear() throws(DeliveryError) -> Int
}
