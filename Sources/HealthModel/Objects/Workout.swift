/// What a workout (`HKWorkout`) tells beside its activity, which is its sample's number, and its start and end, which are the sample's.
///
/// All times are in microseconds after the sample's start; before it they are negative.
public struct Workout: Hashable, Sendable, Codable {
    /// Something that happened during it (`HKWorkoutEvent`).
    public struct Event: Hashable, Sendable, Codable {
        /// The case's name (`pause`), or HealthKit's constant where this version does not know it.
        public var type: String
        /// When it began, in microseconds after the sample's start.
        public var start: Int64
        /// When it ended; its start, where it is a moment's.
        public var end: Int64
        /// What else is said of it.
        public var metadata: Metadata?

        /// An event of its parts.
        public init(type: String, start: Int64, end: Int64, metadata: Metadata? = nil) {
            (self.type, self.start, self.end, self.metadata) = (type, start, end, metadata)
        }
    }

    /// What the source reckoned of one type of sample over the workout (`HKStatistics`).
    public struct Statistics: Hashable, Sendable, Codable {
        /// The quantity type's id, or HealthKit's identifier where this version does not know it.
        public var type: String
        /// Of types that add up.
        public var sum: Amount?
        /// Of types that do not.
        public var average: Amount?
        /// The lowest.
        public var minimum: Amount?
        /// The highest.
        public var maximum: Amount?

        /// What was reckoned of a type.
        public init(
            type: String, sum: Amount? = nil, average: Amount? = nil, minimum: Amount? = nil, maximum: Amount? = nil
        ) {
            (self.type, self.sum, self.average, self.minimum, self.maximum) = (type, sum, average, minimum, maximum)
        }
    }

    /// One of the activities of a workout of several sports (`HKWorkoutActivity`).
    public struct Activity: Hashable, Sendable, Codable {
        /// HealthKit's own UUID of it.
        public var uuid: String?
        /// When it began, in microseconds after the sample's start.
        public var start: Int64
        /// When it ended; `nil` where that is not told.
        public var end: Int64?
        /// How long it lasted, pauses left out.
        public var duration: Amount?
        /// What happened during it.
        public var events: [Event]
        /// What was reckoned over it.
        public var statistics: [Statistics]
        /// What else is said of it.
        public var metadata: Metadata?

        /// An activity of its parts.
        public init(
            uuid: String?, start: Int64, end: Int64?, duration: Amount?, events: [Event] = [], statistics: [Statistics] = [],
            metadata: Metadata? = nil
        ) {
            (self.uuid, self.start, self.end, self.duration) = (uuid, start, end, duration)
            (self.events, self.statistics, self.metadata) = (events, statistics, metadata)
        }
    }

    /// How long it lasted, pauses left out, as the source says; `nil` where it does not.
    public var duration: Amount?
    /// How far it went in all, whatever the kind of distance: what exports told before they told statistics.
    public var totalDistance: Amount?
    /// In the order told.
    public var events: [Event]
    /// In the order told.
    public var activities: [Activity]
    /// In the order told, each type once.
    public var statistics: [Statistics]
    /// The UUIDs of its routes, in the order told.
    public var routes: [String]

    /// How long it lasted in seconds, pauses left out: as told, else from its start, its end and its pauses.
    public func seconds(from start: Instant, to end: Instant) -> Double {
        if let told = duration?.value(in: Self.second) { return told }
        let whole = end.microseconds &- start.microseconds
        return Double(pauses(within: whole).reduce(whole) { $0 - ($1.end - $1.start) }) / 1e6
    }

    /// Its pauses, in order and apart from one another, in microseconds after its start.
    ///
    /// - Parameter whole: how long it lasted with them.
    public func pauses(within whole: Int64) -> [(start: Int64, end: Int64)] {
        var (pauses, since): ([(start: Int64, end: Int64)], Int64?) = ([], nil)
        for event in events.sorted(by: { $0.start < $1.start }) {
            switch event.type {
            // One that is told twice is one.
            case "pause": since = since ?? min(max(event.start, 0), whole)
            case "resume":
                if let begun = since { pauses.append((begun, min(max(event.start, begun), whole))) }
                since = nil
            default: break
            }
        }
        // What was not taken up again was paused to the end.
        if let since { pauses.append((since, whole)) }
        return pauses.filter { $0.start < $0.end }
    }

    /// The name of an event's type by HealthKit's constant (`pause` of `HKWorkoutEventTypePause`); the constant itself where it is unknown.
    public static func eventName(of constant: String) -> String {
        let values = Catalogue.workoutEventValues
        return values.value(of: constant).flatMap(values.name) ?? constant
    }

    /// HealthKit's constant of an event's type (`HKWorkoutEventTypePause` of `pause`); the name itself where it is unknown.
    public static func eventConstant(of name: String) -> String {
        let values = Catalogue.workoutEventValues
        return values.value(of: name).flatMap(values.constant) ?? name
    }

    /// The unit of durations.
    public static let second: Unit = {
        guard let second = try? Unit(ucum: "s") else { preconditionFailure("a second is a unit") }
        return second
    }()

    /// A workout of its parts.
    public init(
        duration: Amount? = nil, totalDistance: Amount? = nil, events: [Event] = [], activities: [Activity] = [],
        statistics: [Statistics] = [], routes: [String] = []
    ) {
        (self.duration, self.totalDistance, self.events) = (duration, totalDistance, events)
        (self.activities, self.statistics, self.routes) = (activities, statistics, routes)
    }
}
