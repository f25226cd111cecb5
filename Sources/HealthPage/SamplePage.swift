import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

enum SamplePage {
    static let routes = [PageRoute(method: "GET", path: "sample/*", answer: page)]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let store = try call.reader().store
        guard let uuid = SampleIdentity(call.variables[0]) else { throw PageProblem(404, "sample") }
        guard let explanation = try store.duplicates.explain(uuid) else {
            guard let derived = try store.samples.derivedCorrelation(uuid) else { throw PageProblem(404, "sample") }
            return try pressure(derived.sample, store, call)
        }
        let texts = call.texts
        let sample = try RecordNames(store).named(explanation.stored).sample
        let (name, shownValue) = (call.values.name(of: sample.origin.type), try call.values.shown(sample, in: store))
        func list(_ key: String, _ relations: [Explanation.Relation]) throws -> HTML {
            guard !relations.isEmpty else { return "" }
            let lines: [HTML] = try relations.map { relation in
                let other = relation.other.sample
                let reported = try call.values.shown(other, in: store)
                return """
                    <li><a href="/page/sample/\(other.identity.description)">\(reported.value) \(reported.unit)</a>, \(call.times.element(other.start)), \(TypeCard.source(of: other, texts)) \
                    <span class="note">\(texts("sample.rule." + relation.rule.rawValue))</span></li>
                    """
            }
            return "<h2>\(texts(key))</h2><ul>\(lines)</ul>"
        }
        let alone: HTML =
            explanation.first == nil && explanation.duplicates.isEmpty && explanation.linked.isEmpty
            ? "<p>\(texts("sample.alone"))</p>" : ""
        let isOneDay = call.times.day(sample.start) == call.times.day(sample.end)
        let end: HTML = isOneDay ? "\(call.times.clock(sample.end))" : call.times.element(sample.end)
        let body: HTML = """
            <h1>\(name): \(shownValue.value) \(shownValue.unit)</h1>
            <p class="note">\(sample.origin.kind == .clinicalRecord ? call.times.element(of: sample) : call.times.element(sample.start))\(HTML.choose(sample.end > sample.start, " – \(end)")) · \(TypeCard.sources(of: sample, texts))</p>
            \(try PressureKind.category(of: sample, in: store, call))
            \(try KindPage.object(sample, call.reader(), call))
            \(try SampleActions(sample, call).html())
            <dl><dt>\(texts("sample.received"))</dt><dd>\(HTML.choose(sample.origin.kind == .quantity, "\(PageValues.local(sample.numeral.text)) \(call.values.symbol(sample.unit)), "))\(call.times.element(sample.received))</dd></dl>
            \(alone)
            \(try list("sample.first", explanation.first.map { [$0] } ?? []))
            \(try list("sample.witnesses", explanation.duplicates))
            \(try list("sample.linked", explanation.linked))
            """
        let hasMap = [.workout, .workoutRoute].contains(sample.origin.kind)
        let tiles = hasMap ? call.site.settings.tiles : nil
        let layout = PageLayout(call: call, title: name, isReading: tiles == nil, family: sample.origin.type.family)
        return .page(layout.whole(body), tiles: tiles)
    }

    /// The page of a blood pressure that a device reported as two samples of one measurement.
    private static func pressure(_ pressure: Sample, _ store: SampleStore, _ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        let (name, shownValue) = (call.values.name(of: pressure.origin.type), try call.values.shown(pressure, in: store))
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [.bloodPressureSystolic, .bloodPressureDiastolic], from: pressure.start,
                to: Instant(microseconds: pressure.start.microseconds + 1)))
        defer { cursor.close() }
        var members: [HTML] = []
        while let member = try cursor.next()?.sample {
            guard member.group == pressure.group else { continue }
            let shown = try call.values.shown(member, in: store)
            members.append(
                "<li><a href=\"/page/sample/\(member.identity.description)\">\(call.values.name(of: member.origin.type)): \(shown.value) \(shown.unit)</a></li>"
            )
        }
        let body: HTML = """
            <h1>\(name): \(shownValue.value) \(shownValue.unit)</h1>
            <p class="note">\(call.times.element(pressure.start)) · \(TypeCard.sources(of: pressure, texts))</p>
            \(try PressureKind.category(of: pressure, in: store, call))
            <ul>\(members)</ul>
            """
        return .page(PageLayout(call: call, title: name, isReading: true, family: pressure.origin.type.family).whole(body))
    }
}
