import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The course of a fever on the large card of Today: each reading of the last day, and a button to add the next one.
enum FeverDrawing {
    private static let minute = 60e6

    /// - Parameter latest: The latest reading.
    /// - Returns: `nil` for another type, without a fever, and for a single reading.
    static func html(_ latest: Sample, _ call: PageCall) -> HTML? {
        let type = latest.origin.type
        guard type.id == "bodyTemperature", latest.value >= TodayFact.fever, let points = try? points(of: latest, call),
            let first = points.first, points.count > 1
        else { return nil }
        let (values, unit) = (call.values, call.values.unit(of: type))
        let times = [first, points[points.count - 1]].map { Instant(microseconds: Int64($0.x * minute)) }
        var plot = LinePlot(
            label: "\(values.name(of: type)): " + times.map { call.times.text($0) }.joined(separator: " – "),
            lines: [.init(points: points, hasDots: true)],
            ticks: times.map { (Double($0.microseconds) / minute, call.times.clock($0)) })
        plot.units.y = values.symbol(unit)
        return """
            <div>\(plot.html)<p class="act"><a class="button" href="/page/add?type=\(type.id)">\(call.texts("entry.title"))</a></p></div>
            """
    }

    /// The readings of the day before the latest one, in minutes and in the unit of the page.
    private static func points(of latest: Sample, _ call: PageCall) throws -> [(x: Double, y: Double)] {
        let type = latest.origin.type
        let conversion = try call.values.conversion(of: type, to: call.values.unit(of: type))
        let query = SampleQuery(
            types: [type], from: Instant(microseconds: latest.start.microseconds - TodayFact.feverTime),
            to: Instant(microseconds: latest.start.microseconds + 1), person: latest.origin.person,
            where: try TrustedReadings(of: type, call).condition())
        let cursor = try call.reader().store.samples.cursor(matching: query)
        defer { cursor.close() }
        var points: [(x: Double, y: Double)] = []
        while let sample = try cursor.next()?.sample {
            points.append((Double(sample.start.microseconds) / minute, conversion(sample.value)))
        }
        return points
    }
}
