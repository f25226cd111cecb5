/// Where a workout went (`HKWorkoutRoute`): its locations are the points of its body.
public struct WorkoutRoute: Hashable, Sendable, Codable {
    /// The locations; each tells its time, latitude and longitude, and what else was told of it.
    public var points: Points
    /// The UUID of the workout that it belongs to.
    public var workout: String?
    /// What its file calls it.
    public var name: String?

    /// What a location tells (`CLLocation`), in the order and the units of HealthKit's exports; `time` in microseconds after the route's start.
    /// Degrees of latitude and longitude are those of WGS 84.
    public static let columns: [Points.Column] = [
        .init(Points.time), .init("latitude", unit: "deg"), .init("longitude", unit: "deg"), .init("altitude", unit: "m"),
        .init("horizontalAccuracy", unit: "m"), .init("verticalAccuracy", unit: "m"), .init("course", unit: "deg"),
        .init("speed", unit: "m/s"),
    ]

    /// A route of these locations.
    public init(points: Points, workout: String? = nil, name: String? = nil) {
        (self.points, self.workout, self.name) = (points, workout, name)
    }
}
