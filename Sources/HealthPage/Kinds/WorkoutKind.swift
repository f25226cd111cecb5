import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// A workout: its figures, map, pace, heart rate, elevation, and laps.
enum WorkoutKind {
    static func html(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let priority = call.core.settings.priority
        guard let workout = try WorkoutReading(sample, in: reader.store, zone: call.zone, priority: priority) else { return "" }
        let (texts, values) = (call.texts, call.values)
        let path = workout.distance ?? workout.tracks.map(\.length).reduce(nil) { ($0 ?? 0) + $1 }
        var facts: [(term: String, value: String, note: String)] = []
        if let path {
            facts.append(
                (texts("workout.distance"), values.distance(path), workout.distance == nil ? texts("workout.ofRoute") : ""))
        }
        facts.append(
            (
                texts("workout.duration"), values.clock(workout.seconds),
                workout.isDurationReported ? "" : texts("workout.withoutPauses")
            ))
        if let path, path >= 100, workout.seconds > 0 {
            facts.append((texts("workout.pace"), values.pace(seconds: workout.seconds, metres: path), ""))
        }
        if let pulse = averagePulse(workout, values) { facts.append((texts("workout.pulse"), pulse + " /min", "")) }
        let tiles: [HTML] = facts.map { fact in
            """
            <div><dt>\(fact.term)</dt><dd class="num">\(fact.value)\(HTML.choose(!fact.note.isEmpty, " <small>\(fact.note)</small>"))</dd></div>
            """
        }
        return """
            <dl class="tiles card">\(tiles)</dl>
            \(HTML.choose(!workout.tracks.isEmpty, "<h2>\(texts("workout.route"))</h2>\(RouteDrawing(tracks: workout.tracks, pulse: workout.heartRate).html(call))"))
            \(plots(workout, from: sample.start.microseconds, call))
            \(laps(workout, from: sample.start.microseconds, call))
            \(splits(workout, call))
            \(figures(workout, call))
            """
    }

    /// The average pulse per minute, as the source reported it if it did.
    private static func averagePulse(_ workout: WorkoutReading, _ values: PageValues) -> String? {
        let beats = workout.heartRate.map(\.middle)
        guard !beats.isEmpty else { return nil }
        let reported = workout.figures.first { $0.type == .heartRate }?.average.map { values.amount($0, of: .heartRate).value }
        return reported ?? PageValues.text(beats.reduce(0, +) / Double(beats.count), places: 0)
    }

    private static func plots(_ workout: WorkoutReading, from start: Int64, _ call: PageCall) -> HTML {
        let (texts, values) = (call.texts, call.values)
        func minutes(_ time: Int64) -> Double { Double(time - start) / 60e6 }
        var drawings: [HTML] = []
        func add(
            _ key: String, _ family: HealthGroup, _ points: [(x: Double, y: Double)], in unit: String,
            _ summary: (Double, Double) -> (value: (text: String, unit: String), note: String)
        ) {
            guard points.count > 1, let last = points.last?.x, let low = points.map(\.y).min(),
                let high = points.map(\.y).max()
            else { return }
            let ticks = LinePlot.levels(0, max(last, 0.1)).map { ($0, texts("workout.minute", PageValues.text($0))) }
            var plot = LinePlot(label: texts(key), lines: [.init(points: points)], ticks: ticks)
            plot.units.y = unit
            let (value, note) = summary(low, high)
            drawings.append("<h2>\(texts(key))</h2>\(plot.card(family, note: note, value: value))")
        }
        func whole(_ value: Double) -> String { PageValues.text(value, places: 0) }
        let length = values.clock(workout.seconds)
        add("workout.heartRate", .heart, workout.heartRate.map { (minutes($0.start * 1000), $0.middle) }, in: "/min") {
            low, high in
            // A point is the average of its interval.
            let ends = (
                workout.heartRate.map(\.low).min() ?? low, workout.heartRate.map(\.high).max() ?? high
            )
            return (
                (averagePulse(workout, values) ?? whole(low), texts("sum.average", "/min")),
                texts("workout.range", length, whole(ends.0), whole(ends.1))
            )
        }
        for track in workout.tracks.prefix(1) {
            let heights = track.locations.compactMap { location in location.altitude.map { (minutes(location.time), $0) } }
            add("workout.elevation", .activity, heights, in: "m") { low, high in
                (("\(whole(low))–\(whole(high))", "m"), texts("workout.heights", length))
            }
        }
        return "\(drawings)"
    }

    private static func laps(_ workout: WorkoutReading, from start: Int64, _ call: PageCall) -> HTML {
        let (texts, values) = (call.texts, call.values)
        let rows: [[HTML]] = workout.laps.enumerated().map { index, lap in
            let seconds = Double(lap.end - lap.start) / 1e6
            return [
                "\(index + 1)", KindPage.cell(values.clock(Double(lap.start - start) / 1e6)),
                KindPage.cell(values.clock(seconds)),
                KindPage.cell(lap.distance.map { values.distance($0) } ?? "–"),
                KindPage.cell(lap.distance.flatMap { $0 >= 10 ? values.pace(seconds: seconds, metres: $0) : nil } ?? "–"),
                KindPage.cell(lap.heartRate.map { PageValues.text($0, places: 0) + " /min" } ?? "–"),
            ]
        }
        let heads = ["workout.lap", "workout.after", "workout.duration", "workout.distance", "workout.pace", "workout.heartRate"]
        let table = KindPage.table("laps", texts("workout.lapsOf"), heads.map { texts($0) }, rows)
        return rows.isEmpty ? "" : "<h2>\(texts("workout.laps"))</h2>\(table)"
    }

    private static func splits(_ workout: WorkoutReading, _ call: PageCall) -> HTML {
        let (texts, values) = (call.texts, call.values)
        let length = values.usesMiles ? PageValues.mile : 1000
        let rows: [[HTML]] = workout.splits(every: length).enumerated().map { index, split in
            [
                "\(index + 1)", KindPage.cell(values.distance(split.metres)), KindPage.cell(values.clock(split.seconds)),
                KindPage.cell(values.pace(seconds: split.seconds, metres: split.metres)),
            ]
        }
        let heads = ["workout.part", "workout.distance", "workout.duration", "workout.pace"].map { texts($0) }
        return rows.isEmpty
            ? "" : "<h2>\(texts("workout.splits"))</h2>\(KindPage.table("splits", texts("workout.splitsOf"), heads, rows))"
    }

    private static func figures(_ workout: WorkoutReading, _ call: PageCall) -> HTML {
        let (texts, values) = (call.texts, call.values)
        let rows: [[HTML]] = workout.figures.compactMap { figure in
            guard let type = figure.type else { return nil }
            func cell(_ value: Double?) -> HTML { KindPage.cell(value.map { values.amount($0, of: type).value } ?? "–") }
            let from = figure.count.map { texts("workout.computed", PageValues.grouped(Int64($0))) } ?? texts("workout.told")
            return [
                KindPage.cell(values.name(of: type)), cell(figure.sum), cell(figure.average), cell(figure.lowest),
                cell(figure.highest),
                KindPage.cell(values.symbol(values.unit(of: type))), KindPage.cell(from),
            ]
        }
        let heads = [
            "workout.type", "figure.sum", "figure.average", "figure.lowest", "figure.highest", "chart.unit", "workout.from",
        ].map { texts($0) }
        return rows.isEmpty
            ? "" : KindPage.more(texts("workout.figures"), KindPage.table("figures", texts("workout.figuresOf"), heads, rows))
    }
}
