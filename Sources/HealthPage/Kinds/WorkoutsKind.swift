import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The workouts of the last four weeks in words, and the latest ones as a list.
enum WorkoutsKind {
    private static let (weeks, maximum) = (4, 12)
    private static let day: Int64 = 86_400_000_000
    private static let metre = SampleType("distanceWalkingRunning")?.canonicalUnit

    static func html(_ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let type = SampleType("workout") else { return "" }
        let days = CalendarIntervals(.day, zone: call.zone)
        let start = days.start(of: days.index(of: call.now) - weeks * 7 + 1)
        let query = SampleQuery(types: [type], person: try call.person().person, descending: true)
        let cursor = try reader.store.samples.cursor(matching: query)
        defer { cursor.close() }
        var rows: [HTML] = []
        var (count, seconds, metres) = (0, 0.0, 0.0)
        while let sample = try cursor.next()?.sample {
            let isRecent = sample.start >= start
            guard isRecent || rows.count < maximum else { break }
            guard let workout = try? sample.body?.decoded(as: Workout.self) else { continue }
            let (length, distance) = (
                workout.seconds(from: sample.start, to: sample.end), metre.flatMap { workout.distance?.value(in: $0) }
            )
            if isRecent { (count, seconds, metres) = (count + 1, seconds + length, metres + (distance ?? 0)) }
            guard rows.count < maximum else { continue }
            let name = try call.values.shown(sample, in: reader.store).value
            rows.append(row(sample, name, length, distance, call))
        }
        guard !rows.isEmpty else { return "" }
        let texts = call.texts
        let whole = SleepNight.text(Int64(seconds * 1e6), call.values)
        let period = [start, call.now].map { call.times.day($0) }.joined(separator: " – ")
        let far: HTML = metres < 100 ? "" : " · \(call.values.distance(metres))"
        let sum: HTML = """
            <div class="sum activity"><div><p class="num">\(count == 0 ? "–" : whole)</p>\
            <p class="note">\(texts(count == 0 ? "workouts.none" : "workouts.sum", period, "\(count)"))\(far)</p></div></div>
            """
        return "\(sum)<ul class=\"card rows\">\(rows)</ul>"
    }

    private static func row(_ sample: Sample, _ name: String, _ seconds: Double, _ metres: Double?, _ call: PageCall) -> HTML {
        let values = call.values
        let length = SleepNight.text(Int64(seconds * 1e6), values)
        let pace = metres.flatMap { $0 >= 100 && seconds > 0 ? values.pace(seconds: seconds, metres: $0) : nil }
        let facts = [metres.map { _ in length }, pace].compactMap { $0 }.map { " · " + $0 }.joined()
        return """
            <li class="activity">\(Icon.workout.html)<span class="grow"><a href="/page/sample/\(sample.identity.description)">\(name)</a>\
            <small class="s">\(call.times.element(sample.start))\(facts)</small></span>\
            <span class="val"><b>\(metres.map { values.distance($0) } ?? length)</b></span></li>

            """
    }
}
