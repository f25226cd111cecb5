import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// Glucose: the time in five ranges, and the usual day.
enum GlucoseDay {
    /// The limits in mg/dL of very low, low, in range, high, and very high.
    ///
    /// Source: Battelino et al., Diabetes Care 2019;42(8):1593-1603.
    private static let limits: [(low: Double, high: Double)] = [(0, 53), (54, 69), (70, 180), (181, 250), (251, 2000)]
    static let ranges: [ValueRange] = limits.compactMap { ValueRange($0.low, $0.high) }

    private static let names = ["glucose.veryLow", "glucose.low", "glucose.within", "glucose.high", "glucose.veryHigh"]
    private static let hour: Int64 = 3_600_000_000

    /// The shares of the ranges as one bar, with their names.
    static func bar(_ shares: [Double], _ call: PageCall) -> HTML {
        let whole = shares.reduce(0, +)
        guard shares.count == limits.count, whole > 0 else { return "" }
        func percent(_ share: Double) -> String { PageValues.text((share / whole * 100).rounded(), places: 0) + " %" }
        var place = 0.0
        let parts: [HTML] = shares.enumerated().map { index, share in
            defer { place += share / whole * 100 }
            return
                "<rect class=\"t\(index)\" x=\"\(Coordinate.hundredths(place))%\" width=\"\(Coordinate.hundredths(share / whole * 100))%\" height=\"100%\"/>"
        }
        let labels = zip(names, shares).map { (name: call.texts($0), share: percent($1)) }
        let keys: [HTML] = labels.enumerated().map { "<span class=\"key t\($0)\">\($1.name) <b>\($1.share)</b></span> " }
        return """
            <svg class="tir" role="img" aria-label="\(labels.map { "\($0.name) \($0.share)" }.joined(separator: ", "))">\(parts)</svg><p class="legend">\(keys)</p>
            """
    }

    /// The usual day of the last two weeks: by hour the median, the middle half, and the middle nine tenths. Empty unless readings cover
    /// 70 % of the time.
    static func html(_ reader: Reader, _ call: PageCall) throws -> HTML {
        let days = CalendarIntervals(.day, zone: call.zone)
        let today = days.index(of: call.now)
        let (from, to) = (days.start(of: today - 14), days.start(of: today))
        let query = SampleQuery(
            types: [.bloodGlucose], from: from, to: to, person: try call.person().person,
            where: try TrustedReadings(of: .bloodGlucose, call).condition())
        let cursor = try reader.store.samples.cursor(matching: query)
        defer { cursor.close() }
        var readings: [TodayFact.Reading] = []
        var hours = [[Double]](repeating: [], count: 24)
        while let sample = try cursor.next()?.sample {
            readings.append((sample.start, sample.value))
            let hour = (sample.start.microseconds - days.start(of: days.index(of: sample.start)).microseconds) / Self.hour
            hours[Int(min(max(hour, 0), 23))].append(sample.value)
        }
        guard Double(TodayFact.covered(readings, until: to)) >= 0.7 * Double(to.microseconds - from.microseconds),
            hours.allSatisfy({ $0.count > 4 })
        else { return "" }
        return drawing(hours.map { $0.sorted() }, call)
    }

    private static func drawing(_ hours: [[Double]], _ call: PageCall) -> HTML {
        let unit = call.values.unit(of: .bloodGlucose)
        guard let conversion = try? call.values.conversion(of: .bloodGlucose, to: unit) else { return "" }
        func quantile(_ share: Double) -> [Double] { hours.map { $0[Int(share * Double($0.count - 1))] } }
        let (outer, inner, middle) = ((quantile(0.05), quantile(0.95)), (quantile(0.25), quantile(0.75)), quantile(0.5))
        let (low, high) = (min(50, outer.0.min() ?? 50), max(200, outer.1.max() ?? 200))
        func y(_ value: Double) -> Double { 1000 - (value - low) / (high - low) * 1000 }
        func point(_ index: Int, _ value: Double) -> String {
            "\(Coordinate.tenths((Double(index) + 0.5) / 24 * 1000)) \(Coordinate.tenths(y(value)))"
        }
        func area(_ band: ([Double], [Double])) -> String {
            "M" + band.1.enumerated().map { point($0.offset, $0.element) }.joined(separator: "L") + "L"
                + band.0.enumerated().reversed().map { point($0.offset, $0.element) }.joined(separator: "L") + "Z"
        }
        let range = GlucoseInRange.range
        let names: [HTML] = [range.low, range.high].map {
            "<text x=\"100%\" y=\"\(Coordinate.tenths(y($0) / 10))%\" dy=\"-3\" text-anchor=\"end\">\(PageValues.text(conversion($0)))</text>"
        }
        let ticks: [HTML] = [0, 6, 12, 18].map {
            "<text x=\"\(Coordinate.hundredths(Double($0) / 24 * 100))%\" y=\"100%\" dy=\"16\">\($0 < 10 ? "0" : "")\($0):00</text>"
        }
        let (texts, symbol) = (call.texts, call.values.symbol(unit))
        let ends = [middle.min() ?? 0, middle.max() ?? 0].map { PageValues.text(conversion($0), in: unit) }
        return """
            <h2>\(texts("glucose.day"))</h2><div class="card"><p>\(texts("glucose.ends", ends[0], ends[1], symbol))</p><p class="note">\(texts("glucose.how"))</p>
            <svg class="profile" role="img" aria-label="\(texts("glucose.day"))">\
            <rect class="target" x="0" width="100%" y="\(Coordinate.tenths(y(range.high) / 10))%" height="\(Coordinate.tenths((y(range.low) - y(range.high)) / 10))%"/>\
            <svg viewBox="0 0 1000 1000" width="100%" height="100%" preserveAspectRatio="none" overflow="visible">\
            <path class="ar" d="\(area(outer))"/><path class="ar" d="\(area(inner))"/>\
            <path class="ln" d="M\(middle.enumerated().map { point($0.offset, $0.element) }.joined(separator: "L"))"/></svg>\(names)\(ticks)</svg></div>
            """
    }
}
