import FileSource
import Formats
import FoundationEssentials
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The routes for phones that write the hub's samples to their own stores of health data: `/v1/changes` as records with a key and a version.
enum WriteBackRoutes {
    private static let path = "/v1/changes/write-back"
    private static let maximum = 1000

    static let items = Route(
        method: "GET", path: path, name: "writeBackItems", summary: "List the records that a phone must write or delete.",
        discussion: """
            Only for phones ('vitalgate phones add'), which get samples of their person of the types that they may read and that the \
            phone's store accepts. Samples that came from a phone are left out. Each record has a key for as long as it exists, and a \
            version that rises with each change. Write a record with both (clientRecordId and clientRecordVersion in Health Connect), \
            then report it with POST. A record is listed until it is reported, so a request can be repeated. If more is true, report \
            these records and ask again. Send the last cursor with the next request. If the hub was restored from a backup, it notices \
            this from the cursor and lists all records again with higher versions, as with the cursor 0.
            """,
        parameters: [
            Parameter(
                name: "after", form: .number(0...Int(SampleStore.WriteBack.maximumVersion)),
                help: "Cursor of the last response, or 0 to list all records again."),
            Parameter(name: "limit", form: .number(1...maximum), help: "Maximum number of records (default: 100)."),
        ],
        isWriting: true, answers: [.json], key: "items", item: "{\"$ref\":\"#/components/schemas/WriteBackItem\"}",
        problems: [403], answer: items)

    static let report = Route(
        method: "POST", path: path, name: "reportWriteBack", summary: "Report which records a phone has written.",
        discussion: """
            The outcome of each record is written (also for a deletion), exists (it was there already, or was not there to be deleted), \
            refused (with a reason), or unknown. A record with an outcome is not listed again until it changes. The response contains for \
            each record recorded, outdated (it has another version by now), or unknown. sources are the names under which the phone's \
            store shows the records, such as the app's name and package, so that the hub recognizes them when they come back.
            """,
        body: RequestBody(forms: [.json], maximum: 1 << 20, schema: reportSchema), isWriting: true, answers: [.json],
        key: "results", problems: [403], answer: report)

    // MARK: Items

    /// The number of changes that one request notes, so that others do not wait.
    private static let maximumChanges = 1000

    @Sendable private static func items(_ call: Call) throws -> HTTPResponse {
        let (client, reader, now) = (try call.caller().client, try call.reader(), call.core.settings.now())
        return try call.core.writer.write(for: client) { changes in
            let phone = try phone(client, changes)
            if let after = call.number("after").map({ Int64($0) }) {
                let isOfLostVersion = try after > changes.lastWriteBackVersion()
                if isOfLostVersion || after == 0 { try changes.restart(phone, after: after, at: now) }
            }
            let isNoted = try note(changes, for: phone, reader, at: now)
            let page = try changes.page(for: phone, limit: call.number("limit") ?? 100)
            // A sample that was removed since then is left out, and its deletion is noted with the next request.
            let items = try page.items.compactMap { try object($0, phone, reader)?.closed }
            var bytes = Array("{\"items\":[".utf8) + items.joined(separator: Array(",\n".utf8))
            let tail = JSONObject(["cursor": try changes.lastWriteBackVersion(), "more": page.isCut || !isNoted])
            bytes += "],".utf8 + tail.line.dropFirst()
            return HTTPResponse(type: call.form.type, bytes)
        }
    }

    private static func phone(_ client: Client, _ changes: ClientChanges) throws -> WriteBackPhone {
        guard let app = PhoneApp(id: client.app) else {
            throw Problem(403, "Only phones write records. Add one with 'vitalgate phones add'.")
        }
        guard let phone = try changes.phone(app.store) else { throw Problem(403, "The grants do not show whose phone this is.") }
        return phone
    }

    /// Notes the changes since the last request.
    ///
    /// - Returns: Whether these were all.
    private static func note(
        _ changes: ClientChanges, for phone: WriteBackPhone, _ reader: Reader, at now: Instant
    ) throws -> Bool {
        struct Enough: Error {}
        let earlier = try changes.writeBackAnchor()
        var start = earlier.flatMap { ClientAnchor($0) }
        if let change = start?.change, try !reader.store.changes.knows(change) { start = nil }
        let last = try reader.store.clients.widenings(of: phone.client, after: .max).last
        var end = start ?? ClientAnchor(.beginning, widening: last)
        var batch: [SampleChange] = []
        var isAll = true
        do {
            let readable = ReadableChanges(reader: reader, client: phone.client, types: Set(phone.store.types))
            end = try readable.read(after: end) { event, after in
                guard batch.count < maximumChanges else { throw Enough() }
                if case .change(let change) = event { batch.append(change) }
                end = after
            }
        } catch is Enough {
            isAll = false
        }
        return try changes.note(batch, for: phone, from: earlier, to: end.text, at: now) && isAll
    }

    private static func object(_ item: WriteBackItem, _ phone: WriteBackPhone, _ reader: Reader) throws -> JSONObject? {
        guard let record = phone.store.record(of: item.type) else { return nil }
        var object = JSONObject([
            "key": item.key, "version": item.version, "op": item.isDeletion ? "delete" : "put", "record": record.name,
            "type": record.second == nil ? item.type.id : "bloodPressure",
        ])
        let previous = item.previous.map { JSONObject(["start": time($0.start), "value": $0.value]) }
        guard !item.isDeletion else {
            object.set(["start": time(item.start), "previous": previous])
            return object
        }
        let samples = try item.samples.compactMap { try reader.store.samples.sample($0)?.sample }
        guard let first = samples.first, samples.count == (record.second == nil ? 1 : 2) else { return nil }
        object.set("value", first.value)
        if record.second != nil { object.set("diastolic", samples[1].value) }
        object.set([
            "unit": first.origin.type.canonicalUnit.code, "start": time(first.start), "end": time(first.end),
            "zone": first.zone.map { "\($0)" }, "previous": previous,
        ])
        for sample in samples { reader.countRead(sample) }
        return object
    }

