import CommandLineKit
import HealthModel
import SampleStore

// A workout with its laps, activities and statistics.
extension ObjectPage {
    mutating func show(_ workout: Workout, of sample: Sample) throws {
        let seconds = workout.seconds(from: sample.start, to: sample.end)
        page.row(
            "duration", Readable.clock(seconds) + (workout.duration == nil ? ", without pauses" : ", as reported by the source"))
        page.row("distance", Self.text(workout.distance))
        try events(workout.events, of: sample)
        try activities(workout.activities, of: sample)
        statistics(try store.workoutStatistics(of: sample), workout.statistics)
        var routes: [[String]] = []
        for uuid in workout.routes.prefix(200) { routes.append([try self.sample(of: uuid, in: sample).text, uuid]) }
        page.table("routes", [.init("route"), .init("uuid", .left, minimumWidth: 36)], routes)
    }

    /// Writes events. Laps and segments are numbered, and a pause lasts until the workout resumes.
    private mutating func events(_ events: [Workout.Event], of sample: Sample, _ title: String = "events") throws {
        var counts: [String: Int] = [:]
        var rows: [[String]] = []
        let ordered = events.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
        for (index, event) in ordered.enumerated() {
            counts[event.type, default: 0] += 1
            var length = event.end &- event.start
            if event.type == "pause", length == 0 {
                let resumed = ordered[(index + 1)...].first { $0.type == "resume" }
                length = max(0, (resumed?.start ?? (sample.end.microseconds &- sample.start.microseconds)) &- event.start)
            }
            let isCounted = event.type == "lap" || event.type == "segment"
            rows.append([
                isCounted ? "\(event.type) \(counts[event.type] ?? 1)" : event.type, Readable.clock(Double(event.start) / 1e6),
                timeOfDay(event.start, of: sample), length > 0 ? Readable.clock(Double(length) / 1e6) : "",
            ])
        }
        page.table(title, [.init("event"), .init("after", .right), .init("at"), .init("duration", .right)], rows)
    }

    private mutating func activities(_ activities: [Workout.Activity], of sample: Sample) throws {
        let rows = activities.enumerated().map { index, activity in
            let reported = activity.duration?.value(in: Workout.second) ?? activity.end.map { Double($0 &- activity.start) / 1e6 }
            return [
                "\(index + 1)", timeOfDay(activity.start, of: sample), activity.end.map { timeOfDay($0, of: sample) } ?? "",
                reported.map { Readable.clock($0) } ?? "", "\(activity.events.count)",
            ]
        }
        page.table(
            "activities",
            [.init("n", .right), .init("from"), .init("to"), .init("duration", .right), .init("events", .right)], rows)
        for (index, activity) in activities.enumerated().prefix(20) {
            statistics("statistics of activity \(index + 1)", activity.statistics)
        }
    }

    /// The statistics of the whole workout: the source's own figures first, then those of the samples in the store. The store may hold
    /// only some of the workout's samples, so the two can differ.
    private mutating func statistics(_ list: [WorkoutStatistics], _ own: [Workout.Statistics]) {
        var rows: [[String]] = own.map { Self.cells($0) + ["the source"] }
        for statistics in list where statistics.from != .source {
            let figures = [statistics.sum, statistics.average, statistics.minimum, statistics.maximum]
            let cells: [String] = figures.map { $0.map { Readable.number($0) } ?? "" }
            rows.append(
                [statistics.type] + cells + [
                    statistics.unit.map { Readable.unit($0) } ?? "", Readable.count(statistics.count, "sample"),
                ])
        }
        page.table("statistics", Self.figureColumns + [.init("from")], rows)
    }

    /// The statistics of an activity, from the source.
    private mutating func statistics(_ title: String, _ list: [Workout.Statistics]) {
        page.table(title, Self.figureColumns, list.map(Self.cells))
    }

    /// The figures of the source, in the type's canonical unit if they can be converted.
    private static func cells(_ statistics: Workout.Statistics) -> [String] {
        let type = SampleType(statistics.type)
        let figures = [statistics.sum, statistics.average, statistics.minimum, statistics.maximum]
        var unit: HealthModel.Unit?
        let cells: [String] = figures.map { amount in
            guard let amount else { return "" }
            if let type, let own = amount.value(in: type.canonicalUnit, of: type) {
                unit = type.canonicalUnit
                return Readable.number(own)
            }
            unit = amount.unit
            return amount.numeral.text
        }
        return [statistics.type] + cells + [unit.map { Readable.unit($0) } ?? ""]
    }

    private static let figureColumns: [TextTable.Column] = [
        .init("type", .left, minimumWidth: 16), .init("sum", .decimal), .init("average", .decimal), .init("lowest", .decimal),
        .init("highest", .decimal), .init("unit"),
    ]

    /// A time of day in the page's zone, such as `07:31:00`.
    private func timeOfDay(_ offset: Int64, of sample: Sample) -> String {
        String(moment(offset, after: sample).dropFirst(11).prefix(8))
    }
}
