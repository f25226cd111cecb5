import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The report for a doctor: the chosen types between two days, as a page to print and as a table.
enum ReportPage {
    static let routes = [
        PageRoute(method: "GET", path: "report", isSlow: true, answer: page),
        PageRoute(method: "GET", path: "report/readings.csv", isSlow: true) { call in
            let request = try ReportRequest(call)
            guard !request.types.isEmpty else { throw PageProblem(400, "chooseTypes") }
            return try ReportTable.answer(request, call)
        },
    ]

    static func link(_ call: PageCall, _ type: SampleType? = nil) -> HTML {
        guard type.map({ $0.kind == .quantity || $0.id == BloodPressure.type }) ?? true else { return "" }
        return
            "<p><a class=\"button\" href=\"/page/report\(type.map { "?type=\($0.id)" } ?? "")\">\(call.texts("report.title"))</a></p>"
    }

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let request = try ReportRequest(call)
        let (texts, reader) = (call.texts, try call.reader())
        guard !request.types.isEmpty else {
            let body: HTML = "<h1>\(texts("report.title"))</h1><p>\(texts("report.how"))</p>\(try form(request, reader, call))"
            return .page(PageLayout(call: call, title: texts("report.title")).whole(body))
        }
        let name = try call.records().name()
        let today = call.times.date(call.now)
        let born = try call.records().characteristics().value(of: .dateOfBirth, on: today).map { call.times.written($0.value) }
        let sections: [HTML] = try request.types.map {
            try ReportSection(type: $0, request: request, call: call, reader: reader).html()
        }
        let body: HTML = """
            <article class="report">
            <h1>\(texts("report.of", name == "me" ? "" : name))</h1>
            \(HTML.choose(born != nil, "<p>\(texts("characteristic.dateOfBirth")): \(born ?? "")</p>"))
            <p>\(texts("report.range", call.times.written(request.first), call.times.written(request.last))) · \(texts("report.zone", call.zone.identifier)) · \(texts("report.made", call.times.written(call.times.date(call.now))))</p>
            <p class="screen"><button type="button" data-print hidden>\(texts("report.print"))</button> <a class="button" href="/page/report/readings.csv?\(request.query)">\(texts("report.csv"))</a></p>
            \(sections)
            </article>
            <details class="screen"><summary>\(texts("report.change"))</summary>\(try form(request, reader, call))</details>
            """
        return .page(PageLayout(call: call, title: texts("report.title")).whole(body, scripts: ["page.js", "report.js"]))
    }

    /// The choice of days and types. The types are those that the person has readings of.
    private static func form(_ request: ReportRequest, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let (texts, fields) = (call.texts, FormFields(call: call))
        var known: Set<String> = []
        for stored in try reader.store.samples.latest() where stored.sample.origin.kind == .quantity {
            let type = stored.sample.origin.type
            known.insert(EntryForm.pressures.contains(type) ? BloodPressure.type : type.id)
        }
        guard !known.isEmpty else { return "<p>\(texts("today.nothing"))</p>" }
        let types = known.compactMap { SampleType($0) }.map { (type: $0, name: call.values.name(of: $0)) }
            .sorted { ($0.name, $0.type.id) < ($1.name, $1.type.id) }
        let boxes: [HTML] = types.map { type, name in
            let checked: HTML = request.types.contains(type) ? " checked" : ""
            return "<li><label><input type=\"checkbox\" name=\"type\" value=\"\(type.id)\"\(checked)> \(name)</label></li>"
        }
        return """
            <form class="entry" method="get" action="/page/report">
            \(fields.input("from", texts("report.first"), value: request.first, type: "date", attributes: "required"))\
            \(fields.input("until", texts("report.last"), value: request.last, type: "date", attributes: "required"))
            <fieldset><legend>\(texts("report.types"))</legend><ul class="plain">\(boxes)</ul></fieldset>
            <button>\(texts("report.show"))</button></form>
            """
    }
}
