import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page for clients: their requests, their access, and a log of their reads. A person grants access by type and can change it
/// at any time.
enum ClientsPage {
    static let routes = [
        PageRoute(method: "GET", path: "clients", answer: page),
        PageRoute(method: "POST", path: "clients/*", body: 262_144, answer: answer),
    ]

    private static let (maximumObjects, maximumEntries) = (200, 100)

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let (records, own) = (try call.records(), try call.reader())
        let texts = call.texts
        // Clients that only other people know stay hidden, except from the owner of the hub.
        let clients: [HTML] = try records.clients().map { client in
            let key = "client\(client.id)"
            let policy: HTML = client.policy.map { "<p class=\"note\">\(texts("clients.policy")) \($0)</p>" } ?? ""
            return """
                <section class="client" aria-labelledby="\(key)"><h2 id="\(key)">\(client.name)</h2>
                <p>\(client.purpose)</p>\(policy)
                \(try requests(of: client, records, own.store, call))
                \(try grants(of: client, records, own.store, call))
                \(try refusals(of: client, records, own.store, call))
                \(try granting(client, records, own.store, call))
                \(try ledger(of: client, records, call))
                </section>
                """
        }
        let body: HTML = """
            <h1>\(texts("nav.clients"))</h1>
            <p>\(texts("clients.how"))</p>
            \(HTML.choose(clients.isEmpty, "<p>\(texts("clients.none"))</p>"))\(clients)
            """
        return .page(PageLayout(call: call, title: texts("nav.clients"), place: "/page/clients").whole(body))
    }

    private static func name(of type: ObjectType, _ call: PageCall) -> String {
        SampleType(type.id).map { call.values.name(of: $0) } ?? call.texts["characteristic." + type.id]
            ?? PageValues.words(type.id)
    }

    // MARK: What it asks for

    private static func requests(of client: Client, _ records: OwnRecords, _ own: SampleStore, _ call: PageCall) throws -> HTML {
        guard let request = try records.openRequest(of: client) else { return "" }
        return try form(request, client, "clients.asks", own, call)
    }

    /// The request that was refused or withdrawn, which the person can answer again.
    private static func refusals(of client: Client, _ records: OwnRecords, _ own: SampleStore, _ call: PageCall) throws -> HTML {
        guard let request = try records.refusedRequest(of: client) else { return "" }
        let form = try form(request, client, "clients.refused", own, call)
        return "<details><summary>\(call.texts("clients.answerAgain"))</summary>\(form)</details>"
    }

    private static func form(
        _ request: AuthorizationRequest, _ client: Client, _ legend: String, _ own: SampleStore, _ call: PageCall
    ) throws -> HTML {
        let texts = call.texts
        let lines: [HTML] = try
            (request.read.sorted().map { ($0, Grant.Access.read) } + request.write.sorted().map { ($0, .write) }).map {
                type, access in
                let question = texts(access == .read ? "clients.toRead" : "clients.toWrite", name(of: type, call))
                guard access == .read, type.isAskedByObject else {
                    let field = "\(access.rawValue).\(type.id)"
                    let from: HTML = access == .read ? date(type, "", call) : ""
                    return
                        "<li><input type=\"hidden\" name=\"asked\" value=\"\(field)\"><label><input type=\"checkbox\" name=\"yes\" value=\"\(field)\"> \(question)</label> \(from)</li>"
                }
                return
                    "<li><input type=\"hidden\" name=\"asked\" value=\"read.\(type.id)\">\(question)\(try objects(of: type, [], false, own, call))</li>"
            }
        return """
            <form method="post" action="/page/clients/\(Int(client.id))"><input type="hidden" name="do" value="answer">
            <fieldset><legend>\(texts(legend))</legend><ul class="plain">\(lines)</ul>
            <button>\(texts("clients.answer"))</button> <span class="note">\(texts("clients.unmarked"))</span></fieldset></form>
            """
    }

    /// The first day that the client may read. If it is empty, the client may read everything.
    private static func date(_ type: ObjectType, _ day: String, _ call: PageCall) -> HTML {
        """
        <label class="note">\(call.texts("clients.onlyFrom")) <input type="date" name="from.\(type.id)" value="\(day)" \
        aria-label="\(call.texts("clients.onlyFromOf", name(of: type, call)))"></label>
        """
    }

    /// A person's newest objects of a type that is granted object by object, and whether there are more.
    private static func listed(_ type: ObjectType, _ own: SampleStore) throws -> (samples: [Sample], isCut: Bool) {
        guard let sampleType = SampleType(type.id) else { return ([], false) }
        let cursor = try own.samples.cursor(
            matching: SampleQuery(types: [sampleType], descending: true, limit: maximumObjects + 1))
        defer { cursor.close() }
        var samples: [Sample] = []
        while let next = try cursor.next() { samples.append(next.sample) }
        return (Array(samples.prefix(maximumObjects)), samples.count > maximumObjects)
    }

    /// Clinical records and documents, each with its own checkbox. There is no way to grant them all at once.
    private static func objects(
        of type: ObjectType, _ granted: Set<SampleIdentity>, _ future: Bool, _ own: SampleStore, _ call: PageCall
    ) throws -> HTML {
        let (samples, isCut) = try listed(type, own)
        let lines: [HTML] = samples.map { sample in
            let record = try? sample.body?.decoded(as: ClinicalRecord.self)
            let title = record?.displayName ?? name(of: type, call)
            let marked: HTML = granted.contains(sample.identity) ? " checked" : ""
            let uuid = sample.identity.description
            return """
                <li><input type="hidden" name="shown.\(type.id)" value="\(uuid)"><label><input type="checkbox" name="object.\(type.id)" value="\(uuid)"\(marked)> \
                \(title), \(call.times.day(sample.start))</label></li>
                """
        }
        let marked: HTML = future ? " checked" : ""
        let more: HTML = isCut ? "<li class=\"note\">\(call.texts("clients.older", "\(samples.count)"))</li>" : ""
        return
            "<ul class=\"plain\">\(lines)\(more)<li><label><input type=\"checkbox\" name=\"future\" value=\"\(type.id)\"\(marked)> \(call.texts("clients.future"))</label></li></ul>"
    }

    /// The objects of a type that a client may read now.
    private static func readable(_ type: ObjectType, by client: Client, _ call: PageCall) throws -> Set<SampleIdentity> {
        guard let sampleType = SampleType(type.id) else { return [] }
        return try call.core.readers.readable(sampleType, of: try call.person(), by: client)
    }

    // MARK: What it may

    private static func grants(of client: Client, _ records: OwnRecords, _ own: SampleStore, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let grants = try records.grants(of: client).filter { $0.reading != .none || $0.mayWrite }
        guard !grants.isEmpty else { return "<p class=\"note\">\(texts("clients.mayNothing"))</p>" }
        let rows: [HTML] = try grants.map { grant in
            let name = name(of: grant.type, call)
            let writing = texts(grant.mayWrite ? "clients.yes" : "clients.no")
            let change = try change(grant, client, own, call)
            return """
                <tr><th scope="row">\(name)</th><td>\(words(grant.reading, call))</td><td>\(writing)</td>
                <td>\(change)<form method="post" action="/page/clients/\(Int(client.id))"><input type="hidden" name="do" value="withdraw">\
                <input type="hidden" name="type" value="\(grant.type.id)"><button class="bad" aria-label="\(texts("clients.withdrawOf", name))">\
                \(texts("clients.withdraw"))</button></form></td></tr>
                """
        }
        return table(
            "may\(client.id)", texts("clients.may"),
            ["clients.type", "clients.reads", "clients.writes", "clients.change"].map { texts($0) }, rows)
    }

    /// A form that widens or narrows a grant.
    private static func change(_ grant: Grant, _ client: Client, _ own: SampleStore, _ call: PageCall) throws -> HTML {
        let (texts, name) = (call.texts, name(of: grant.type, call))
        func form(_ fields: HTML) -> HTML {
            """
            <form method="post" action="/page/clients/\(Int(client.id))"><input type="hidden" name="do" value="read"><input type="hidden" name="type" value="\(grant.type.id)">\
            \(fields) <button class="quiet" aria-label="\(texts("clients.setOf", name))">\(texts("clients.set"))</button></form>
            """
        }
        switch grant.reading {
        case .none: return ""
        case .from: return form(date(grant.type, day(grant.reading, call), call))
        case .objects(let future):
            let objects = try objects(of: grant.type, try readable(grant.type, by: client, call), future, own, call)
            return "<details><summary>\(texts("clients.which"))</summary>\(form(objects))</details>"
        }
    }

    /// The first readable day in the format of a browser's date field.
    private static func day(_ reading: Grant.Reading, _ call: PageCall) -> String {
        guard case .from(let start) = reading, reading != .all else { return "" }
        return call.times.date(start)
    }

    private static func words(_ reading: Grant.Reading, _ call: PageCall) -> String {
        switch reading {
        case .none: call.texts("clients.no")
        case .all: call.texts("clients.yes")
        case .from(let start): call.texts("clients.from", call.times.day(start))
        case .objects(future: false): call.texts("clients.some")
        case .objects(future: true): call.texts("clients.someAndFuture")
        }
    }

    static func table(_ id: String, _ caption: String, _ heads: [String], _ rows: [HTML]) -> HTML {
        let heads: [HTML] = heads.map { "<th scope=\"col\">\($0)</th>" }
        return """
            <div class="scroll" role="region" tabindex="0" aria-labelledby="\(id)"><table><caption id="\(id)">\(caption)</caption>
            <thead><tr>\(heads)</tr></thead><tbody>\(rows)</tbody></table></div>
            """
    }

    /// The form that grants a client read access to one of the person's types. Clinical records are granted one by one, after a request.
    private static func granting(
        _ client: Client, _ records: OwnRecords, _ own: SampleStore, _ call: PageCall
    ) throws -> HTML {
        let granted = Set(try records.grants(of: client).filter { $0.reading != .none }.map(\.type))
        let types = try Set(own.samples.latest().map(\.sample.origin.type)).compactMap { ObjectType($0.id) }
            .filter { !granted.contains($0) && !$0.isAskedByObject }.map { (value: $0.id, text: name(of: $0, call)) }
            .sorted { ($0.text, $0.value) < ($1.text, $1.value) }
        guard !types.isEmpty else { return "" }
        let texts = call.texts
        let options: [HTML] = types.map { "<option value=\"\($0.value)\">\($0.text)</option>" }
        return """
            <form class="grant" method="post" action="/page/clients/\(Int(client.id))"><input type="hidden" name="do" value="grant">\
            <label>\(texts("clients.grantType")) <select name="type">\(options)</select></label> \
            <button class="quiet" id="grant\(Int(client.id))" aria-labelledby="grant\(Int(client.id)) client\(Int(client.id))">\(texts("clients.grant"))</button></form>
            """
    }

    /// The programs that may read a type, on the page of the type, and a button for each one that may not. Empty without programs.
    static func readers(of sampleType: SampleType, _ own: SampleStore, _ call: PageCall) throws -> HTML {
        guard sampleType.kind != .correlation, let type = ObjectType(sampleType.id), !type.isAskedByObject else { return "" }
        let (texts, records) = (call.texts, try call.records())
        let rows: [HTML] = try records.clients().map { client in
            let grant = try records.grants(of: client).first { $0.type == type && $0.reading != .none }
            let allow: HTML = """
                <form class="inline" method="post" action="/page/clients/\(Int(client.id))">\
                \(FormFields.hidden([("do", "grant"), ("type", type.id), ("then", "type")]))\
                <button class="quiet" id="grant\(Int(client.id))" aria-labelledby="grant\(Int(client.id)) client\(Int(client.id))">\(texts("clients.grant"))</button></form>
                """
            return """
                <li><span class="grow"><span id="client\(Int(client.id))">\(client.name)</span><small class="s">\(client.purpose)</small></span>\
                \(grant.map { "<span class=\"val s\">\(texts("clients.reads")): \(words($0.reading, call))</span>" } ?? allow)</li>

                """
        }
        guard !rows.isEmpty else { return "" }
        return KindPage.more(texts("nav.clients"), "<ul class=\"rows\">\(rows)</ul>")
    }

    // MARK: What it read

    private static func ledger(of client: Client, _ records: OwnRecords, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let entries = try records.readLedger(of: client)
        guard !entries.isEmpty else { return "" }
        let rows: [HTML] = entries.suffix(maximumEntries).reversed().map { entry in
            let name = ObjectType(entry.type).map { Self.name(of: $0, call) } ?? entry.type
            return
                "<tr><th scope=\"row\">\(call.times.written(entry.day))</th><td>\(name)</td><td>\(PageValues.grouped(Int64(entry.count)))</td></tr>"
        }
        return "<details><summary>\(texts("clients.read"))</summary>"
            + table(
                "read\(client.id)", texts("clients.ledger"), ["clients.day", "clients.type", "clients.count"].map { texts($0) },
                rows)
            + "</details>"
    }

    // MARK: Answers

    @Sendable private static func answer(_ call: PageCall) throws -> HTTPResponse {
        let (records, changes) = (try call.records(), try call.changes())
        guard let client = try records.clients().first(where: { "\($0.id)" == call.variables[0] }) else {
            throw PageProblem(404, "client")
        }
        let known = try records.grants(of: client)
        func change(
            _ type: ObjectType, _ accesses: Set<Grant.Access>, objects: [SampleIdentity] = [], _ body: (inout Grant) -> Void
        ) throws {
            var grant =
                known.first { $0.type == type } ?? Grant(person: changes.person, type: type, reading: .none, mayWrite: false)
            body(&grant)
            // An object may have been deleted since the page was shown.
            try call.doing {
                try changes.set(
                    grant, objects: accesses.contains(.read) ? objects : [], accesses: accesses, of: client, at: call.now)
            }
        }
        switch call.text("do") {
        case "withdraw":
            guard let type = call.text("type").flatMap({ ObjectType($0) }) else {
                throw PageProblem(400, "field", "type")
            }
            if known.contains(where: { $0.type == type }) {
                try change(type, [.read, .write]) { ($0.reading, $0.mayWrite) = (.none, false) }
            }
        case "grant":
            guard let type = call.text("type").flatMap({ ObjectType($0) }), !type.isAskedByObject else {
                throw PageProblem(400, "field", "type")
            }
            try change(type, [.read]) { $0.reading = .all }
            if call.text("then") == "type" { return call.see("/page/type/\(type.id)") }
        case "read":
            // This only changes what the client may already read. Further access has to be requested first.
            guard let type = call.text("type").flatMap({ ObjectType($0) }),
                let grant = known.first(where: { $0.type == type && $0.reading != .none })
            else { throw PageProblem(400, "notReadable") }
            let (reading, objects) = try reading(type, grant.reading, client, call)
            try change(type, [.read], objects: objects) { $0.reading = reading }
        case "answer":
            let requests = [try records.openRequest(of: client), try records.refusedRequest(of: client)].compactMap { $0 }
            for asked in call.list("asked") {
                let parts = asked.split(separator: ".", maxSplits: 1).map(String.init)
                guard parts.count == 2, let access = Grant.Access(rawValue: parts[0]), let type = ObjectType(parts[1]) else {
                    throw PageProblem(400, "field", "asked")
                }
                // Only open requests are answered, since the page may be out of date.
                guard requests.contains(where: { (access == .read ? $0.read : $0.write).contains(type) }) else { continue }
                let isGranted = call.list("yes").contains(asked)
                guard access == .read else {
                    try change(type, [.write]) { $0.mayWrite = isGranted }
                    continue
                }
                guard isGranted || type.isAskedByObject else {
                    try change(type, [.read]) { $0.reading = .none }
                    continue
                }
                let (reading, objects) = try reading(type, .none, client, call)
                try change(type, [.read], objects: objects) { $0.reading = reading }
            }
        default: throw PageProblem(400, "field", "do")
        }
        return call.see("/page/clients")
    }

    /// The new read access to a type according to the form, replacing the current one.
    private static func reading(
        _ type: ObjectType, _ before: Grant.Reading, _ client: Client, _ call: PageCall
    ) throws -> (Grant.Reading, [SampleIdentity]) {
        guard type.isAskedByObject else {
            guard let day = call.text("from.\(type.id)") else { return (.all, []) }
            // If the day did not change, the exact start time is kept.
            if day == Self.day(before, call) { return (before, []) }
            guard day.utf8.count == 10, let start = Instant(written: day, now: call.now, zone: call.zone) else {
                throw PageProblem(400, "date")
            }
            return (.from(start), [])
        }
        let future = call.list("future").contains(type.id)
        func named(_ field: String) -> Set<SampleIdentity> {
            Set(call.list("\(field).\(type.id)").compactMap { SampleIdentity($0) })
        }
        // Objects that the form did not show keep their state.
        let retained = before == .none ? [] : try readable(type, by: client, call).subtracting(named("shown"))
        let objects = named("object").union(retained)
        return (objects.isEmpty && !future ? .none : .objects(future: future), Array(objects))
    }
}
