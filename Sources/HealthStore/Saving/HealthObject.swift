import HealthModel

/// An object to be saved, like a new `HKObject` of HealthKit: a quantity, a category, a correlation, a workout, or any other kind.
///
/// ```swift
/// let walk = try HealthObject.quantity(distance, Amount(628, "m"), from: start, to: end, metadata: ["wasUserEntered":
/// .boolean(true)])
/// let run = HealthObject.workout("running", from: start, to: end, events: [.init(type: "pause", start: pause, end: pause)])
/// ```
///
/// Its UUID is computed from its content when it is saved, so that the same object is stored once. Metadata keys are HealthKit's,
/// with or without their prefix (`HKWasUserEntered` is `wasUserEntered`). An object with both `syncIdentifier` (a text) and
/// `syncVersion` (a number) is an edition of a record. A higher version replaces the stored one. An equal or lower version is
/// ignored, even after a deletion.
public struct HealthObject: Sendable {
    /// The object's type.
    public var type: SampleType
    /// The time of the measurement, or its start.
    public var start: Instant
    /// The end. It equals the start for an instant.
    public var end: Instant
    /// The measuring device.
    public var device: Device?
    /// Additional metadata.
    public var metadata: [String: MetadataValue]
    /// The person's UUID, or `nil` for the store's own person.
    public var person: String?

    /// The offset of local time from UTC, or `nil` for the offset of the store's zone.
    public var offset: ZoneOffset?

    let content: Content

    enum Content: Sendable {
        case number(Amount)
        case objects([HealthObject])
        case workout(activity: String, Workout, routes: [[WorkoutLocation]])
        case body(number: Numeral, @Sendable (Instant) throws -> SampleBody)
    }

    init(
        _ type: SampleType, _ start: Instant, _ end: Instant?, _ device: Device?, _ metadata: [String: MetadataValue],
        _ content: Content
    ) {
        (self.type, self.start, self.end) = (type, start, end ?? start)
        (self.device, self.metadata, self.content) = (device, metadata, content)
    }

    /// Creates an amount (`HKQuantitySample`) in any unit that is compatible with the type. An amount without a unit has the unit
    /// 1, and its digits are kept. The amount was measured at the start, or accumulated from the start to the end.
    public static func quantity(
        _ type: SampleType, _ amount: Amount, from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(type, start, end, device, metadata, .number(amount))
    }

    /// Creates a category sample (`HKCategorySample`). The value is the raw value of HealthKit's enumeration, or 0 if the type has
    /// no cases.
    public static func category(
        _ type: SampleType, _ value: Int, from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(type, start, end, device, metadata, .number(Amount(Numeral(coefficient: Int64(value)), .one)))
    }

    /// Creates a correlation (`HKCorrelation`) of 1 to 1,000 quantities and categories, which are saved with it.
    public static func correlation(
        _ type: SampleType, _ objects: [HealthObject], from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(type, start, end, device, metadata, .objects(objects))
    }

    /// Creates a workout (`HKWorkout`).
    ///
    /// The activity is HealthKit's name without the prefix, such as `running` or `walking`. Times of events and activities are
    /// microseconds after the start. Statistics are the program's own totals by type. Routes (`HKWorkoutRoute`) are saved with the
    /// workout. Each one is an array of locations in the order of time.
    public static func workout(
        _ activity: String, from start: Instant, to end: Instant, duration: Amount? = nil, events: [Workout.Event] = [],
        activities: [Workout.Activity] = [], statistics: [Workout.Statistics] = [], routes: [[WorkoutLocation]] = [],
        device: Device? = nil, metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        let workout = Workout(duration: duration, events: events, activities: activities, statistics: statistics)
        return HealthObject(
            .workout, start, end, device, metadata, .workout(activity: activity, workout, routes: routes))
    }

    /// Creates an object of any other kind. Its value is a type of the module HealthModel, such as `StateOfMind`, `Audiogram`,
    /// `MedicationDoseEvent` or `ClinicalDocument`.
    ///
    /// The number is the object's number, if its kind has one: the valence of a state of mind, the status of a dose, the
    /// classification of an electrocardiogram. The content is the large part: packed points, or the bytes of a document.
    public static func object(
        _ type: SampleType, number: Numeral = Numeral(coefficient: 0), saying value: some Encodable & Sendable,
        content: PackedContent? = nil, from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(
            type, start, end, device, metadata,
            .body(number: number) { _ in try SampleBody(encoding: value, content: content) })
    }

    /// Creates a heartbeat series (`HKHeartbeatSeriesSample`). The beats are in the order of time, from the first to the last.
    public static func heartbeats(
        _ beats: [Heartbeat], from start: Instant, to end: Instant, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(
            .heartbeatSeries, start, end, device, metadata,
            .body(number: Numeral(coefficient: 0)) { start in
                var writer = PointsWriter(columns: HeartbeatSeries.columns)
                for beat in beats { try writer.append(beat.numbers(after: start)) }
                let (points, content) = try writer.end()
                return try SampleBody(encoding: HeartbeatSeries(points: points), content: content)
            })
    }

    /// Creates an electrocardiogram with one lead (`HKElectrocardiogram`).
    ///
    /// The classification is HealthKit's name without the prefix, such as `sinusRhythm`. The voltages are evenly spaced at
    /// `samplingFrequency` per second.
    public static func electrocardiogram(
        _ classification: String, microvolts: [Double], samplingFrequency: Double, averageHeartRate: Amount? = nil,
        from start: Instant, to end: Instant, device: Device? = nil, metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        let number = SampleType.electrocardiogram.categoryValues?.value(of: classification) ?? -1
        return HealthObject(
            .electrocardiogram, start, end, device, metadata,
            .body(number: Numeral(coefficient: Int64(number))) { _ in
                var writer = PointsWriter(columns: [Electrocardiogram.voltage])
                for voltage in microvolts { try writer.append([try Numeral(finite: voltage)]) }
                let (points, content) = try writer.end()
                let recording = Electrocardiogram(
                    points: points, samplingFrequency: try Amount(samplingFrequency, "Hz"),
                    averageHeartRate: averageHeartRate)
                return try SampleBody(encoding: recording, content: content)
            })
    }
}
