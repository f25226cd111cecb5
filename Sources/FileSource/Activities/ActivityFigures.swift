import HealthModel
import Pipeline

/// The totals and averages of a lap or of a whole activity.
struct ActivityFigures {
    /// The time from start to end in microseconds, including pauses.
    var elapsed: Int64?
    /// The time in microseconds without pauses.
    var length: Int64?
    var timer: Numeral?
    var distance: Numeral?
    var energy: Numeral?
    var averageHeartRate: Numeral?
    var maximumHeartRate: Numeral?
    var minimumHeartRate: Numeral?

    init(_ texts: ActivityTexts) throws(Refusal) {
        typealias Column = ActivityRow.Figures
        elapsed = try texts.length(Column.elapsed, "elapsed time")
        length = try texts.length(Column.timer, "timer's time")
        timer = try texts.number(Column.timer, "timer's time")
        distance = try texts.number(Column.distance, "distance")
        energy = try texts.number(Column.energy, "energy")
        averageHeartRate = try texts.number(Column.averageHeartRate, "average heart rate")
        maximumHeartRate = try texts.number(Column.maximumHeartRate, "highest heart rate")
        minimumHeartRate = try texts.number(Column.minimumHeartRate, "lowest heart rate")
    }

    var metadata: Metadata? {
        let reported: [(String, Numeral?, Unit?)] = [
            ("duration", timer, Workout.second), ("distance", distance, Self.metre), ("energy", energy, Self.kilocalorie),
            ("averageHeartRate", averageHeartRate, Self.beatsPerMinute),
            ("maximumHeartRate", maximumHeartRate, Self.beatsPerMinute),
            ("minimumHeartRate", minimumHeartRate, Self.beatsPerMinute),
        ]
        var entries: [(String, MetadataValue)] = []
        for case (let key, let numeral?, let unit?) in reported { entries.append((key, .quantity(numeral, unit))) }
        return entries.isEmpty ? nil : Metadata(entries)
    }

    /// The sum of the numbers, or `nil` if one of them is missing.
    static func sum(_ numerals: [Numeral?]) -> Numeral? {
        guard !numerals.isEmpty, !numerals.contains(nil) else { return nil }
        if numerals.count == 1 { return numerals[0] }
        let sum = numerals.reduce(0) { $0 + ($1?.doubleValue ?? 0) }
        // Rounds to nanometers. The sum of doubles has digits that the file does not contain.
        return Numeral(shortest: (sum * 1e9).rounded() / 1e9)
    }

    static let metre = try? Unit(ucum: "m")
    static let kilocalorie = try? Unit(ucum: "kcal")
    static let beatsPerMinute = try? Unit(ucum: "/min")
}
