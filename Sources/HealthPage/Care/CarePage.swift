import HTTPServerKit
import HealthModel
import HealthServing
import Pipeline
import SampleStore

/// The page for quarantined readings, suspicious readings and the import ledger.
enum CarePage {
    static let routes = [
        PageRoute(method: "GET", path: "care", isSlow: true, answer: page),
        PageRoute(method: "POST", path: "care/held/*", body: 1024, answer: decide),
        PageRoute(method: "GET", path: "care/ingest/*", right: .owner, answer: ingest),
    ]

    private static let (maximumQuarantined, maximumIngests, neighbours) = (50, 20, 8)
    /// The time in seconds until the page asks again for the result of a search.
    private static let refresh = 3

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let own = try call.reader()
        let texts = call.texts
        var done: HTML = ""
        if let action = call.text("done"), ["judged", "repaired", "undone", "dismissed", "checkedAgain"].contains(action) {
            done = "<p class=\"done\" role=\"status\">\(texts("care.done." + action))</p>"
        }
        let found = try call.suspicions()
        let body: HTML = """
            <h1>\(texts("nav.care"))</h1>
            \(done)
            <h2>\(texts("care.held"))</h2>
            \(try quarantined(own.store, call))
            <h2>\(texts("care.suspicions"))</h2>
            \(try RepairPage.suspicions(found, own.store, call))
            \(call.isOwner ? try RepairPage.made(call.ownerReader().store, call) + ledger(call.ownerReader().store, call) : "")
            """
        let refresh = found.isSearching ? Self.refresh : nil
        return .page(PageLayout(call: call, title: texts("nav.care"), place: "/page/care", refresh: refresh).whole(body))
    }

    // MARK: What is held

    private static func quarantined(_ own: SampleStore, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let records = try call.records()
        let count = try records.quarantineCounts().values.reduce(0, +)
        guard count > 0 else { return "<p>\(texts("care.nothingHeld"))</p>" }
        let items: [HTML] = try records.quarantined(limit: maximumQuarantined).enumerated().map { index, entry in
            let sample = entry.stored.sample
            let shownValue = try call.values.shown(sample, in: own)
            // The numbers of the quarantine count the readings of all people.
            let (number, uuid) = (index + 1, sample.identity.description)
            return """
                <li class="card"><h3>\(call.values.name(of: sample.origin.type)): \(shownValue.value) \(shownValue.unit)</h3>
                <p>\(rule(entry.rule, texts))</p>
                <p class="from">\(call.times.element(sample.start)) · \(TypeCard.source(of: sample, texts)) · \(texts.place(entry.place))</p>
                \(try drawing(of: sample, own, call))
                <form method="post" action="/page/care/held/\(uuid)"><button name="do" value="accept" aria-label="\(texts("care.acceptNumber", "\(number)"))">\(texts("care.accept"))</button>
                <button class="bad" name="do" value="reject" aria-label="\(texts("care.rejectNumber", "\(number)"))">\(texts("care.reject"))</button></form></li>
                """
        }
        let more = count - items.count
        return
            "<ul class=\"cards wide\">\(items)</ul>\(HTML.choose(more > 0, "<p class=\"note\">\(texts("care.more", "\(more)"))</p>"))"
    }

    private static func rule(_ name: String, _ texts: PageTexts) -> HTML {
        if let text = texts["rule." + name] { return "\(text)" }
        return texts.sentence(GateRule(name).explanation)
    }

    /// A drawing of the reading among its neighbours in time.
    private static func drawing(of sample: Sample, _ own: SampleStore, _ call: PageCall) throws -> HTML {
        guard sample.origin.kind == .quantity else { return "" }
        var values: [Double] = []
        var place = 0
        for descending in [true, false] {
            let cursor = try own.samples.cursor(
                matching: SampleQuery(
                    types: [sample.origin.type], from: descending ? nil : sample.start, to: descending ? sample.start : nil,
                    descending: descending, limit: neighbours))
            defer { cursor.close() }
            var side: [Double] = []
            while let next = try cursor.next() { side.append(next.sample.value) }
            if descending { place = side.count }
            values += descending ? side.reversed() + [sample.value] : side
        }
        guard values.count > 1, let low = values.min(), let high = values.max() else { return "" }
        return dots(values, marked: place, low, high, label: call.texts("care.neighbours", "\(values.count - 1)"))
    }

    private static func dots(_ values: [Double], marked: Int, _ low: Double, _ high: Double, label: String) -> HTML {
        let span = high > low ? high - low : 1
        let circles: [HTML] = values.enumerated().map { index, value in
            let mark: HTML = index == marked ? " class=\"marked\"" : ""
            return
                "<circle\(mark) cx=\"\(8 + index * 12)\" cy=\"\(Coordinate.pixels(46 - (value - low) / span * 40))\" r=\"\(index == marked ? 5 : 3)\"/>"
        }
        return
            "<svg class=\"dots\" viewBox=\"0 0 \(16 + 12 * values.count) 52\" role=\"img\" aria-label=\"\(label)\">\(circles)</svg>"
    }

    @Sendable private static func decide(_ call: PageCall) throws -> HTTPResponse {
        guard let uuid = SampleIdentity(call.variables[0]) else { throw PageProblem(404, "quarantined") }
        guard let verdict = call.text("do"), ["accept", "reject"].contains(verdict) else {
            throw PageProblem(400, "field", "do")
        }
        try call.doing {
            guard try call.changes().decide(uuid, accepting: verdict == "accept", at: call.now) else {
                throw PageProblem(404, "quarantined")
            }
        }
        return call.see(call.text("then") == "today" ? "/page/?done=judged" : "/page/care?done=judged")
    }

    // MARK: The ledger

    private static func ledger(_ store: SampleStore, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let repairs = try repairs(store, call)
        let rows = try store.ledger.accounts(limit: maximumIngests).reversed().map { row($0, call, repair: repairs[$0.id]) }
        guard !rows.isEmpty else { return "" }
        return "<h2>\(texts("care.ledger"))</h2>" + ClientsPage.table("ledger", texts("care.came"), columns(call), rows)
    }

    static func columns(_ call: PageCall) -> [String] {
        [
            "care.number", "figure.when", "care.what", "care.stored", "care.duplicate", "care.quarantined", "care.refused",
            "care.state",
        ].map { call.texts($0) }
    }

    /// The descriptions of repairs by their ledger entry.
    private static func repairs(_ store: SampleStore, _ call: PageCall) throws -> [Int64: String] {
        let repairs = try store.repairs.all().map { ($0.ingest, try RepairPage.words(of: $0.repair, call)) }
        return Dictionary(repairs) { first, _ in first }
    }

    /// - Parameter repair: The description of the repair that the entry records.
    static func row(_ account: IngestAccount, _ call: PageCall, repair: String? = nil) -> HTML {
        let numbers: [HTML] = [account.stored, account.duplicate, account.quarantined, account.refused].map {
            "<td>\(PageValues.grouped(Int64($0)))</td>"
        }
        return """
            <tr><th scope="row"><a href="/page/care/ingest/\(Int(account.id))">\(Int(account.id))</a></th><td>\(call.times.element(Instant(microseconds: account.received)))</td>
            <td>\(repair ?? call.texts.entry(account))</td>\(numbers)<td>\(call.texts.state(account.state, of: "ledger.state."))</td></tr>
            """
    }

    /// The report of one import: where each reading ended, and each refused row with the reason, which names the remedy.
    @Sendable private static func ingest(_ call: PageCall) throws -> HTTPResponse {
        let store = try call.ownerReader().store
        guard let number = Int64(call.variables[0]), let account = try store.ledger.account(of: number) else {
            throw PageProblem(404, "ledger")
        }
        let texts = call.texts
        let refusals: [HTML] = try store.ledger.refusals(of: number).prefix(1000).map { entry in
            "<tr><th scope=\"row\">\(texts.place("\(entry.placeKind) \(entry.place)"))</th><td>\(texts.sentence(entry.reason))</td><td>\(entry.count)</td></tr>"
        }
        let heads = ["care.place", "care.why", "care.rows"].map { texts($0) }
        let refused: HTML =
            refusals.isEmpty
            ? "<p>\(texts("care.noneRefused"))</p>"
            : "<h2>\(texts("care.refusals"))</h2>\(ClientsPage.table("refusals", texts("care.settle"), heads, refusals))"
        let skips: [HTML] = account.skipped.sorted { $0.key < $1.key }.map { kind, count in
            "<tr><th scope=\"row\">\(texts.skip(kind))</th><td>\(PageValues.grouped(Int64(count)))</td></tr>"
        }
        let skipped = ClientsPage.table(
            "skipped", texts("care.skipped"), ["care.skippedName", "care.skippedCount"].map { texts($0) }, skips)
        let notes: [HTML] = account.notes.map { "<li>\(texts.sentence($0))</li>" }
        let body: HTML = """
            <h1>\(texts("care.ingest", "\(number)"))</h1>
            \(ClientsPage.table("account", texts("care.came"), columns(call), [row(account, call, repair: try repairs(store, call)[number])]))
            \(HTML.choose(!notes.isEmpty, "<h2>\(texts("care.assumed"))</h2><ul>\(notes)</ul>"))
            \(refused)
            \(HTML.choose(!skips.isEmpty, skipped))
            """
        return .page(PageLayout(call: call, title: texts("care.ingest", "\(number)"), place: "/page/care").whole(body))
    }
}
