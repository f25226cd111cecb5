import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// Glucose: the time in five ranges, and the usual day.
enum GlucoseDay {
    private static let names = ["glucose.veryLow", "glucose.low", "glucose.within", "glucose.high", "glucose.veryHigh"]

    /// A share of the time in percent. One that rounds to nothing or to all of it is written as a limit.
    static func percent(_ share: Double, _ texts: PageTexts) -> String {
        if share > 0, share < 0.005 { return texts("glucose.under") }
        if share < 1, share >= 0.995 { return texts("glucose.over") }
        return PageValues.text((share * 100).rounded(), places: 0) + " %"
    }

    /// The shares of the time in each range as one bar, with their names. Empty if readings cover too little of the time.
    static func bar(_ window: ChartWindow, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let (end, texts) = (min(window.end, call.now), call.texts)
        let readings = try GlucoseTimes.readings(
            of: call.person().person, from: window.start, to: end, in: reader.store,
            where: TrustedReadings(of: .bloodGlucose, call).condition())
        guard let times = GlucoseTimes(readings, from: window.start, until: end) else { return "" }
        var place = 0.0
        let parts: [HTML] = times.shares.enumerated().map { index, share in
            defer { place += share * 100 }
            return
                "<rect class=\"t\(index)\" x=\"\(Coordinate.hundredths(place))%\" width=\"\(Coordinate.hundredths(share * 100))%\" height=\"100%\"/>"
        }
        let labels = zip(names, times.shares).map { (name: texts($0), share: percent($1, texts)) }
        let keys: [HTML] = labels.enumerated().map { "<span class=\"key t\($0)\">\($1.name) <b>\($1.share)</b></span> " }
        return """
            <svg class="tir" role="img" aria-label="\(labels.map { "\($0.name) \($0.share)" }.joined(separator: ", "))">\(parts)</svg><p class="legend">\(keys)</p>\
            <p class="note">\(texts("glucose.covered", percent(times.coverage, texts)))</p>
            """
    }

    /// The usual day of the last two weeks: by hour the median, the middle half, and the middle nine tenths. Empty unless readings cover
    /// most of the time.
    static func html(_ reader: Reader, _ call: PageCall) throws -> HTML {
        let days = CalendarIntervals(.day, zone: call.zone)
        let today = days.index(of: call.now)
        let (from, to) = (days.start(of: today - 14), days.start(of: today))
        let readings = try GlucoseTimes.readings(
            of: call.person().person, from: from, to: to, in: reader.store,
            where: TrustedReadings(of: .bloodGlucose, call).condition())
        var hours = [[Double]](repeating: [], count: 24)
        for reading in readings { hours[min(max(call.times.hour(of: reading.time), 0), 23)].append(reading.value) }
        guard GlucoseTimes(readings, from: from, until: to) != nil, hours.allSatisfy({ $0.count > 4 }) else { return "" }
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
        let range = GlucoseTimes.range
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
