import Formats
import HealthModel

/// The Home Assistant entity for a kind of sample that is not a quantity. Two are useful there: whether the person is asleep, for
/// lights and heating, and the last workout.
enum ObjectKind: String {
    /// A binary sensor. It is on while the last stage is one of sleep, and for 15 minutes after its end because sources report a
    /// night in parts. It is off after that or when the person is awake. Being in bed has no effect.
    case asleep
    /// A sensor whose state is the activity.
    case lastWorkout

    /// How long after the end of a stage the person still counts as asleep, in microseconds.
    static let interval: Int64 = 900 * 1_000_000

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
    /// Whether an old sample is not shown as the present state, such as a night long ago. The last workout stays valid.
    var becomesStale: Bool { self == .asleep }

    /// The names of the Home Assistant attributes beside the state.
    var attributes: [String] {
        self == .asleep ? ["stage", "start", "end", "uuid"] : ["start", "end", "duration", "distance", "energy", "uuid"]
    }

    private static func isAsleep(_ stage: String?) -> Bool { stage?.hasPrefix("asleep") == true }

    /// Returns the bytes of the state, and when it changes without a new sample.
    func state(of sample: Sample, now: Instant) -> (bytes: [UInt8], change: Instant?) {
        var object = JSONObject()
        var change: Instant?
        let name = sample.origin.type.caseName(of: sample.value)
        switch self {
        case .asleep:
            let end = Instant(microseconds: sample.end.microseconds &+ Self.interval)
            let isOn = Self.isAsleep(name) && now < end && sample.start <= now
            if Self.isAsleep(name), now < end { change = sample.start <= now ? end : sample.start }
            object.set(["value": isOn ? "ON" : "OFF", "stage": name])
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

    /// Returns the distance in metres.
    private static func distance(of workout: Workout) -> Double? {
        guard let metre = try? Unit(ucum: "m") else { return nil }
        return workout.distance?.value(in: metre)
    }

    private static func sum(_ type: String, in code: String, of workout: Workout) -> Double? {
        guard let unit = try? Unit(ucum: code) else { return nil }
        return workout.statistics.first { $0.type == type }?.sum?.value(in: unit)
    }
}
