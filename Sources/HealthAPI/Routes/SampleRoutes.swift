import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The routes for samples: by type, time and condition, individually, and the latest.
enum SampleRoutes {
    static let samples = Route(
        method: "GET", path: "/v1/samples", name: "samples", summary: "List samples by type, time, and condition.",
        discussion: """
            Sorted by start time unless sort is set. The lines are those of 'vitalgate query --format ndjson' without ingest and seq, \
            which would reveal how much data is hidden.
            """,
        parameters: [
            .types, .from, .to, .person, .source, .device, .condition,
            Parameter(
                name: "sort", form: .text(like: "start", "-start", "-value,start"),
                help:
                    "Sort fields, separated by commas: start (oldest first), -start (newest first), and others such as -value."
            ),
            .limit(.max, "Maximum number of samples (default: all)."), .unit, .zone,
        ],
        slowParameter: "sort", answers: [.json, .ndjson, .csv], key: "samples",
        item: "{\"$ref\":\"#/components/schemas/StoredSample\"}",
        links: ["sample", "rawSample"],
        problems: [422], answer: samples)

    static let sample = Route(
        method: "GET", path: "/v1/samples/{uuid}", name: "sample", summary: "Get one sample.",
        discussion: "The points, resource, or document of the sample are included only with content=true.",
        parameters: [
            .uuid,
            Parameter(name: "content", form: .flag, help: "Include the points, resource, or document of the sample."),
        ],
        answers: [.json], problems: [404], answer: sample)

    static let raw = Route(
        method: "GET", path: "/v1/samples/{uuid}/raw", name: "rawSample",
        summary: "Get a clinical record or document in its original form.",
        discussion: "The FHIR resource or CDA document, byte for byte. Any other sample gets 404.",
        parameters: [.uuid], answers: [.resource, .document], problems: [404], answer: raw)

    static let latest = Route(
        method: "GET", path: "/v1/latest", name: "latest",
        summary: "List the latest sample of each type.",
        discussion: "The latest by start time. Samples that start more than two minutes in the future are ignored.",
        parameters: [.types, .person, .unit], answers: [.json, .ndjson], key: "samples",
        item: "{\"$ref\":\"#/components/schemas/StoredSample\"}", links: ["sample", "rawSample"], problems: [422], answer: latest)

    @Sendable private static func samples(_ call: Call) throws -> HTTPResponse {
        let reader = try call.reader()
        let (zone, types) = (try call.zone(), try call.types())
        let range = try call.range(zone)
        var query = SampleQuery(
            types: types, from: range.from, to: range.to, person: try call.person(reader.store), source: call.text("source"),
            device: call.text("device"), where: try call.condition(for: types, zone, reader.store))
        query.order = try order(call.text("sort"))
        query.limit = call.number("limit")
        query.derivesCorrelations = types?.contains { $0.kind == .correlation } ?? false
        let writer = ObjectWriter(form: call.form, me: reader.store.owner, unit: try call.unit(for: types))
        let stream = try SampleStream(reader, query, writer, call.site.grants, call.caller())
        // All samples must be sorted before the first one is sent.
        if call.text("sort") != nil { try stream.prepare() }
        return HTTPResponse(type: call.form.type, stream)
    }

    private static func order(_ text: String?) throws -> [SampleOrder] {
        guard let text else { return [] }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let orders = words.compactMap { SampleOrder($0) }
        guard words.count <= 8, orders.count == words.count else {
            throw Problem(422, "'sort' must be at most 8 fields such as start, -value, or source.name, separated by commas.")
        }
        return orders
    }

    @Sendable private static func sample(_ call: Call) throws -> HTTPResponse {
        let reader = try call.reader()
        guard let uuid = call.text("uuid").flatMap({ SampleIdentity($0) }),
            let stored = try reader.store.samples.sample(uuid) ?? reader.store.samples.derivedCorrelation(uuid)
        else { throw unknown }
        let named = try RecordNames(reader.store).named(stored).sample
        let bytes = encoded(of: named, me: reader.store.owner, withContent: call.flag("content"))
        reader.countRead(stored.sample)
        var response = HTTPResponse(type: call.form.type, bytes)
        response.headers.append(("ETag", tag(of: bytes)))
        return response
    }

    static let unknown = Problem(404, "Sample not found.")

    private static func encoded(of sample: Sample, me: String, withContent: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        SampleLine(me: me, withContent: withContent).append(sample, ingest: nil, seq: nil, to: &bytes)
        return bytes
    }

    private static func tag(of encoded: [UInt8]) -> String {
        "\"" + Digest.sha256(encoded).prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
    }

    /// Whether `If-Match` matches a sample in either of the representations that the API returns.
    static func matches(_ header: String, _ sample: Sample, me: String) -> Bool {
        let tags = [false, true].map { tag(of: encoded(of: sample, me: me, withContent: $0)) }
        return header.split(separator: ",").contains { part in
            let given = part.drop { $0 == " " }.prefix { $0 != " " }
            return given == "*" || tags.contains(String(given).replacing("-gzip\"", with: "\""))
        }
    }

    @Sendable private static func raw(_ call: Call) throws -> HTTPResponse {
        let reader = try call.reader()
        guard let uuid = call.text("uuid").flatMap({ SampleIdentity($0) }),
            let sample = try reader.store.samples.sample(uuid)?.sample,
            let content = sample.body?.content
        else { throw unknown }
        let form: AnswerForm
        switch sample.origin.kind {
        case .clinicalRecord: form = .resource
        case .document: form = .document
        default: throw unknown
        }
        let encoded = try content.bytes()
        reader.countRead(sample)
        var response = HTTPResponse(type: form.type, encoded)
        response.headers.append(("Content-Disposition", "attachment"))
        response.headers.append(("ETag", tag(of: encoded)))
        return response
    }

    @Sendable private static func latest(_ call: Call) throws -> HTTPResponse {
        let reader = try call.reader()
        let types = try call.types()
        let latest = try LatestSamples.all(
            in: reader.store, of: types, person: try call.person(reader.store), at: call.core.settings.now())
        var writer = ObjectWriter(form: call.form, me: reader.store.owner, unit: try call.unit(for: types))
        let names = RecordNames(reader.store)
        for stored in latest {
            writer.write(try names.named(stored))
            reader.countRead(stored.sample)
        }
        writer.finish()
        return HTTPResponse(type: call.form.type, writer.take())
    }
}
