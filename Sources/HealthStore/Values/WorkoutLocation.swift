import HealthModel

/// One location of a workout's route, like `CLLocation`. Coordinates are in WGS 84. Unknown values are `nil`.
public struct WorkoutLocation: Hashable, Sendable {
    /// The time at this location.
    public var time: Instant?
    /// Degrees, positive to the north.
    public var latitude: Double
    /// Degrees, positive to the east.
    public var longitude: Double
    /// Metres above sea level.
    public var altitude: Double?
    /// Horizontal accuracy as a radius in metres.
    public var horizontalAccuracy: Double?
    /// Vertical accuracy in metres, up and down.
    public var verticalAccuracy: Double?
    /// Direction of travel in degrees from north, clockwise.
    public var course: Double?
    /// Speed in metres per second.
    public var speed: Double?

    /// Creates a location.
    public init(
        time: Instant?, latitude: Double, longitude: Double, altitude: Double? = nil, horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil, course: Double? = nil, speed: Double? = nil
    ) {
        (self.time, self.latitude, self.longitude, self.altitude) = (time, latitude, longitude, altitude)
        (self.horizontalAccuracy, self.verticalAccuracy) = (horizontalAccuracy, verticalAccuracy)
        (self.course, self.speed) = (course, speed)
    }

    /// Creates a location from a point with numbers by column name. Returns `nil` for a point without coordinates.
    init?(_ point: Point) {
        guard let latitude = point["latitude"], let longitude = point["longitude"] else { return nil }
        self.init(
            time: point.time, latitude: latitude, longitude: longitude, altitude: point["altitude"],
            horizontalAccuracy: point["horizontalAccuracy"], verticalAccuracy: point["verticalAccuracy"],
            course: point["course"], speed: point["speed"])
    }

    /// The numbers in the order of a route's columns.
    func numbers(after start: Instant) throws(NumeralError) -> [Numeral?] {
        let time = time.map { Numeral(coefficient: $0.microseconds &- start.microseconds) }
        var numbers: [Numeral?] = [time]
        for number in [latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed] {
            if let number { numbers.append(try Numeral(finite: number)) } else { numbers.append(nil) }
        }
        return numbers
    }
}

/// One heartbeat, as HealthKit's series query returns it.
public struct Heartbeat: Hashable, Sendable {
    /// The time of the beat.
    public var time: Instant
    /// Whether beats are missing before this one.
    public var isPrecededByGap: Bool
    /// The heart rate at this beat in beats per minute, as the source computed it, or `nil`.
    public var heartRate: Double?

    /// Creates a beat.
    public init(time: Instant, isPrecededByGap: Bool = false, heartRate: Double? = nil) {
        (self.time, self.isPrecededByGap, self.heartRate) = (time, isPrecededByGap, heartRate)
    }

    /// Creates a beat from a point. Returns `nil` for a point without a time.
    init?(_ point: Point) {
        guard let time = point.time else { return nil }
        self.init(time: time, isPrecededByGap: point["gap"] == 1, heartRate: point["heartRate"])
    }

    /// The numbers in the order of a series' columns.
    func numbers(after start: Instant) throws(NumeralError) -> [Numeral?] {
        var numbers: [Numeral?] = [
            Numeral(coefficient: time.microseconds &- start.microseconds), Numeral(coefficient: isPrecededByGap ? 1 : 0),
        ]
        if let heartRate { numbers.append(try Numeral(finite: heartRate)) } else { numbers.append(nil) }
        return numbers
    }
}

/// One moment of an electrocardiogram, like `HKElectrocardiogram.VoltageMeasurement`.
public struct VoltageMeasurement: Hashable, Sendable {
    /// Seconds after the recording's start, or `nil` if the sampling frequency is unknown.
    public var timeSinceStart: Double?
    /// Microvolts by lead. If there is only one lead, its name is `voltage`.
    public var microvolts: [String: Double]

    /// Creates the voltages of one moment.
    public init(timeSinceStart: Double?, microvolts: [String: Double]) {
        (self.timeSinceStart, self.microvolts) = (timeSinceStart, microvolts)
    }
}
