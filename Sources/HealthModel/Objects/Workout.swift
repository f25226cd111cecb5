/// The data of a workout (`HKWorkout`) beyond the sample's number, which is its activity, and the sample's start and end.
///
/// All times are in microseconds after the sample's start, and negative before it.
public struct Workout: Hashable, Sendable, Codable {
    /// An event during the workout (`HKWorkoutEvent`).
    public struct Event: Hashable, Sendable, Codable {
        /// The case's name (`pause`), or HealthKit's constant if this version does not know it.
        public var type: String
        /// The start, in microseconds after the sample's start.
        public var start: Int64
        /// The end, equal to the start for an instantaneous event.
        public var end: Int64
        /// Other facts about the event.
        public var metadata: Metadata?

        /// An event with its parts.
        public init(type: String, start: Int64, end: Int64, metadata: Metadata? = nil) {
            (self.type, self.start, self.end, self.metadata) = (type, start, end, metadata)
        }
    }

    /// The source's statistics of one sample type over the workout (`HKStatistics`).
    public struct Statistics: Hashable, Sendable, Codable {
        /// The quantity type's id, or HealthKit's identifier if this version does not know it.
        public var type: String
        /// The sum, for cumulative types.
        public var sum: Amount?
        /// The average, for discrete types.
        public var average: Amount?
        /// The lowest value.
        public var minimum: Amount?
        /// The highest value.
        public var maximum: Amount?

        /// The statistics of a type.
        public init(
            type: String, sum: Amount? = nil, average: Amount? = nil, minimum: Amount? = nil, maximum: Amount? = nil
        ) {
            (self.type, self.sum, self.average, self.minimum, self.maximum) = (type, sum, average, minimum, maximum)
        }
    }

    /// One of the activities of a workout of several sports (`HKWorkoutActivity`).
    public struct Activity: Hashable, Sendable, Codable {
        /// HealthKit's UUID of the activity.
        public var uuid: String?
        /// The start, in microseconds after the sample's start.
        public var start: Int64
        /// The end, or `nil` if unknown.
        public var end: Int64?
        /// The duration without pauses.
        public var duration: Amount?
        /// The events during the activity.
        public var events: [Event]
        /// The source's statistics over the activity.
        public var statistics: [Statistics]
        /// Other facts about the activity.
        public var metadata: Metadata?

        /// An activity with its parts.
        public init(
            uuid: String?, start: Int64, end: Int64?, duration: Amount?, events: [Event] = [], statistics: [Statistics] = [],
            metadata: Metadata? = nil
        ) {
            (self.uuid, self.start, self.end, self.duration) = (uuid, start, end, duration)
            (self.events, self.statistics, self.metadata) = (events, statistics, metadata)
        }
    }

    /// The source's duration without pauses, or `nil` if it has none.
    public var duration: Amount?
    /// The total distance of any kind, from exports that predate statistics.
    public var totalDistance: Amount?
    /// The events in the received order.
    public var events: [Event]
    /// The activities in the received order.
    public var activities: [Activity]
    /// The statistics in the received order, with each type once.
    public var statistics: [Statistics]
    /// The UUIDs of its routes, in the received order.
    public var routes: [String]

    /// The source's distance: the total, or else the sum of its first statistics of a distance. Exports since iOS 16 have statistics only.
    public var distance: Amount? { Self.distance(totalDistance, statistics) }

    static func distance(_ total: Amount?, _ statistics: [Statistics]) -> Amount? {
        total ?? statistics.first { $0.type.hasPrefix("distance") && $0.sum != nil }?.sum
    }

    /// The duration in seconds without pauses: the source's, or else computed from start, end and pauses.
    public func seconds(from start: Instant, to end: Instant) -> Double {
        if let reported = duration?.value(in: Self.second) { return reported }
        let whole = end.microseconds &- start.microseconds
        return Double(pauses(within: whole).reduce(whole) { $0 - ($1.end - $1.start) }) / 1e6
    }

    /// The pauses, ordered and disjoint, in microseconds after its start.
    ///
    /// - Parameter whole: The duration including pauses.
    public func pauses(within whole: Int64) -> [(start: Int64, end: Int64)] {
        var (pauses, since): ([(start: Int64, end: Int64)], Int64?) = ([], nil)
        for event in events.sorted(by: { $0.start < $1.start }) {
            switch event.type {
            // A repeated pause counts once.
            case "pause": since = since ?? min(max(event.start, 0), whole)
            case "resume":
                if let begun = since { pauses.append((begun, min(max(event.start, begun), whole))) }
                since = nil
            default: break
            }
        }
        // A pause without a resume lasts to the end.
        if let since { pauses.append((since, whole)) }
        return pauses.filter { $0.start < $0.end }
    }

    /// The name of an event's type for HealthKit's constant (`pause` for `HKWorkoutEventTypePause`), or the constant itself if it is
    /// unknown.
    public static func eventName(of constant: String) -> String {
        let values = Catalogue.workoutEventValues
        return values.value(of: constant).flatMap(values.name) ?? constant
    }

    /// HealthKit's constant for an event's type (`HKWorkoutEventTypePause` for `pause`), or the name itself if it is unknown.
    public static func eventConstant(of name: String) -> String {
        let values = Catalogue.workoutEventValues
        return values.value(of: name).flatMap(values.constant) ?? name
    }

    /// The unit of durations.
    public static let second: Unit = {
        guard let second = try? Unit(ucum: "s") else { preconditionFailure("a second is a unit") }
        return second
    }()

    /// A workout with its parts.
    public init(
        duration: Amount? = nil, totalDistance: Amount? = nil, events: [Event] = [], activities: [Activity] = [],
        statistics: [Statistics] = [], routes: [String] = []
    ) {
        (self.duration, self.totalDistance, self.events) = (duration, totalDistance, events)
        (self.activities, self.statistics, self.routes) = (activities, statistics, routes)
    }
}

extension Workout: ObjectBody {
    public static var referenceRole: ReferenceRole { .part }
    public var references: [String] {
        get { routes }
        set { routes = newValue }
    }

    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        for event in events + activities.flatMap(\.events) {
            try InvalidObject.checkTimes([event.start, event.end], "body: events")
        }
        for activity in activities { try InvalidObject.checkTimes([activity.start, activity.end], "body: activities") }
        guard routes.allSatisfy({ SampleIdentity($0) != nil }) else {
            throw InvalidObject("body: routes", "one is not the UUID of a sample")
        }
    }
}