    /// The time with milliseconds, which is what phones store, or with seconds if they are 0.
    private static func time(_ instant: Instant) -> String {
        let text = instant.description
        let (seconds, fraction) = (text.prefix(19), text.dropFirst(19).dropLast().prefix(4))
        return fraction.contains { $0 != "." && $0 != "0" } ? "\(seconds)\(fraction)Z" : "\(seconds)Z"
    }

    static let itemSchema = """
        {"type":"object","required":["key","version","op","record","type","start"],"properties":{\
        "key":{"type":"string","pattern":"^[a-z0-9-]{16,63}$"},"version":{"type":"integer"},"op":{"type":"string","enum":["put","delete"]},\
        "record":{"type":"string","description":"The type in the phone's store."},"type":{"type":"string"},"value":{"type":"number"},\
        "diastolic":{"type":"number","description":"The second value of a blood pressure."},\
        "unit":{"type":"string"},"start":{"type":"string","format":"date-time"},"end":{"type":"string","format":"date-time"},\
        "zone":{"type":["string","null"]},\
        "previous":{"type":"array","description":"The record as it was offered before, for apps that cannot replace or delete it.",\
        "items":{"type":"object","properties":{"start":{"type":"string","format":"date-time"},"value":{"type":"number"}}}}}}
        """

    // MARK: Reports

    private static let reportSchema = """
        {"type":"object","required":["results"],"additionalProperties":false,"properties":{\
        "sources":{"type":"array","maxItems":\(SampleStore.WriteBack.maximumSources),\
        "items":{"type":"string","pattern":"^[^\\\\x00-\\\\x1f\\\\x7f]+$"}},\
        "results":{"type":"array","maxItems":\(maximum),"items":{"type":"object","required":["key","version","outcome"],\
        "additionalProperties":false,"properties":{"key":{"type":"string"},\
        "version":{"description":"The version as a number or as its digits.","anyOf":[\
        {"type":"integer","minimum":1,"maximum":\(SampleStore.WriteBack.maximumVersion)},\
        {"type":"string","pattern":"^([1-9][0-9]{0,14}|[1-3][0-9]{15})$"}]},\
        "outcome":{"type":"string","enum":["written","exists","refused","unknown"]},\
        "reason":{"type":["string","null"],"pattern":"^[^\\\\x00-\\\\x1f\\\\x7f]*$"}}}}},\
        "examples":[{"sources":["Shortcuts"],"results":[{"key":"vitalgate-01a1fcb0-af00-83ad-b75e-7fb35adf4a43",\
        "version":1795242600000000,"outcome":"written"}]}]}
        """

    private struct Body: Decodable {
        var sources: [String]?
        var results: [Result]

        struct Result: Decodable {
            var key: String
            var version: Version
            var outcome: String
            var reason: String?
        }

        /// A number, or its digits as a text.
        struct Version: Decodable {
            var number: Int64

            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                if let number = try? value.decode(Int64.self) {
                    self.number = number
                } else {
                    guard let number = Int64(try value.decode(String.self)) else {
                        throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a version")
                    }
                    self.number = number
                }
            }
        }
    }

    @Sendable private static func report(_ call: Call) throws -> HTTPResponse {
        let client = try call.caller().client
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(call.body.bytes)), body.results.count <= maximum else {
            throw Problem(
                400, "The body must be a JSON object with a list results of at most \(maximum) objects: key, version, outcome.")
        }
        let reports = try body.results.map { result in
            guard let outcome = WriteBackReport.Outcome(rawValue: result.outcome) else {
                let outcomes = WriteBackReport.Outcome.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(400, "'outcome' must be one of \(outcomes).")
            }
            guard (1...SampleStore.WriteBack.maximumVersion).contains(result.version.number) else {
                throw Problem(400, "'version' must be a version that the hub gave.")
            }
            return WriteBackReport(
                key: result.key, version: result.version.number, outcome: outcome,
                reason: try result.reason.flatMap { $0.isEmpty ? nil : try line($0, "reason") })
        }
        let sources = try body.sources?.map { try line($0, "sources") }
        guard sources?.count ?? 0 <= SampleStore.WriteBack.maximumSources else {
            throw Problem(400, "'sources' can have at most \(SampleStore.WriteBack.maximumSources) names.")
        }
        return try call.core.writer.write(for: client) { changes in
            let answers = try changes.acknowledge(
                reports, from: sources, for: try phone(client, changes), at: call.core.settings.now())
            return call.list(
                zip(reports, answers).map { JSONObject(["key": $0.key, "version": $0.version, "result": $1.rawValue]).closed })
        }
    }

    /// A text of one line. A longer reason is cut.
    private static func line(_ text: String, _ name: String) throws -> String {
        var text = text
        while text.utf8.count > SampleStore.WriteBack.maximumTextLength { text.removeLast() }
        guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw Problem(400, "'\(name)' must be single lines of text.")
        }
        return text
    }
}
