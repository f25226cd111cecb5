import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The page for a person's goals. A goal is shown on the card of its type and as a line in its chart.
enum GoalsPage {
    static let routes = [
        PageRoute(method: "GET", path: "goals", answer: page),
        PageRoute(method: "POST", path: "goals", body: 4096, answer: change),
    ]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse { .page(try whole(FormFields(call: call), call)) }

    private static func whole(_ fields: FormFields, _ call: PageCall) throws -> HTML {
        let (texts, values) = (call.texts, call.values)
        let goals = try call.records().goals().values
            .map { (goal: $0, name: values.name(of: $0.type)) }.sorted { ($0.name, $0.goal.type.id) < ($1.name, $1.goal.type.id) }
        let rows: [HTML] = goals.map { goal, name in
            """
            <tr><th scope="row"><a href="/page/type/\(goal.type.id)">\(name)</a></th><td>\(text(goal, call))</td>\
            <td><form method="post" action="/page/goals">\(FormFields.hidden([("do", "remove"), ("type", goal.type.id)]))\
            <button class="quiet" aria-label="\(texts("goals.removeOf", name))">\(texts("notes.remove"))</button></form></td></tr>
            """
        }
        let types = try Self.types(call)
        let units = types.map { values.symbol(values.unit(of: $0.type)) }
        let options = zip(types, units).map { type, unit in
            (value: type.type.id, text: unit.isEmpty ? type.name : "\(type.name) (\(unit))")
        }
        let spans = Goal.Span.allCases.map { (value: $0.rawValue, text: texts("goals.span." + $0.rawValue)) }
        let body: HTML = """
            <h1>\(texts("goals.title"))</h1>
            <p>\(texts("goals.how"))</p>
            \(HTML.choose(!rows.isEmpty, ClientsPage.table("goals", texts("goals.title"), ["clients.type", "goals.goal", "clients.change"].map { texts($0) }, rows)))
            <h2>\(texts("goals.set"))</h2>
            <form class="entry" method="post" action="/page/goals">\(FormFields.hidden([("do", "set")]))
            \(fields.select("type", texts("clients.type"), options, chosen: fields.typed("type")))\
            \(fields.input("value", texts("entry.value"), value: fields.typed("value") ?? "", attributes: "inputmode=\"decimal\" autocomplete=\"off\" required"))\
            \(fields.select("span", texts("goals.span"), spans, chosen: fields.typed("span")))
            <button>\(texts("clients.set"))</button></form>
            """
        return PageLayout(call: call, title: texts("goals.title")).whole(body)
    }

    /// The quantity types by name. The person's own types come first.
    static func types(_ call: PageCall) throws -> [(type: SampleType, name: String)] {
        let known = Set(try call.reader().store.samples.latest().map(\.sample.origin.type).filter { $0.kind == .quantity })
        func sorted(_ types: some Sequence<SampleType>) -> [(type: SampleType, name: String)] {
            types.map { (type: $0, name: call.values.name(of: $0)) }.sorted { ($0.name, $0.type.id) < ($1.name, $1.type.id) }
        }
        return sorted(known) + sorted(SampleType.all.filter { $0.kind == .quantity && !known.contains($0) })
    }

    /// A goal such as `10,000 steps a day`.
    private static func text(_ goal: Goal, _ call: PageCall) -> String {
        let (value, unit) = call.values.amount(goal.value, of: goal.type)
        let amount = CardFacts.joined(value, unit)
        // A weight has no sum.
        guard goal.type.aggregation == .cumulative else { return amount }
        return call.texts("goals.text." + goal.span.rawValue, amount)
    }

    private static func goal(of type: SampleType, _ call: PageCall) throws -> Goal? {
        try call.records().goals()[type]
    }

    static func note(of type: SampleType, _ call: PageCall) throws -> HTML {
        try goal(of: type, call).map {
            "<p class=\"goal\"><a href=\"/page/goals\">\(call.texts("goals.goal")): \(text($0, call))</a></p>"
        } ?? ""
    }

    static func cardNote(of type: SampleType, _ call: PageCall) -> HTML {
        guard let goal = try? goal(of: type, call) else { return "" }
        return "<p class=\"src\">\(call.texts("goals.goal")): \(text(goal, call))</p>"
    }

    /// The daily goal of a type in its canonical unit.
    static func dayGoal(of type: SampleType, _ call: PageCall) -> Double? {
        guard let goal = try? goal(of: type, call), goal.span == .day || type.aggregation != .cumulative else { return nil }
        return goal.value
    }

    /// The goal as a line of a chart, in the type's canonical unit. A sum is compared with a goal only if both are of a day or a week.
    static func line(of type: SampleType, in frame: ChartFrame, _ call: PageCall) throws -> Double? {
        guard let goal = try goal(of: type, call) else { return nil }
        guard type.aggregation == .cumulative else { return goal.value }
        let step = frame.step(isSum: true)
        guard step.count == 1 else { return nil }
        switch (step.unit, goal.span) {
        case (.day, .day), (.week, .week): return goal.value
        default: return nil
        }
    }

    @Sendable private static func change(_ call: PageCall) throws -> HTTPResponse {
        guard let type = call.text("type").flatMap({ try? SampleType(anyName: $0) }), type.kind == .quantity else {
            throw PageProblem(400, "chooseType")
        }
        switch call.text("do") {
        case "set":
            var fields = FormFields(call: call)
            let back = try call.values.unit(of: type).conversion(to: type.canonicalUnit, molarMass: type.molarMass)
            let value = fields.typed("value").flatMap(EntryForm.numeral).map { back($0.doubleValue) }
            guard let value, value > 0, value.isFinite else {
                fields.errors["value"] = "goals.wrong"
                return .page(try whole(fields, call), status: 422)
            }
            guard let span = call.text("span").flatMap(Goal.Span.init(rawValue:)) else {
                throw PageProblem(400, "field", "span")
            }
            try call.doing { try call.changes().save(Goal(type: type, span: span, value: value)) }
        case "remove":
            guard try call.changes().removeGoal(type) else { throw PageProblem(404, "goal") }
        default: throw PageProblem(400, "field", "do")
        }
        return call.see("/page/goals")
    }
}
