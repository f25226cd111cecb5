import Formats
import HealthModel

/// What a kind of sample that is no quantity is in Home Assistant. Of all of them two have a use there: whether somebody is asleep, for lights and heating;
/// and the last workout.
enum ObjectKind: String {
    /// A binary sensor: on while the last stage that was told is one of sleep, and for a quarter of an hour behind its end, since sources tell a night in
    /// stretches; off once it is over, or a stage of being awake follows. Being in bed says nothing of it.
    case asleep
    /// A sensor whose state is the activity.
    case lastWorkout

    /// So long behind a stage's end somebody is still taken to be asleep.
    static let stretch: Int64 = 900 * 1_000_000

    init?(_ type: SampleType) {
        switch type.id {
        case "sleepAnalysis": self = .asleep
        case "workout": self = .lastWorkout
        default: return nil
        }
    }

    var platform: String { self == .asleep ? "binary_sensor" : "sensor" }
    var name: String { self == .asleep ? "Asleep" : "Last workout" }
    var icon: String { self == .asleep ? "mdi:sleep" : "mdi:run" }
    /// A night that was long ago says nothing of now; the last workout stays the last.
    var becomesStale: Bool { self == .asleep }

    /// What is told beside the state: with the names of Home Assistant's attributes.
    var attributes: [String] {
        self == .asleep ? ["stage", "start", "end", "uuid"] : ["start", "end", "duration", "distance", "energy", "uuid"]
    }

    /// Whether a stage is one of sleep.
    private static func isAsleep(_ stage: String?) -> Bool { stage?.hasPrefix("asleep") == true }

    /// The state's octets, and when it changes by itself.
    func state(of sample: Sample, now: Instant) -> (octets: [UInt8], change: Instant?) {
        var object = JSONObject()
        var change: Instant?
        let name = sample.origin.type.caseName(of: sample.value)
        switch self {
        case .asleep:
            let end = Instant(microseconds: sample.end.microseconds &+ Self.stretch)
            let isOn = Self.isAsleep(name) && now < end && sample.start <= now
            if Self.isAsleep(name), now < end { change = sample.start <= now ? end : sample.start }
            object.set("value", isOn ? "ON" : "OFF")
            object.set("stage", name)
        case .lastWorkout:
            object.set("value", name ?? sample.numeral.text)
            let workout = try? sample.body?.decoded(as: Workout.self)
            object.set("duration", workout?.seconds(from: sample.start, to: sample.end))
            object.set("distance", workout.flatMap { Self.distance(of: $0) })
            object.set("energy", workout.flatMap { Self.sum("activeEnergyBurned", in: "kcal", of: $0) })
        }
        object.set("start", sample.start.description)
        object.set("end", sample.end.description)
        object.set("uuid", sample.identity.description)
        object.set("source", sample.origin.source.id)
        return (object.closed, change)
    }

    /// In metres: the total, else that of the first kind of distance.
    private static func distance(of workout: Workout) -> Double? {
        guard let metre = try? Unit(ucum: "m") else { return nil }
        if let total = workout.totalDistance?.value(in: metre) { return total }
        let told = workout.statistics.first { $0.type.hasPrefix("distance") && $0.sum != nil }
        return told?.sum?.value(in: metre)
    }

    private static func sum(_ type: String, in code: String, of workout: Workout) -> Double? {
        guard let unit = try? Unit(ucum: code) else { return nil }
        return workout.statistics.first { $0.type == type }?.sum?.value(in: unit)
    }
}
