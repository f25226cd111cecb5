/// The path of a workout (`HKWorkoutRoute`). The locations are the points of its body.
public struct WorkoutRoute: Hashable, Sendable, Codable {
    /// The locations, each with time, latitude, longitude and any other received values.
    public var points: Points
    /// The UUID of the workout that it belongs to.
    public var workout: String?
    /// The name in its file.
    public var name: String?

    /// The columns of a location (`CLLocation`), in the order and the units of HealthKit's exports. `time` is in microseconds after the
    /// route's start. Latitude and longitude are in degrees of WGS 84.
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

extension WorkoutRoute: ObjectBody {
    public static var referenceRole: ReferenceRole { .whole }
    public var references: [String] {
        get { [workout].compactMap { $0 } }
        set { workout = newValue.first }
    }
    public var packedPoints: Points? { points }

    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        guard workout.map({ SampleIdentity($0) != nil }) ?? true else {
            throw InvalidObject("body: workout", "it is not the UUID of a sample")
        }
    }
}
