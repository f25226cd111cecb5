import Formats
import FoundationEssentials
import HTTPServerKit
import HealthModel
import SampleStore

/// The routes for a client's access requests and their status.
enum AuthorizationRoutes {
    private static let schema = """
        {"type":"object","additionalProperties":false,"properties":{"subject":\(HTTPDocument.person(orNobody: false)),\
        "read":{"type":"array","items":\(TypeNames.objects.reference)},"write":{"type":"array","items":\(TypeNames.objects.reference)},\
        "requires":{"type":"array","items":\(TypeNames.clinical.reference),"description":"Clinical types to be read without which the program does not work; three or more."}},\
        "examples":[{"read":["heartRate"],"write":["bodyMass"]}]}
        """

    static let request = Route(
        method: "POST", path: "/v1/authorization", name: "requestAuthorization", summary: "Ask a person for types.",
        discussion: """
            The person is shown the types with the client's purpose, and answers in their own time. The answer says whether one of them was not \
            answered yet (shouldRequest) or each was (unnecessary), whatever the answer was. Where each was and one of those required was refused, \
            the answer is 403, and does not say which. The required types are set when the client is added or first asks with them. Other ones \
            later are refused with 409, and only a person changes them.
            """,
        body: RequestBody(forms: [.json], most: 64 << 10, schema: schema), isWriting: true, answers: [.json],
        problems: [403, 409, 429],
        answer: request)

    private static func types(_ name: String, _ help: String) -> Parameter {
        Parameter(name: name, form: .names(.objects), help: help)
    }

    static let status = Route(
        method: "GET", path: "/v1/authorization/status", name: "authorizationStatus",
        summary: "Whether a person would be asked for types.",
        discussion: "Never what was granted: shouldRequest where one of them was not answered yet, else unnecessary.",
        parameters: [
            types("read", "Types to be read, joined by commas."), types("write", "Types to be written, joined by commas."),
            Parameter(name: "subject", form: .person(orNobody: false), help: "A person: me or a UUID; me without it."),
        ],
        answers: [.json], problems: [422], answer: status)

    private struct Question: Decodable {
        var subject: String?
        var read: [String] = []
        var write: [String] = []
        var requires: [String] = []

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            for key in members.allKeys {
                switch key.stringValue {
                case "subject": subject = try members.decode(String.self, forKey: key)
                case "read": read = try members.decode([String].self, forKey: key)
                case "write": write = try members.decode([String].self, forKey: key)
                case "requires": requires = try members.decode([String].self, forKey: key)
                default: throw Problem(400, "unknown member; known are subject, read, write, requires")
                }
            }
        }
    }

    private static func types(_ names: [String], _ member: String) throws -> Set<ObjectType> {
        Set(
            try names.map { name in
                guard let type = ObjectType(name), SampleType(name)?.isKnown ?? true else {
                    throw Problem(400, "\(member): there is no such type; 'vitalgate types' lists them")
                }
                return type
            })
    }

    private static func writable(_ names: [String]) throws -> Set<ObjectType> {
        let types = try types(names, "write")
        let readOnly = types.filter(\.isReadOnly).sorted()
        guard readOnly.isEmpty else {
            throw Problem(422, "write: may only be read: \(readOnly.map(\.id).joined(separator: ", "))")
        }
        return types
    }

    private static func subject(_ text: String?, _ store: SampleStore) throws -> String {
        guard let text, text != "me" else { return store.subject }
        guard UUIDText.isValid(text) else { throw Problem(400, "subject: expected me or a UUID") }
        return text.lowercased()
    }

    private static func answer(_ call: Call, _ status: RequestStatus) -> HTTPResponse {
        var object = JSONObject()
        object.set("status", status.rawValue)
        return HTTPResponse(type: call.form.type, object.line)
    }

    @Sendable private static func request(_ call: Call) throws -> HTTPResponse {
        let caller = try call.caller()
        let question: Question
        do {
            question = try JSONDecoder().decode(Question.self, from: Data(call.body.octets))
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(400, "expected an object of JSON with lists of types: read, write, requires")
        }
        let required = try types(question.requires, "requires")
        guard required.isEmpty || (required.count >= 3 && required.allSatisfy(\.isAskedByObject)) else {
            throw Problem(422, "requires: three or more types of clinical records or documents")
        }
        let (read, write) = (try types(question.read, "read"), try writable(question.write))
        guard !(read.isEmpty && write.isEmpty && required.isEmpty) else { throw Problem(422, "it asks for nothing") }
        return try call.core.writer.write { store in
            let request = AuthorizationRequest(
                subject: try subject(question.subject, store), read: read.union(required), write: write)
            guard try store.openRequests(of: caller.client).count(where: { $0.subject != request.subject }) < mostPersons else {
                throw Problem(429, "too many persons were asked that have not answered")
            }
            if !required.isEmpty {
                let fixed = try store.requiredTypes(of: caller.client)
                guard fixed ?? required == required else {
                    throw Problem(409, "requires: it was set before, and only a person changes it")
                }
                if fixed == nil { try store.setRequiredTypes(required, of: caller.client) }
            }
            try store.request(request, for: caller.client, at: call.core.settings.now())
            let status = try store.status(of: request, for: caller.client)
            if status == .unnecessary, !required.isEmpty {
                do {
                    try store.require(required, of: request.subject, for: caller.client)
                } catch let error as StoreError where error.kind == .invalid {
                    throw Problem(403, "a required type was not granted")
                }
            }
            return answer(call, status)
        }
    }

    /// The limit applies to all UUIDs, including those of unknown people.
    private static let mostPersons = 16

    @Sendable private static func status(_ call: Call) throws -> HTTPResponse {
        let (reader, caller) = (try call.reader(), try call.caller())
        func names(_ parameter: String) -> [String] {
            call.text(parameter)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let request = AuthorizationRequest(
            subject: try subject(call.text("subject"), reader.store), read: try types(names("read"), "read"),
            write: try writable(names("write")))
        guard !(request.read.isEmpty && request.write.isEmpty) else { throw Problem(422, "read, write: one of them is needed") }
        return answer(call, try reader.store.status(of: request, for: caller.client))
    }
}
