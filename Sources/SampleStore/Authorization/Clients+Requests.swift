import HealthModel

/// Whether a person would be asked. A client learns nothing else about its request.
public enum RequestStatus: String, Hashable, Sendable {
    /// At least one permission has not been answered yet.
    case shouldRequest
    /// Every permission was answered, either way.
    case unnecessary
}

/// The permissions that a client requests from a person.
public struct AuthorizationRequest: Hashable, Sendable {
    /// The person who is asked.
    public var person: String
    /// The types to read.
    public var read: Set<ObjectType>
    /// The types to write.
    public var write: Set<ObjectType>

    /// Creates a request.
    public init(person: String, read: Set<ObjectType> = [], write: Set<ObjectType> = []) {
        (self.person, self.read, self.write) = (person, read, write)
    }

    fileprivate var parts: [(type: ObjectType, access: String)] {
        read.sorted().map { ($0, "read") } + write.sorted().map { ($0, "write") }
    }
}

extension SampleStore.Clients {
    /// Stores a client's request until the person answers it (``set(_:objects:of:at:)``). Permissions that were
    /// answered before are not asked again.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the request names no type.
    public func request(_ request: AuthorizationRequest, for client: Client, at time: Instant) throws {
        guard !request.parts.isEmpty else { throw StoreError(.invalid, "a request must name at least one type") }
        try connection.transaction {
            guard try self.client(named: client.name)?.id == client.id else {
                throw StoreError(.invalid, "there is no such client")
            }
            for (type, access) in request.parts {
                try connection.run(
                    "INSERT OR IGNORE INTO asked(client, subject, type, access, asked) VALUES(?, ?, ?, ?, ?)",
                    .integer(client.id),
                    .text(request.person), .text(type.id), .text(access), .integer(time.microseconds))
            }
        }
    }

    /// Whether a person would be asked if a client made this request. The status does not reveal which permissions were
    /// granted.
    public func status(of request: AuthorizationRequest, for client: Client) throws(StoreError) -> RequestStatus {
        for (type, access) in request.parts {
            let answered = try connection.integer(
                """
                SELECT 1 FROM main.asked
                WHERE client = ? AND subject = ? AND type = ? AND access = ? AND answered IS NOT NULL
                """, .integer(client.id), .text(request.person), .text(type.id), .text(access))
            if answered == nil { return .shouldRequest }
        }
        return .unnecessary
    }

    /// The unanswered requests of a client, by person.
    public func openRequests(of client: Client) throws(StoreError) -> [AuthorizationRequest] {
        try requests(of: client, where: "answered IS NULL")
    }

    /// The requests and earlier grants of a client that are now refused, by person. The person can answer them again.
    public func refusedRequests(of client: Client) throws(StoreError) -> [AuthorizationRequest] {
        try requests(
            of: client,
            where: "answered IS NOT NULL AND NOT \(GrantTable.isGranted)")
    }

    /// Records that a person answered.
    func noteAnswer(
        to accesses: Set<Grant.Access>, of grant: Grant, _ client: Client, at time: Instant
    ) throws(StoreError) {
        for access in accesses {
            try connection.run(
                """
                INSERT INTO asked(client, subject, type, access, answered) VALUES(?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET answered = excluded.answered
                """, .integer(client.id), .text(grant.person), .text(grant.type.id), .text(access.rawValue),
                .integer(time.microseconds))
        }
    }

    /// Whether a client ever requested, was granted, or read data of a person.
    public func isKnown(_ client: Client, to person: String) throws(StoreError) -> Bool {
        for table in ["asked", "granted", "read_by"] {
            let row = try connection.integer(
                "SELECT 1 FROM \(table) WHERE client = ? AND subject = ? LIMIT 1", .integer(client.id), .text(person))
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
            var request = AuthorizationRequest(person: statement.text(0))
            if requests.last?.person == request.person, let last = requests.popLast() { request = last }
            if statement.text(2) == "read" { request.read.insert(type) } else { request.write.insert(type) }
            requests.append(request)
        }
        return requests
    }
}

extension SampleStore.Clients {
    /// The clinical types that a client requires to work, or `nil` if neither a person nor the client has set them.
    public func requiredTypes(of client: Client) throws(StoreError) -> Set<ObjectType>? {
        try requiredTypeIDs(of: client).map { Set($0.compactMap { ObjectType($0) }) }
    }

    /// Sets the clinical types that a client requires to work. An empty set means that it requires none.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if there are only one or two types, or if a type is not granted
    ///   object by object.
    public func setRequiredTypes(_ types: Set<ObjectType>, of client: Client) throws {
        guard types.isEmpty || Self.isRequirable(types) else { throw Self.notRequirable }
        try connection.transaction {
            try setRequiredTypeIDs(types.sorted().map(\.id), of: client)
        }
    }

    private static func isRequirable(_ types: Set<ObjectType>) -> Bool {
        types.count >= 3 && types.allSatisfy(\.isAskedByObject)
    }

    private static let notRequirable = StoreError(
        .invalid, "required types must be three or more types that are granted for each object separately")

    /// Throws an error if a client lacks one of the clinical types that it requires. The error does not reveal which
    /// types are missing, or how many.
    ///
    /// - Parameter types: At least three types, as in HealthKit. An error about a single type would reveal the person's
    ///   decision on it.
    /// - Throws: ``StoreError`` of the kind `invalid`, with the same message whichever type is missing.
    public func require(_ types: Set<ObjectType>, of person: String, for client: Client) throws(StoreError) {
        guard Self.isRequirable(types) else { throw Self.notRequirable }
        var granted = 0
        for type in types where try startOfReading(type.id, of: person, client) != nil { granted += 1 }
        guard granted == types.count else { throw StoreError(.invalid, "a required type was not granted") }
    }
}
