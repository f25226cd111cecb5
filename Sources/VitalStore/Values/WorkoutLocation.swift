import HealthModel

/// One place of a workout's route, as `CLLocation`. Degrees are those of WGS 84; what was not told is `nil`.
public struct WorkoutLocation: Hashable, Sendable {
    /// When it was passed.
    public var time: Instant?
    /// Degrees, positive to the north.
    public var latitude: Double
    /// Degrees, positive to the east.
    public var longitude: Double
    /// Metres above the sea.
    public var altitude: Double?
    /// Metres around the place.
    public var horizontalAccuracy: Double?
    /// Metres above and below.
    public var verticalAccuracy: Double?
    /// Degrees from north, clockwise.
    public var course: Double?
    /// Metres a second.
    public var speed: Double?

    /// A place, and when it was passed.
    public init(
        time: Instant?, latitude: Double, longitude: Double, altitude: Double? = nil, horizontalAccuracy: Double? = nil,
        verticalAccuracy: Double? = nil, course: Double? = nil, speed: Double? = nil
    ) {
        (self.time, self.latitude, self.longitude, self.altitude) = (time, latitude, longitude, altitude)
        (self.horizontalAccuracy, self.verticalAccuracy) = (horizontalAccuracy, verticalAccuracy)
        (self.course, self.speed) = (course, speed)
    }

    /// A point with numbers by the names of their columns; `nil` for one without a place.
    init?(_ point: Point) {
        guard let latitude = point["latitude"], let longitude = point["longitude"] else { return nil }
        self.init(
            time: point.time, latitude: latitude, longitude: longitude, altitude: point["altitude"],
            horizontalAccuracy: point["horizontalAccuracy"], verticalAccuracy: point["verticalAccuracy"],
            course: point["course"], speed: point["speed"])
    }

    /// In the order of the columns of a route.
    func numbers(after start: Instant) throws(NumeralError) -> [Numeral?] {
        let time = time.map { Numeral(coefficient: $0.microseconds &- start.microseconds) }
        var numbers: [Numeral?] = [time]
        for number in [latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed] {
            if let number { numbers.append(try Numeral(finite: number)) } else { numbers.append(nil) }
        }
        return numbers
    }
}

/// One beat of a heart, as the series query of HealthKit tells it.
public struct Heartbeat: Hashable, Sendable {
    /// When it was.
    public var time: Instant
    /// Whether beats are missing before it.
    public var isPrecededByGap: Bool
    /// A minute, as the source reckons it there; `nil` where it does not.
    public var heartRate: Double?

    /// A beat.
    public init(time: Instant, isPrecededByGap: Bool = false, heartRate: Double? = nil) {
        (self.time, self.isPrecededByGap, self.heartRate) = (time, isPrecededByGap, heartRate)
    }

    /// `nil` for a point without a time.
    init?(_ point: Point) {
        guard let time = point.time else { return nil }
        self.init(time: time, isPrecededByGap: point["gap"] == 1, heartRate: point["heartRate"])
    }

    /// In the order of the columns of a series.
    func numbers(after start: Instant) throws(NumeralError) -> [Numeral?] {
        var numbers: [Numeral?] = [
            Numeral(coefficient: time.microseconds &- start.microseconds), Numeral(coefficient: isPrecededByGap ? 1 : 0),
        ]
        if let heartRate { numbers.append(try Numeral(finite: heartRate)) } else { numbers.append(nil) }
        return numbers
    }
}

/// One moment of an electrocardiogram, as `HKElectrocardiogram.VoltageMeasurement`.
public struct VoltageMeasurement: Hashable, Sendable {
    /// Seconds after the recording's start; `nil` where the recording does not tell its frequency.
    public var timeSinceStart: Double?
    /// Microvolts by lead; the lead of a recording that has one alone is `voltage`.
    public var microvolts: [String: Double]

    /// A moment's voltages.
    public init(timeSinceStart: Double?, microvolts: [String: Double]) {
        (self.timeSinceStart, self.microvolts) = (timeSinceStart, microvolts)
    }
}
