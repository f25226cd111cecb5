import HealthModel
import Pipeline

// Elements with more content than a number.
extension AppleHealthText {
    func workout(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) throws -> WriteOutcome {
        let sample = stored.sample
        guard let activity = Int(exactly: sample.value).flatMap({ sample.origin.type.categoryValues?.constant(of: $0) }),
            let workout = try? sample.body?.decoded(as: Workout.self)
        else { return Self.unreadable }
        Self.open("Workout", 1, &bytes) { bytes in
            Self.set("workoutActivityType", activity, &bytes)
            Self.set("duration", workout.duration, unit: "durationUnit", &bytes)
            Self.set("totalDistance", workout.totalDistance, unit: "totalDistanceUnit", &bytes)
            self.header(of: sample, to: &bytes)
        }
        metadata(of: stored, indent: 2, to: &bytes)
        for event in workout.events { Self.append(event, of: sample, 2, &bytes) }
        for activity in workout.activities { Self.append(activity, of: sample, &bytes) }
        for statistics in workout.statistics {
            Self.append(statistics, from: sample.start, to: sample.end, of: sample, 2, &bytes)
        }
        for route in workout.routes {
            guard let identity = SampleIdentity(route) else { continue }
            try self.route(identity, of: sample, to: &bytes, spill: spill)
        }
        Self.close("Workout", 1, &bytes)
        return .written
    }

    func summary(_ sample: Sample, to bytes: inout [UInt8]) -> WriteOutcome {
        guard let summary = try? sample.body?.decoded(as: ActivitySummary.self) else { return Self.unreadable }
        Self.element("ActivitySummary", 1, &bytes) { bytes in
            Self.set("dateComponents", summary.date, &bytes)
            // Both values share one unit.
            let energy = summary.activeEnergyBurned?.unit ?? summary.activeEnergyBurnedGoal?.unit
            for (name, amount, unit) in [
                ("activeEnergyBurned", summary.activeEnergyBurned, energy),
                ("activeEnergyBurnedGoal", summary.activeEnergyBurnedGoal, energy),
            ] {
                if let amount { Self.set(name, Self.text(amount, in: unit), &bytes) }
            }
            if let unit = energy?.healthKitString { Self.set("activeEnergyBurnedUnit", unit, &bytes) }
            for (name, amount) in [
                ("appleMoveTime", summary.moveTime), ("appleMoveTimeGoal", summary.moveTimeGoal),
                ("appleExerciseTime", summary.exerciseTime), ("appleExerciseTimeGoal", summary.exerciseTimeGoal),
                ("appleStandHours", summary.standHours), ("appleStandHoursGoal", summary.standHoursGoal),
            ] {
                if let amount { Self.set(name, amount.numeral.text, &bytes) }
            }
        }
        return .written
    }

    private static func append(_ event: Workout.Event, of sample: Sample, _ indent: Int, _ bytes: inout [UInt8]) {
        element("WorkoutEvent", indent, &bytes) { bytes in
            set("type", Workout.eventConstant(of: event.type), &bytes)
            set("date", time(event.start, of: sample), &bytes)
            if event.end > event.start {
                set("duration", (Double(event.end - event.start) / 60e6).description, &bytes)
                set("durationUnit", "min", &bytes)
            }
        } content: { bytes in
            append(event.metadata, indent + 1, &bytes)
        }
    }

    private static func append(_ activity: Workout.Activity, of sample: Sample, _ bytes: inout [UInt8]) {
        element("WorkoutActivity", 2, &bytes) { bytes in
            if let uuid = activity.uuid { set("uuid", uuid, &bytes) }
            set("startDate", time(activity.start, of: sample), &bytes)
            if let end = activity.end { set("endDate", time(end, of: sample), &bytes) }
            set("duration", activity.duration, unit: "durationUnit", &bytes)
        } content: { bytes in
            append(activity.metadata, 3, &bytes)
            for event in activity.events { append(event, of: sample, 3, &bytes) }
            let start = Instant(microseconds: sample.start.microseconds &+ activity.start)
            let end = activity.end.map { Instant(microseconds: sample.start.microseconds &+ $0) } ?? sample.end
            for statistics in activity.statistics { append(statistics, from: start, to: end, of: sample, 3, &bytes) }
        }
    }

    private static func append(
        _ statistics: Workout.Statistics, from start: Instant, to end: Instant, of sample: Sample, _ indent: Int,
        _ bytes: inout [UInt8]
    ) {
        let amounts = [
            ("average", statistics.average), ("minimum", statistics.minimum), ("maximum", statistics.maximum),
            ("sum", statistics.sum),
        ]
        let unit = amounts.lazy.compactMap { $0.1?.unit }.first
        element("WorkoutStatistics", indent, &bytes) { bytes in
            set("type", SampleType(statistics.type)?.healthKitIdentifier ?? statistics.type, &bytes)
            set("startDate", time(start, sample.zone ?? .utc), &bytes)
            set("endDate", time(end, sample.zone ?? .utc), &bytes)
            for (name, amount) in amounts {
                if let amount { set(name, text(amount, in: unit), &bytes) }
            }
            if let unit = unit?.healthKitString { set("unit", unit, &bytes) }
        }
    }

    private static func time(_ offset: Int64, of sample: Sample) -> String {
        time(Instant(microseconds: sample.start.microseconds &+ offset), sample.zone ?? .utc)
    }

    private static func set(_ name: String, _ amount: Amount?, unit: String, _ bytes: inout [UInt8]) {
        guard let amount else { return }
        set(name, amount.numeral.text, &bytes)
        if let word = amount.unit?.healthKitString { set(unit, word, &bytes) }
    }

    /// Returns the original digits if the amount has this unit, or else the converted value.
    private static func text(_ amount: Amount, in unit: Unit?) -> String {
        guard let unit, amount.unit != unit, let value = amount.value(in: unit) else { return amount.numeral.text }
        return value.description
    }
}
