import HealthModel

/// Whether a person would be asked: all that a client learns of what it asked for.
public enum RequestStatus: String, Hashable, Sendable {
    /// Something was not answered yet.
    case shouldRequest
    /// Each was answered, whatever the answer was.
    case unnecessary
}

/// What a client asks a person for, and was not answered yet.
public struct AuthorizationRequest: Hashable, Sendable {
    /// Of whom.
    public var subject: String
    /// To be read.
    public var read: Set<ObjectType>
    /// To be written.
    public var write: Set<ObjectType>

    /// Puts it together.
    public init(subject: String, read: Set<ObjectType> = [], write: Set<ObjectType> = []) {
        (self.subject, self.read, self.write) = (subject, read, write)
    }

    fileprivate var parts: [(type: ObjectType, access: String)] {
        read.sorted().map { ($0, "read") } + write.sorted().map { ($0, "write") }
    }
}

extension SampleStore {
    /// Keeps what a client asks for, until a person answers (``set(_:objects:of:at:)``). What was answered before is not asked again.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` where it asks for nothing.
    public func request(_ request: AuthorizationRequest, for client: Client, at time: Instant) throws {
        guard !request.parts.isEmpty else { throw StoreError(.invalid, "a request names at least one type") }
        try connection.transaction {
            guard try self.client(named: client.name)?.id == client.id else {
                throw StoreError(.invalid, "there is no such client")
            }
            for (type, access) in request.parts {
                try connection.run(
                    "INSERT OR IGNORE INTO asked(client, subject, type, access, asked) VALUES(?, ?, ?, ?, ?)",
                    .integer(client.id),
                    .text(request.subject), .text(type.id), .text(access), .integer(time.microseconds))
            }
        }
    }

    /// Whether a person would be asked, if a client asked for this; not what it was granted.
    public func status(of request: AuthorizationRequest, for client: Client) throws(StoreError) -> RequestStatus {
        for (type, access) in request.parts {
            let answered = try connection.integer(
                """
                SELECT 1 FROM main.asked
                WHERE client = ? AND subject = ? AND type = ? AND access = ? AND answered IS NOT NULL
                """, .integer(client.id), .text(request.subject), .text(type.id), .text(access))
            if answered == nil { return .shouldRequest }
        }
        return .unnecessary
    }

    /// What a client asked for and nobody answered yet, by person.
    public func openRequests(of client: Client) throws(StoreError) -> [AuthorizationRequest] {
        try requests(of: client, where: "answered IS NULL")
    }

    /// What a client asked for, or was granted before, and may not do now, by person: they may answer again.
    public func refusedRequests(of client: Client) throws(StoreError) -> [AuthorizationRequest] {
        try requests(
            of: client,
            where: """
                answered IS NOT NULL AND NOT EXISTS(SELECT 1 FROM granted AS g
                    WHERE (g.client, g.subject, g.type) = (asked.client, asked.subject, asked.type)
                    AND CASE access WHEN 'read' THEN read_from IS NOT NULL ELSE may_write END)
                """)
    }

    /// Whether a client ever asked for data of a person, was granted or given some.
    public func isKnown(_ client: Client, to subject: String) throws(StoreError) -> Bool {
        for table in ["asked", "granted", "read_by"] {
            let row = try connection.integer(
                "SELECT 1 FROM \(table) WHERE client = ? AND subject = ? LIMIT 1", .integer(client.id), .text(subject))
            if row != nil { return true }
        }
        return false
    }

    private func requests(of client: Client, where condition: String) throws(StoreError) -> [AuthorizationRequest] {
        let statement = try connection.statement(
            "SELECT subject, type, access FROM asked WHERE client = ? AND \(condition) ORDER BY subject, type, access")
        defer { statement.reset() }
        try statement.bind([.integer(client.id)])
        var requests: [AuthorizationRequest] = []
        while try statement.step() {
            guard let type = ObjectType(statement.text(1)) else { continue }
            var request = AuthorizationRequest(subject: statement.text(0))
            if requests.last?.subject == request.subject, let last = requests.popLast() { request = last }
            if statement.text(2) == "read" { request.read.insert(type) } else { request.write.insert(type) }
            requests.append(request)
        }
        return requests
    }
}

extension SampleStore {
    /// The clinical types without which a client does not work; `nil` if neither a person nor the client has said.
    public func requiredTypes(of client: Client) throws(StoreError) -> Set<ObjectType>? {
        let text = try connection.text(
            "SELECT required FROM main.client WHERE id = ? AND required IS NOT NULL", .integer(client.id))
        return text.map { Set($0.split(separator: ",").compactMap { ObjectType(String($0)) }) }
    }

    /// Sets the clinical types without which a client does not work. An empty set says that it needs none.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if they are one or two, or types that are not granted object by object.
    public func setRequiredTypes(_ types: Set<ObjectType>, of client: Client) throws {
        guard types.isEmpty || Self.isRequirable(types) else { throw Self.notRequirable }
        try connection.transaction {
            try connection.run(
                "UPDATE client SET required = ? WHERE id = ?", .text(types.sorted().map(\.id).joined(separator: ",")),
                .integer(client.id))
        }
    }

    private static func isRequirable(_ types: Set<ObjectType>) -> Bool {
        types.count >= 3 && types.allSatisfy(\.isAskedByObject)
    }

    private static let notRequirable = StoreError(
        .invalid, "required types are three or more types that are asked about object by object")

    /// Fails where a client lacks one of the clinical types without which it does not work; it is not told which, nor how many.
    ///
    /// - Parameter types: at least three, as HealthKit has it: an error about one alone would tell what a person said of it.
    /// - Throws: ``StoreError`` of the kind `invalid`, with the same text for each of them that may be missing.
    public func require(_ types: Set<ObjectType>, of subject: String, for client: Client) throws(StoreError) {
        guard Self.isRequirable(types) else { throw Self.notRequirable }
        var granted = 0
        for type in types {
            let count = try connection.integer(
                "SELECT count(*) FROM main.granted WHERE client = ? AND subject = ? AND type = ? AND read_from IS NOT NULL",
                .integer(client.id), .text(subject), .text(type.id))
            granted += Int(count ?? 0)
        }
        guard granted == types.count else { throw StoreError(.invalid, "a required type was not granted") }
    }
}
