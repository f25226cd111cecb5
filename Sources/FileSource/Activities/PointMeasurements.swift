import HealthModel
import Pipeline

/// The measurements of an activity's or track's points except positions, at the time of each point. Heart rate is always stored. Cadence,
/// power and speed are stored if HealthKit has a type for them in this sport.
struct PointMeasurements {
    struct Kind {
        var column: Int
        /// The name in error messages.
        var name: StaticString
        /// The name under which it is counted if it is not stored.
        var part: String
        /// `nil` if HealthKit has no type for it.
        var origin: Origin?
        var unit: Unit
    }

    /// The columns of the numbers in a format, and the format's names for them.
    struct Columns {
        var heartRate: (column: Int, part: String)
        var cadence: (column: Int, part: String)
        var power: (column: Int, part: String)
        var speed: (column: Int, part: String)

        static let tcx = Self(
            heartRate: (ActivityRow.Point.heartRate, "HeartRateBpm"), cadence: (ActivityRow.Point.cadence, "Cadence"),
            power: (ActivityRow.Point.power, "Watts"), speed: (ActivityRow.Point.speed, "Speed"))
        static let fit = Self(
            heartRate: (ActivityRow.Point.heartRate, "record.heart_rate"),
            cadence: (ActivityRow.Point.cadence, "record.cadence"), power: (ActivityRow.Point.power, "record.power"),
            speed: (ActivityRow.Point.speed, "record.speed"))
        static let gpx = Self(
            heartRate: (GPXRow.heartRate, "hr"), cadence: (GPXRow.cadence, "cad"), power: (GPXRow.power, "power"),
            speed: (GPXRow.speed, "speed"))
    }

    let kinds: [Kind]
    /// The column of the speed. Speed is also stored with the position of a point.
    private let speed: Int

    /// - Parameters:
    ///   - sport: `nil` if the sport is unknown.
    ///   - origin: returns the origin of a type's samples, or `nil` if they are not stored.
    init(_ columns: Columns, of sport: ActivitySport?, origin: (SampleType) -> Origin?) {
        let all: [((column: Int, part: String), StaticString, SampleType?, Unit?)] = [
            (columns.heartRate, "heart rate", SampleType("heartRate"), ActivityFigures.beatsPerMinute),
            (columns.cadence, "cadence", sport?.cadence, ActivityFigures.beatsPerMinute),
            (columns.power, "power", sport?.power, Self.watt),
            (columns.speed, "speed", sport?.speed, Self.metrePerSecond),
        ]
        var kinds: [Kind] = []
        for (reported, name, type, unit) in all {
            guard let unit else { continue }
            kinds.append(
                Kind(column: reported.column, name: name, part: reported.part, origin: type.flatMap(origin), unit: unit))
        }
        self.kinds = kinds
        speed = columns.speed.column
    }

    private static let watt = try? Unit(ucum: "W")
    private static let metrePerSecond = try? Unit(ucum: "m/s")

    /// Appends the samples of a point. An invalid number is rejected alone. A number for which HealthKit has no type is counted.
    ///
    /// - Parameters:
    ///   - first: the index of the point's column 0.
    ///   - time: `nil` if the point has none.
    ///   - isPlaced: whether the point's position, and with it its speed, is stored.
    func read(
        _ cells: [UnsafeRawBufferPointer], from first: Int = 0, at time: Instant?, offset: ZoneOffset?, isPlaced: Bool,
        place: Place, into readings: inout [Reading], names: inout SkipNames, leftOut: inout LeftOut
    ) {
        for kind in kinds where first + kind.column < cells.count {
            let text = cells[first + kind.column]
            guard !text.isEmpty, !text.isText("NaN") else { continue }
            guard let origin = kind.origin else {
                if kind.column == speed, isPlaced { continue }
                leftOut.skipped[names.kind(kind.part), default: 0] += 1
                continue
            }
            guard let numeral = try? Numeral(parsing: text), numeral.doubleValue.magnitude <= 1e9 else {
                leftOut.refusals.append(Refusal("the \(kind.name) is not a possible number", at: place))
                continue
            }
            guard let time else {
                leftOut.refusals.append(Refusal("the \(kind.name) has no time", at: place))
                continue
            }
            readings.append(
                Reading(
                    origin: origin, numeral: numeral, unit: kind.unit, time: .instants(start: time, end: time, offset: offset),
                    place: place))
        }
    }
}
