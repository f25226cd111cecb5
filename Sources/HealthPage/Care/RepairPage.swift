import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page for repairs: suspicions, the preview of a repair, past repairs, and undo.
enum RepairPage {
    static let routes = [
        PageRoute(method: "GET", path: "care/plan", isSlow: true, answer: page),
        PageRoute(method: "POST", path: "care/repair", body: 8192, answer: repair),
        PageRoute(method: "POST", path: "care/dismiss", body: 1024, answer: dismiss),
        PageRoute(method: "POST", path: "care/dismissed", body: 1024, answer: checkAgain),
        PageRoute(method: "POST", path: "care/undo/*", right: .owner, body: 1024, answer: undo),
    ]

    /// Each suspicion is shown with the plan of its repair, which reads the samples.
    private static let (maximumSuspicions, maximumRepairs, maximumDismissals) = (5, 20, 20)

    // MARK: What looks wrong

    /// - Parameter found: The suspicions, and whether a search is still running.
    static func suspicions(
        _ found: (all: [Suspicion], isSearching: Bool), _ own: SampleStore, _ call: PageCall
    ) throws -> HTML {
        let texts = call.texts
        let items: [HTML] = try found.all.prefix(maximumSuspicions).map { suspicion in
            let (range, series) = (suspicion.range, suspicion.series)
            var conditions = SampleConditions(types: [series.type])
            (conditions.person, conditions.source) = (try call.person().person, series.source)
            (conditions.from, conditions.to) = (range.from, suspicion.end)
            conditions.condition = try suspicion.condition.map { try SamplePredicate($0) }
            let plan = try own.repairs.plan(
                RepairRequest(.unit(range.fits), of: conditions, takesAmbiguous: true, now: call.now))
            let fields = [
                ("type", series.type.id), ("source", series.source), ("from", range.from.description),
                ("to", suspicion.end.description),
                ("where", suspicion.condition ?? ""),
                ("repair", RepairForm.Kind.unit.rawValue), (RepairForm.field(.unit), range.fits.code), ("ambiguous", "yes"),
                ("merged", "\(plan.merged)"),
            ]
            return """
                <li class="card"><h3>\(call.values.name(of: series.type))</h3>
                <p>\(texts("care.fits", "\(range.count)", call.values.symbol(range.taken), call.values.symbol(range.fits)))</p>
                \(HTML.choose(suspicion.explanations.contains(.anotherPerson), "<p>\(texts("care.person"))</p>"))
                <p class="from">\(call.times.element(range.from)) – \(call.times.element(range.to)) · \(texts.source(series.source))</p>
                \(RepairDrawing(plan: plan, call: call).html(movesTimes: false))
                <p>\(texts("care.plan", "\(plan.repaired)", "\(plan.merged)"))</p>
                \(RepairForm.html(fields, call))
                \(dismissalForm("dismiss", suspicion.series, range.from, range.to, range.fits.code, call))</li>
                """
        }
        let empty: HTML = "<p>\(texts("care.nothingSuspicious"))</p>"
        let list: HTML = items.isEmpty ? HTML.choose(!found.isSearching, empty) : "<ul class=\"cards wide\">\(items)</ul>"
        let rest = found.all.count - items.count
        let more: HTML = "\(HTML.choose(rest > 0, "<p class=\"note\">\(texts("care.more", "\(rest)"))</p>"))"
        let searching: HTML = "<p class=\"note\" role=\"status\">\(texts("care.searching"))</p>"
        let another: HTML = "<p><a href=\"/page/care/plan\">\(texts("plan.another"))</a></p>"
        return list + more + HTML.choose(found.isSearching, searching) + (try dismissed(call)) + another
    }

    // MARK: Dismissals

    private static func dismissed(_ call: PageCall) throws -> HTML {
        let items: [HTML] = try call.records().dismissals().suffix(maximumDismissals).map { dismissal, series in
            """
            <li>\(call.values.name(of: series.type)) · \(call.times.element(dismissal.from)) – \(call.times.element(dismissal.to)) · \(call.texts.source(series.source))
            \(dismissalForm("dismissed", series, dismissal.from, dismissal.to, dismissal.fits, call))</li>
            """
        }
        return HTML.choose(!items.isEmpty, "<h3>\(call.texts("care.dismissed"))</h3><ul class=\"plain\">\(items)</ul>")
    }

    /// The form on Today that marks suspicious readings as right.
    static func dismissalForm(_ suspicion: Suspicion, _ call: PageCall) -> HTML {
        let range = suspicion.range
        return dismissalForm("dismiss", suspicion.series, range.from, range.to, range.fits.code, call, then: [("then", "today")])
    }

    /// The form on Today that checks the readings of the request again. Empty unless they were marked as right.
    static func undoForm(_ call: PageCall) throws -> HTML {
        let named = try call.records().dismissals().first { names(call, $0.series, $0.dismissal.from, $0.dismissal.to) }
        return named.map { dismissal, series in
            dismissalForm(
                "dismissed", series, dismissal.from, dismissal.to, dismissal.fits, call, then: [("then", "today")],
                text: "entry.undo")
        } ?? ""
    }

    /// A form that names a suspicion.
    private static func dismissalForm(
        _ action: String, _ series: SeriesDescription, _ from: Instant, _ to: Instant, _ fits: String, _ call: PageCall,
        then: [(name: String, value: String)] = [], text: String? = nil
    ) -> HTML {
        let fields = [
            ("series", "\(series.id)"), ("from", "\(from.microseconds)"), ("to", "\(to.microseconds)"), ("fits", fits),
        ]
        return """
            <form method="post" action="/page/care/\(action)">\(FormFields.hidden(fields + then))<button class="quiet">\(call.texts(text ?? "care." + action + ".do"))</button></form>
            """
    }

    /// Whether the fields of a request name these readings.
    private static func names(_ call: PageCall, _ series: SeriesDescription, _ from: Instant, _ to: Instant) -> Bool {
        call.text("series") == "\(series.id)" && call.text("from") == "\(from.microseconds)"
            && call.text("to") == "\(to.microseconds)"
    }

    @Sendable private static func dismiss(_ call: PageCall) throws -> HTTPResponse {
        let found = try call.suspicions().all
        let named = found.first { names(call, $0.series, $0.range.from, $0.range.to) && call.text("fits") == $0.range.fits.code }
        guard let named else { throw PageProblem(404, "suspicion") }
        try call.doing { try call.changes().dismiss(named) }
        guard call.text("then") == "today" else { return call.see("/page/care?done=dismissed") }
        let (from, to) = (named.range.from.microseconds, named.range.to.microseconds)
        return call.see("/page/?done=dismissed&series=\(named.series.id)&from=\(from)&to=\(to)")
    }

    @Sendable private static func checkAgain(_ call: PageCall) throws -> HTTPResponse {
        let all = try call.records().dismissals()
        let named = all.first {
            names(call, $0.series, $0.dismissal.from, $0.dismissal.to) && call.text("fits") == $0.dismissal.fits
        }
        guard let named else { throw PageProblem(404, "suspicion") }
        try call.doing { try call.changes().remove(named.dismissal, of: named.series) }
        return call.see(call.text("then") == "today" ? "/page/?done=checkedAgain" : "/page/care?done=checkedAgain")
    }

    // MARK: What a person wants repaired

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let own = try call.reader().store
        let texts = call.texts
        var found: HTML = ""
        if call.text("repair") != nil {
            do {
                found = try plan(own, call)
            } catch let problem as PageProblem {
                found = "<p class=\"problem\" role=\"alert\">\(problem.html(texts))</p>"
            }
        }
        let body: HTML = """
            <h1>\(texts("plan.title"))</h1>
            <p>\(texts("plan.how"))</p>
            \(try form(own, call))
            \(found)
            """
        return .page(PageLayout(call: call, title: texts("plan.title"), place: "/page/care").whole(body))
    }

    private static func form(_ own: SampleStore, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let series = try own.samples.series(matching: SampleQuery())
        let types = Set(series.map(\.type)).map { ($0.id, call.values.name(of: $0)) }.sorted { $0.1 < $1.1 }
        let sources = Set(series.map(\.source)).sorted().map { ($0, texts.source($0)) }
        let quantities = SampleType.all.filter { $0.kind == .quantity }.map { ($0.id, call.values.name(of: $0)) }
            .sorted { $0.1 < $1.1 }
        let chosen = call.text("repair").flatMap(RepairForm.Kind.init(rawValue:)) ?? .unit
        let kinds = RepairForm.Kind.allCases.filter { $0 != .person || call.isOwner }
        let lines: [HTML] = try kinds.map { kind in
            let field = RepairForm.field(kind)
            let label = texts("plan.by." + kind.rawValue)
            let by: HTML
            switch kind {
            case .type: by = select(field, label, quantities, call, none: "")
            case .person:
                by = select(
                    field, label,
                    try call.personNames().sorted { $0.value < $1.value }.map { ($0.key, $0.value) }, call,
                    none: "")
            default:
                by = """
                    <input name="\(field)" aria-label="\(label)" value="\(call.text(field) ?? "")" placeholder="\(texts("plan.such." + kind.rawValue))" maxlength="100" autocapitalize="off" spellcheck="false">
                    """
            }
            let marked: HTML = kind == chosen ? " checked" : ""
            return
                "<li><label><input type=\"radio\" name=\"repair\" value=\"\(kind.rawValue)\"\(marked)> \(label)</label> \(by)</li>"
        }
        let ambiguous: HTML = call.text("ambiguous") == nil ? "" : " checked"
        return """
            <form method="get" action="/page/care/plan" class="plan">
            <p>\(labelled("plan.what", select("type", nil, types, call), call)) \(labelled("plan.source", select("source", nil, sources, call, none: texts("plan.anySource")), call))</p>
            <p>\(labelled("plan.from", date("from", call), call)) \(labelled("plan.to", date("to", call), call))</p>
            <fieldset><legend>\(texts("plan.repair"))</legend><ul class="plain">\(lines)</ul></fieldset>
            <p><label><input type="checkbox" name="ambiguous" value="yes"\(ambiguous)> \(texts("plan.ambiguous"))</label></p>
            <button>\(texts("plan.show"))</button></form>
            """
    }

    private static func labelled(_ key: String, _ field: HTML, _ call: PageCall) -> HTML {
        "<label>\(call.texts(key)) \(field)</label>"
    }

    /// A field for a date. Another text stays out, because a browser would show an empty field and report an error.
    private static func date(_ name: String, _ call: PageCall) -> HTML {
        let text = call.text(name).flatMap { Instant(iso8601: $0, zone: call.zone) != nil && $0.utf8.count == 10 ? $0 : nil }
        return "<input type=\"date\" name=\"\(name)\" value=\"\(text ?? "")\">"
    }

    private static func select(
        _ name: String, _ label: String?, _ choices: [(value: String, text: String)], _ call: PageCall, none: String? = nil
    ) -> HTML {
        let chosen = call.text(name)
        let options: [HTML] = ((none.map { [("", $0)] } ?? []) + choices).map { value, text in
            let marked: HTML = value == chosen ? " selected" : ""
            return "<option value=\"\(value)\"\(marked)>\(text)</option>"
        }
        let label: HTML = label.map { " aria-label=\"\($0)\"" } ?? ""
        return "<select name=\"\(name)\"\(label)>\(options)</select>"
    }

    private static func plan(_ own: SampleStore, _ call: PageCall) throws -> HTML {
        let (texts, form) = (call.texts, try RepairForm(call))
        let plan = try own.repairs.plan(try form.request(call))
        let left: [HTML] = RepairReason.allCases.compactMap { reason in
            plan.left[reason].map {
                "<li>\(texts("plan.left", PageValues.grouped(Int64($0)), texts["plan.left." + reason.rawValue] ?? reason.words))</li>"
            }
        }
        let counts = [plan.matched, plan.repaired, plan.merged].map { PageValues.grouped(Int64($0)) }
        let repair: HTML =
            plan.repaired + plan.merged == 0 ? "<p>\(texts("plan.nothing"))</p>" : form.html(merging: plan.merged, call)
        return """
            <section class="card" aria-labelledby="plan"><h2 id="plan">\(texts("plan.would")) \(try words(of: form.repair.text, call))</h2>
            <p>\(texts("plan.matched", counts[0]))</p>
            <p>\(texts("care.plan", counts[1], counts[2]))</p>
            \(HTML.choose(!left.isEmpty, "<ul>\(left)</ul>"))
            \(RepairDrawing(plan: plan, call: call).html(movesTimes: form.kind.movesTimes))
            \(try examples(plan, call))
            \(repair)</section>
            """
    }

    private static func examples(_ plan: RepairPlan, _ call: PageCall) throws -> HTML {
        guard !plan.examples.isEmpty else { return "" }
        let store = try call.reader().store
        let texts = call.texts
        let rows: [HTML] = try plan.examples.map { example in
            let cells: [HTML] = try [example.before, example.after].map { sample in
                let shownValue = try call.values.shown(sample, in: store)
                return "<td>\(call.times.element(sample.start))</td><td>\(shownValue.value) \(shownValue.unit)</td>"
            }
            return "<tr><th scope=\"row\">\(call.values.name(of: example.before.origin.type))</th>\(cells)</tr>"
        }
        return ClientsPage.table(
            "examples", texts("plan.examples"),
            [texts("clients.type"), texts("figure.when"), texts("care.before"), texts("figure.when"), texts("care.after")], rows
        )
    }

    @Sendable private static func repair(_ call: PageCall) throws -> HTTPResponse {
        let request = try RepairForm(call).request(call)
        try call.doing { try call.changes().apply(request) }
        return call.see("/page/care?done=repaired")
    }

    /// The description of a repair. Only the owner of the hub sees names of people.
    static func words(of repair: String, _ call: PageCall) throws -> String {
        call.texts.repair(repair, call.values, people: call.isOwner ? try call.personNames() : [:])
    }

    // MARK: What was repaired

    static func made(_ store: SampleStore, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let rows: [HTML] = try store.repairs.all().suffix(maximumRepairs).reversed().map { repairID in
            let undo: HTML =
                repairID.state != "applied"
                ? "\(texts("care.undone"))"
                : """
                <form method="post" action="/page/care/undo/\(Int(repairID.id))"><button class="bad" aria-label="\(texts("care.undoNumber", "\(repairID.id)"))">\(texts("care.undo"))</button></form>
                """
            return """
                <tr><th scope="row">\(Int(repairID.id))</th><td>\(try words(of: repairID.repair, call))</td><td>\(PageValues.grouped(Int64(repairID.repaired + repairID.merged)))</td>
                <td>\(call.times.element(Instant(microseconds: repairID.applied)))</td><td>\(undo)</td></tr>
                """
        }
        guard !rows.isEmpty else { return "" }
        return "<h2>\(texts("care.repairs"))</h2>"
            + ClientsPage.table(
                "repairs", texts("care.repairsMade"),
                ["care.number", "care.what", "care.samples", "figure.when", "care.undo"].map { texts($0) }, rows)
    }

    @Sendable private static func undo(_ call: PageCall) throws -> HTTPResponse {
        guard let number = Int64(call.variables[0]) else { throw PageProblem(404, "repair") }
        try call.doing { try call.hubChanges().undoRepair(number, at: call.now) }
        return call.see("/page/care?done=undone")
    }
}
