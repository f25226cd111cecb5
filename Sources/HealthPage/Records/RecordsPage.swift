import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The page of health records: the laboratory values with range, trend, and date of the sample, and the other kinds of records.
enum RecordsPage {
    static let routes = [PageRoute(method: "GET", path: "records", isSlow: true, answer: page)]

    /// The results of one measurement by time, with the latest record.
    private struct Measurement {
        var results: [LabResult]
        var latest: String
    }

    private static let maximumResults = 2000

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let (texts, reader) = (call.texts, try call.reader())
        let labs = try measurements(reader, call)
        let rows: [HTML] = labs.compactMap { row($0, call) }
        let today = TodayReader(reader.store, zone: call.zone, priority: call.core.settings.priority)
        let others: [HTML] = try today.list(of: call.person().person, at: call.now).filter(isRecord).map { type in
            let latest = try reader.store.samples.latest(of: [type]).map(\.sample).max { $0.start < $1.start }
            return """
                <li class="\(type.family.rawValue)">\(Icon(type).html)<span class="grow"><a href="/page/type/\(type.id)">\(call.values.name(of: type))</a>\
                <small class="s">\(latest.map { call.times.element(of: $0) } ?? "")</small></span></li>

                """
        }
        let outside = labs.filter { $0.results.last?.result.isOutside == true }.compactMap { $0.results.last?.measured.name }
        let sentence: HTML =
            labs.isEmpty
            ? ""
            : "<p class=\"note\">\(outside.isEmpty ? texts("records.inside") : texts("records.outside", outside.joined(separator: ", ")))</p>"
        let body: HTML = """
            <h1>\(texts("nav.records"))</h1>
            \(sentence)
            \(HTML.choose(!rows.isEmpty, "<h2>\(texts("lab.results"))</h2><div class=\"card\">\(rows)</div>"))
            \(HTML.choose(!others.isEmpty, "<h2>\(texts("records.kinds"))</h2><ul class=\"card rows two\">\(others)</ul>"))
            \(HTML.choose(rows.isEmpty && others.isEmpty, "<p>\(texts("records.none"))</p>"))
            """
        return .page(
            PageLayout(call: call, title: texts("nav.records"), place: "/page/records", isReading: true, family: .other).whole(
                body))
    }

    /// The kinds that are records and not readings.
    private static func isRecord(_ type: SampleType) -> Bool {
        switch type.kind {
        case .clinicalRecord, .document, .medicationDoseEvent, .electrocardiogram, .audiogram, .visionPrescription,
            .scoredAssessment,
            .stateOfMind:
            true
        default: false
        }
    }

    private static func measurements(_ reader: Reader, _ call: PageCall) throws -> [Measurement] {
        var found: [String: Measurement] = [:]
        let query = SampleQuery(
            types: LabStatistics.types, person: try call.person().person, descending: true, limit: maximumResults)
        let cursor = try reader.store.samples.cursor(matching: query)
        defer { cursor.close() }
        while let stored = try cursor.next() {
            for result in LabResult.all(of: stored.sample, zone: call.zone) {
                let key = result.key + "|" + (result.result.quantity?.unit ?? "")
                found[key, default: Measurement(results: [], latest: stored.uuid.description)].results.append(result)
            }
        }
        return found.values.map { each in
            // Results of one day stay in the order of their records.
            Measurement(results: each.results.reversed().sorted { $0.time < $1.time }, latest: each.latest)
        }.sorted { ($0.results.last?.measured.name ?? "", $0.latest) < ($1.results.last?.measured.name ?? "", $1.latest) }
    }

    private static func row(_ measurement: Measurement, _ call: PageCall) -> HTML? {
        guard let last = measurement.results.last else { return nil }
        let (texts, result) = (call.texts, last.result)
        let value = result.quantity.map { PageValues.local($0.text) } ?? result.words ?? texts("value.unknown")
        let isLong = value.count > 14
        let flag: HTML =
            result.isOutside.map { isOutside in
                "<span class=\"flag\(HTML.choose(!isOutside, " ok"))\">\(texts(isOutside ? side(of: result) : "records.within"))</span>"
            } ?? ""
        let ranges = (result.ranges ?? []).map { PageValues.local($0.text) }.joined(separator: "; ")
        let numbers = measurement.results.compactMap { $0.result.amount?.numeral.doubleValue }
        let before = measurement.results.count > 1 ? measurement.results[measurement.results.count - 2] : nil
        let earlier: HTML =
            before.map {
                "<small class=\"s\">\(texts("records.before", $0.result.quantity.map { PageValues.local($0.text) } ?? "–", call.times.day($0.time)))</small>"
            }
            ?? "<small></small>"
        return """
            <div class="lab"><span class="name"><a href="/page/sample/\(measurement.latest)">\(last.measured.name)</a><br>\
            <small class="s">\(time(last.time, call))\(HTML.choose(!ranges.isEmpty, " · \(texts("lab.range")) \(ranges)"))</small></span>\
            <span class="val"><b class="num"><span\(HTML.choose(isLong, " class=\"long\""))>\(value)</span></b> \(flag)</span>\
            \(bar(last))<span class="trend">\(earlier)\(spark(numbers))</span></div>

            """
    }

    /// The key of the words for a result outside of its range: above, below, or neither if the record has no numbers.
    private static func side(of result: ClinicalResult) -> String {
        guard let value = result.amount?.numeral.doubleValue else { return "lab.outside" }
        if let high = result.range?.high?.amount?.numeral.doubleValue, value > high { return "records.above" }
        if let low = result.range?.low?.amount?.numeral.doubleValue, value < low { return "records.below" }
        return "lab.outside"
    }

    /// The day of a test, with its time if the record has one.
    private static func time(_ time: Instant, _ call: PageCall) -> HTML {
        guard call.times.clock(time) == "00:00" else { return call.times.element(time) }
        return "<time datetime=\"\(call.times.date(time))\">\(call.times.day(time))</time>"
    }

    /// The reference range with a knob at the value.
    private static func bar(_ lab: LabResult) -> HTML {
        let range = lab.result.range
        guard let value = lab.result.amount?.numeral.doubleValue, range != nil else { return "<span class=\"bar2\"></span>" }
        let ends = (range?.low?.amount?.numeral.doubleValue, range?.high?.amount?.numeral.doubleValue)
        guard let some = ends.1 ?? ends.0 else { return "<span class=\"bar2\"></span>" }
        let span = ends.0.flatMap { low in ends.1.map { $0 - low } } ?? abs(some)
        let low = min(value, (ends.0 ?? max(0, some - span)) - span * 0.3)
        let high = max(value, (ends.1 ?? some + span) + span * 0.3)
        guard high > low else { return "<span class=\"bar2\"></span>" }
        func x(_ number: Double) -> Double { 2 + (number - low) / (high - low) * 96 }
        let (from, to) = (ends.0.map(x) ?? 0, ends.1.map(x) ?? 100)
        let names: [HTML] = [ends.0, ends.1].compactMap { end in
            end.map { "<text x=\"\(Coordinate.tenths(x($0)))%\" y=\"31\" text-anchor=\"middle\">\(PageValues.text($0))</text>" }
        }
        return """
            <svg class="bar2" aria-hidden="true"><rect class="track" x="0" width="100%" y="6" height="8" rx="4"/>\
            <rect class="inside" x="\(Coordinate.tenths(from))%" width="\(Coordinate.tenths(to - from))%" y="6" height="8" rx="4"/>\
            <circle class="knob\(lab.result.isOutside == true ? " off" : "")" cx="\(Coordinate.tenths(x(value)))%" cy="10" r="7"/>\(names)</svg>
            """
    }

    /// The last results as a small line.
    private static func spark(_ values: [Double]) -> HTML {
        let last = values.suffix(8)
        guard last.count > 1, let low = last.min(), let high = last.max() else { return "" }
        let points = last.enumerated().map { index, value in
            let x = Double(index) / Double(last.count - 1) * 960 + 20
            return "\(Coordinate.tenths(x)) \(Coordinate.tenths(high > low ? 850 - (value - low) / (high - low) * 700 : 500))"
        }
        return """
            <svg class="spark" viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true"><path class="ln" d="M\(points.joined(separator: "L"))"/>\
            <path class="dt" d="M\(points.last ?? "")h0"/></svg>
            """
    }
}
