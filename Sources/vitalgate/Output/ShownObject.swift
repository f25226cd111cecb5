import CommandLineKit
import Formats
import HealthModel
import SampleStore

extension SampleStore {
    /// The sample with a UUID, or a blood pressure derived from a frame. `nil` if there is neither.
    func shown(_ uuid: SampleIdentity) throws -> StoredSample? {
        if case .live(let stored) = try samples.lookup(uuid) { return stored }
        return try samples.derivedCorrelation(uuid)
    }
}

extension Sample {
    /// The display text of a sample that is not an amount: `asleepCore`, `running 29:02`, `2 samples`, the rings of a day, the name
    /// of a clinical record.
    var shown: String? {
        switch origin.kind {
        case .quantity: return nil
        case .category: return origin.type.caseName(of: value)
        case .correlation:
            let count = (try? body?.decoded(as: Correlation.self))?.objects.count ?? 0
            return "\(count) sample\(count == 1 ? "" : "s")"
        case .workout:
            guard let workout = try? body?.decoded(as: Workout.self) else { return origin.type.caseName(of: value) }
            return "\(origin.type.caseName(of: value) ?? "") \(Readable.clock(workout.seconds(from: start, to: end)))"
        case .activitySummary:
            guard let summary = try? body?.decoded(as: ActivitySummary.self) else { return nil }
            let rings = [
                ("move", summary.activeEnergyBurned ?? summary.moveTime, summary.activeEnergyBurnedGoal ?? summary.moveTimeGoal),
                ("exercise", summary.exerciseTime, summary.exerciseTimeGoal),
                ("stand", summary.standHours, summary.standHoursGoal),
            ]
            return rings.compactMap { name, reported, goal in
                reported.map {
                    "\(name) \(Readable.number($0.numeral.doubleValue))\(goal.map { "/\(Readable.number($0.numeral.doubleValue))" } ?? "")"
                }
            }.joined(separator: ", ")
        case .workoutRoute: return Self.points(try? body?.decoded(as: WorkoutRoute.self).points.count, "location")
        case .heartbeatSeries: return Self.points(try? body?.decoded(as: HeartbeatSeries.self).points.count, "beat")
        case .electrocardiogram, .visionPrescription: return origin.type.caseName(of: value)
        case .audiogram: return Self.points(try? body?.decoded(as: Audiogram.self).sensitivity.count, "frequency", "frequencies")
        case .stateOfMind:
            let labels = (try? body?.decoded(as: StateOfMind.self))?.labels ?? []
            return ([Readable.number(value)] + labels).joined(separator: " ")
        case .medicationDoseEvent:
            let name = (try? body?.decoded(as: MedicationDoseEvent.self))?.medication ?? ""
            return "\(name) \(origin.type.caseName(of: value) ?? "")"
        case .scoredAssessment:
            let risk = (try? body?.decoded(as: ScoredAssessment.self))?.risk
            return Readable.number(value) + (risk.map { " \($0)" } ?? "")
        case .clinicalRecord:
            guard let record = try? body?.decoded(as: ClinicalRecord.self) else { return nil }
            // The unit has its own column.
            let number = record.result?.quantity.map { ($0.comparator ?? "") + $0.value }
            return [record.displayName, number ?? record.result?.text].compactMap { $0 }.joined(separator: " ")
        case .document: return (try? body?.decoded(as: ClinicalDocument.self))?.title
        }
    }

    private static func points(_ count: Int?, _ one: String, _ several: String? = nil) -> String? {
        count.map { "\(Readable.count($0)) \($0 == 1 ? one : several ?? one + "s")" }
    }
}

extension Readable {
    /// A duration such as `29:02` or `1:04:30`.
    static func clock(_ seconds: Double) -> String {
        let whole = seconds.isFinite ? Int(min(max(seconds.rounded(), 0), 1e9)) : 0
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        let tail = "\(minutes < 10 && hours > 0 ? "0" : "")\(minutes):\(rest < 10 ? "0" : "")\(rest)"
        return hours > 0 ? "\(hours):\(tail)" : tail
    }
}
