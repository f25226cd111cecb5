import Formats
import FoundationEssentials
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The routes for a client's access requests and their status.
enum AuthorizationRoutes {
    private static let schema = """
        {"type":"object","additionalProperties":false,"properties":{"subject":\(HTTPDocument.person(allowsUnassigned: false)),\
        "read":{"type":"array","items":\(TypeNames.objects.reference)},"write":{"type":"array","items":\(TypeNames.objects.reference)},\
        "requires":{"type":"array","items":\(TypeNames.clinical.reference),"description":"Three or more clinical types that the program cannot work without."}},\
        "examples":[{"read":["heartRate"],"write":["bodyMass"]}]}
        """

    static let request = Route(
        method: "POST", path: "/v1/authorization", name: "requestAuthorization", summary: "Request access to types.",
        discussion: """
            The person sees the request with the client's purpose and can answer at any time. The status is shouldRequest if any of the \
            types is unanswered, or unnecessary if all were answered, whether granted or denied. If all were answered and a required \
            type was denied, the response is 403 and does not name the type. The required types are set when the client is added or with \
            its first request. A request with different ones gets 409, because only a person can change them.
            """,
        body: RequestBody(forms: [.json], maximum: 64 << 10, schema: schema), isWriting: true, answers: [.json],
        problems: [403, 409, 429],
        answer: request)

    private static func types(_ name: String, _ help: String) -> Parameter {
        Parameter(name: name, form: .names(.objects), help: help)
    }

    static let status = Route(
        method: "GET", path: "/v1/authorization/status", name: "authorizationStatus",
        summary: "Check whether a request would prompt the person.",
        discussion: """
            The status is shouldRequest if any of the types is unanswered, or unnecessary if all were answered. It does not reveal which \
            types were granted.
            """,
        parameters: [
            types("read", "Types to read, separated by commas."), types("write", "Types to write, separated by commas."),
            Parameter(name: "subject", form: .person(allowsUnassigned: false), help: "Person: me (default) or a UUID."),
        ],
        answers: [.json], problems: [422], answer: status)

    private struct Question: Decodable {
        var person: String?
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
                case "subject": person = try members.decode(String.self, forKey: key)
                case "read": read = try members.decode([String].self, forKey: key)
                case "write": write = try members.decode([String].self, forKey: key)
                case "requires": requires = try members.decode([String].self, forKey: key)
                default: throw Problem(400, "Unknown member. Known members: subject, read, write, requires.")
                }
            }
        }
    }

    private static func types(_ names: [String], _ member: String) throws -> Set<ObjectType> {
        Set(
            try names.map { name in
                guard let type = ObjectType(named: name), SampleType(name)?.isKnown ?? true else {
                    throw Problem(400, "Unknown type in '\(member)'. Run 'vitalgate types' to list all types.")
                }
                return type
            })
    }

    private static func writable(_ names: [String]) throws -> Set<ObjectType> {
        let types = try types(names, "write")
        let readOnly = types.filter(\.isReadOnly).sorted()
        guard readOnly.isEmpty else {
            throw Problem(422, "'write' contains read-only types: \(readOnly.map(\.id).joined(separator: ", ")).")
        }
        return types
    }

    private static func person(_ text: String?, _ owner: String) throws -> String {
        guard let text, text != "me" else { return owner }
        guard UUIDText.isValid(text) else { throw Problem(400, "'subject' must be me or a UUID.") }
        return text.lowercased()
    }

    private static func answer(_ call: Call, _ status: RequestStatus) -> HTTPResponse {
        let object = JSONObject(["status": status.rawValue])
        return HTTPResponse(type: call.form.type, object.line)
    }

    @Sendable private static func request(_ call: Call) throws -> HTTPResponse {
        let caller = try call.caller()
        let question: Question
        do {
            question = try JSONDecoder().decode(Question.self, from: Data(call.body.bytes))
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(400, "The body must be a JSON object with lists of types: read, write, requires.")
        }
        let required = try types(question.requires, "requires")
        guard required.isEmpty || (required.count >= 3 && required.allSatisfy(\.isAskedByObject)) else {
            throw Problem(422, "'requires' must name three or more types of clinical records or documents.")
        }
        let (read, write) = (try types(question.read, "read"), try writable(question.write))
        guard !(read.isEmpty && write.isEmpty && required.isEmpty) else { throw Problem(422, "The request names no types.") }
        return try call.core.writer.write(for: caller.client) { changes in
            let request = AuthorizationRequest(
                person: try person(question.person, changes.owner), read: read.union(required), write: write)
            guard try changes.openRequests().count(where: { $0.person != request.person }) < maximumPersons
            else {
                throw Problem(429, "Too many people have not answered this client's requests yet.")
            }
            if !required.isEmpty {
                let fixed = try changes.requiredTypes()
                guard fixed ?? required == required else {
                    throw Problem(409, "The required types were set before. Only a person can change them.")
                }
                if fixed == nil { try changes.setRequiredTypes(required) }
            }
            try changes.request(request, at: call.core.settings.now())
            let status = try changes.status(of: request)
            if status == .unnecessary, !required.isEmpty {
                do {
                    try changes.require(required, of: request.person)
                } catch let error as StoreError where error.kind == .invalid {
                    throw Problem(403, "A required type was not granted.")
                }
            }
            return answer(call, status)
        }
    }

    /// The limit applies to all UUIDs, including those of unknown people.
    private static let maximumPersons = 16

    @Sendable private static func status(_ call: Call) throws -> HTTPResponse {
        let (reader, caller) = (try call.reader(), try call.caller())
        func names(_ parameter: String) -> [String] {
            call.text(parameter)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let request = AuthorizationRequest(
            person: try person(call.text("subject"), reader.store.owner), read: try types(names("read"), "read"),
            write: try writable(names("write")))
        guard !(request.read.isEmpty && request.write.isEmpty) else { throw Problem(422, "'read' or 'write' is required.") }
        return answer(call, try reader.store.clients.status(of: request, for: caller.client))
    }
}
