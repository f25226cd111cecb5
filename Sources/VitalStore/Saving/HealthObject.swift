import HealthModel

/// Something to be saved, as HealthKit's `HKObject` before it is in the store: a quantity, a category, a correlation, a workout, or any other of the
/// store's kinds.
///
/// ```swift
/// let walk = try HealthObject.quantity(distance, Amount(628, "m"), from: start, to: end, metadata: ["wasUserEntered": .boolean(true)])
/// let run = HealthObject.workout("running", from: start, to: end, events: [.init(type: "pause", start: pause, end: pause)])
/// ```
///
/// Its UUID is computed from what it says when it is saved, so that the same one saved twice is stored once. Keys of metadata are HealthKit's, with or without
/// their prefix (`HKWasUserEntered` is `wasUserEntered`). With both `syncIdentifier` (a text) and `syncVersion` (a number) it is an
/// edition of a record: a greater version replaces what is there, an equal or lower one is ignored, also after a deletion.
public struct HealthObject: Sendable {
    /// What it is.
    public var type: SampleType
    /// When it was, or began.
    public var start: Instant
    /// When it ended; the start, where it is a moment's.
    public var end: Instant
    /// What measured it.
    public var device: Device?
    /// What else is said of it.
    public var metadata: [String: MetadataValue]
    /// Whose it is, a UUID; `nil` for the store's own person.
    public var person: String?

    /// How far ahead of UTC clocks were; `nil` for what the store's zone says.
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

    /// An amount (`HKQuantitySample`), in any unit that measures the type; what has no unit counts as 1, and the digits are kept. It was measured at the start, or counted from there to the end.
    public static func quantity(
        _ type: SampleType, _ amount: Amount, from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(type, start, end, device, metadata, .number(amount))
    }

    /// A case of a category (`HKCategorySample`) by its number, as HealthKit's enumerations have it; 0 where the type has no cases.
    public static func category(
        _ type: SampleType, _ value: Int, from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(type, start, end, device, metadata, .number(Amount(Numeral(coefficient: Int64(value)), .one)))
    }

    /// Objects that belong together (`HKCorrelation`): quantities and categories, 1,000 at most, which are saved with it.
    public static func correlation(
        _ type: SampleType, _ objects: [HealthObject], from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(type, start, end, device, metadata, .objects(objects))
    }

    /// A workout (`HKWorkout`).
    ///
    /// The activity is HealthKit's name of it without the prefix: `running`, `walking`. Times of events and activities are microseconds after the start; statistics are what it came to by type, as the program knows it. Routes
    /// (`HKWorkoutRoute`) are saved with it: each the locations in the order of their times.
    public static func workout(
        _ activity: String, from start: Instant, to end: Instant, duration: Amount? = nil, events: [Workout.Event] = [],
        activities: [Workout.Activity] = [], statistics: [Workout.Statistics] = [], routes: [[WorkoutLocation]] = [],
        device: Device? = nil, metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        let workout = Workout(duration: duration, events: events, activities: activities, statistics: statistics)
        return HealthObject(
            .workout, start, end, device, metadata, .workout(activity: activity, workout, routes: routes))
    }

    /// An object of any other kind: what it says is a value of the module HealthModel, such as `StateOfMind`, `Audiogram`, `MedicationDoseEvent`, `ClinicalDocument`.
    ///
    /// The number is the object's, where its kind has one: a state of mind's valence, what became of a dose, an electrocardiogram's classification. The content is what is large: packed points, the octets of a document.
    public static func object(
        _ type: SampleType, number: Numeral = Numeral(coefficient: 0), saying value: some Encodable & Sendable,
        content: PackedContent? = nil, from start: Instant, to end: Instant? = nil, device: Device? = nil,
        metadata: [String: MetadataValue] = [:]
    ) -> HealthObject {
        HealthObject(
            type, start, end, device, metadata,
            .body(number: number) { _ in try SampleBody(encoding: value, content: content) })
    }

    /// When a heart beat (`HKHeartbeatSeriesSample`): beats in the order of their times, from the first to the last.
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

    /// An electrocardiogram of one lead (`HKElectrocardiogram`).
    ///
    /// The classification is HealthKit's name of it without the prefix: `sinusRhythm`. The voltages are evenly spaced, so many a second as the frequency says.
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
