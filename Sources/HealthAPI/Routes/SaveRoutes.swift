import FileSource
import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import Pipeline
import SampleStore

/// The routes for saving and deleting a client's own objects, within its grants.
enum SaveRoutes {
    private static let schema = """
        {"oneOf":[{"type":"object","required":["samples"],"properties":{"samples":{"type":"array","minItems":1,"maxItems":10000,\
        "items":{"$ref":"#/components/schemas/Sample"}}}},{"$ref":"#/components/schemas/Sample"}]}
        """

    private static var text: String {
        let schema = JSONObject(["type": "string", "examples": [HTTPDocument.example + "\n"]])
        return String(decoding: schema.closed, as: UTF8.self)
    }

    static let save = Route(
        method: "POST", path: "/v1/samples", name: "saveSamples", summary: "Save objects, all or none.",
        discussion: """
            Each object has the form of an NDJSON line for import: type, start with a time zone, and the members of its type. Omit uuid, \
            identity, source, and group, because the client is the source. Objects with syncIdentifier and syncVersion in their metadata \
            are versions of one record, and the highest version is kept. The response lists the UUID and the outcome of each object, in \
            order: stored, known (the same object again, or a version that is not higher), or held (the value cannot be true and is \
            quarantined until a person decides). Repeating a request changes nothing. With the same Idempotency-Key, it also gets the \
            same response.
            """,
        parameters: [
            Parameter(
                name: "Idempotency-Key", form: .field(maximum: 255),
                help: "Unique name of the request, at most 255 bytes. It is kept for a week.",
                isInHeader: true)
        ],
        body: RequestBody(forms: [.ndjson, .json], maximum: 16 << 20, schema: schema, text: text), isWriting: true,
        answers: [.json],
        key: "samples", item: "{\"$ref\":\"#/components/schemas/SavedSample\"}", links: ["sample", "deleteSample"],
        problems: [403], answer: save)

    static let delete = Route(
        method: "DELETE", path: "/v1/samples/{uuid}", name: "deleteSample", summary: "Delete an object that the client saved.",
        discussion:
            "Objects of other sources get 404, like objects that do not exist. The parts of a correlation or workout are kept.",
        parameters: [
            .uuid,
            Parameter(
                name: "If-Match", form: .field(maximum: 1000),
                help: "ETag of the object. The object is deleted only if its current ETag is the same.",
                isInHeader: true),
        ], isWriting: true, answers: [], problems: [404, 412], answer: delete)

    @Sendable private static func save(_ call: Call) throws -> HTTPResponse {
        let (caller, settings) = (try call.caller(), call.core.settings)
        let key = call.text("Idempotency-Key")
        let received = settings.now()
        let days = CalendarIntervals(.day, zone: settings.zone)
        let today = days.index(of: received)
        let day = days.start(of: today).microseconds..<days.start(of: today + 1).microseconds
        try call.core.disk.take(call.body.bytes.count, for: .client(caller.id), at: received)
        return try call.core.writer.write(for: caller.client) { changes in
            let readings = try SavedLines.readings(
                of: call.body.bytes, isJSON: call.body.form == .json,
                by: SourceRevision(id: caller.client.source, name: caller.client.name, version: nil),
                // Device aliases are not applied because they would reveal which devices exist.
                registry: OriginRegistry(person: changes.owner))
            let samples = try readings.map { reading in
                guard let first = try ReadingPath.samples(of: [reading], zone: settings.zone, received: received).first else {
                    throw Refusal("it is not a sample", at: reading.place)
                }
                return first
            }
            let request = ClientRequest(key: key, bytes: call.body.bytes)
            let outcomes: [SampleOutcome]
            do throws(ClientWriteError) {
                outcomes = try changes.save(samples, request, at: received, within: day)
            } catch .other(let error as RefusedObject) {
                throw Refusal(error.fault.description, at: readings[error.index].place)
            } catch {
                throw problem(error)
            }
            return call.list(zip(samples, outcomes).map { object($0.sample, $1).closed })
        }
    }

    private static func problem(_ error: ClientWriteError) -> any Error {
        switch error {
        case .notGranted(let types):
            Problem(403, "The client may not write these types: \(types.map(\.id).joined(separator: ", ")).")
        case .tooEarly(let type): Problem(422, "A sample of type \(type.id) ended before the earliest date that the store keeps.")
        case .tooManySeries: Problem(422, "A client can have at most 1,000 series, one for each person, type, and device.")
        case .otherRequest: Problem(422, "This Idempotency-Key was used for another request.")
        case .other(let error): error
        }
    }

    private static func object(_ sample: Sample, _ outcome: SampleOutcome) -> JSONObject {
        var object = JSONObject(["uuid": sample.identity.description, "type": sample.origin.type.id])
        switch outcome {
        case .stored: object.set("outcome", "stored")
        case .duplicate, .refused: object.set("outcome", "known")
        case .quarantined: object.set("outcome", "held")
        }
        return object
    }

    @Sendable private static func delete(_ call: Call) throws -> HTTPResponse {
        let caller = try call.caller()
        guard let uuid = call.text("uuid").flatMap({ SampleIdentity($0) }) else { throw SampleRoutes.unknown }
        // The comparison uses the sample as the client sees it, since references to other samples may be hidden. A sample never
        // changes.
        let shown = try call.text("If-Match").flatMap { _ in try call.reader().store.samples.sample(uuid)?.sample }
        return try call.core.writer.write(for: caller.client) { changes in
            let isDeleted = try changes.delete(
                uuid, at: call.core.settings.now(),
                where: { sample in
                    guard let tags = call.text("If-Match"), !SampleRoutes.matches(tags, shown ?? sample, me: changes.owner)
                    else { return }
                    throw Problem(412, "The ETag of the object does not match If-Match.")
                })
            guard isDeleted else { throw SampleRoutes.unknown }
            return HTTPResponse(status: 204)
        }
    }
}
