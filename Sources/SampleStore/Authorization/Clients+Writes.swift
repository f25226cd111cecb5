import HealthModel
import Pipeline

/// The reason why none of a client's objects were written.
public enum ClientWriteError: Error, Sendable {
    /// The client may not write these types for the given persons.
    case notGranted([ObjectType])
    /// A sample ended before the earliest date that the store keeps for its type.
    case tooEarly(SampleType)
    /// The key was already used for a different request.
    case otherRequest
    /// The client uses more series (combinations of person, type and device) than allowed.
    case tooManySeries
    /// An error of the store.
    case other(any Error)
}

/// The key and content of a request, which identify a retry of the same request.
public struct ClientRequest: Hashable, Sendable {
    fileprivate let key: [UInt8]?
    fileprivate let digest: [UInt8]

    /// Creates a request from its key and its bytes.
    ///
    /// - Parameters:
    ///   - key: The client's idempotency key, or `nil` if the client sent none.
    ///   - bytes: All bytes of the request.
    public init(key: String?, bytes: [UInt8]) {
        (self.key, digest) = (key.map { Digest.sha256(Array($0.utf8)) }, Digest.sha256(bytes))
    }
}

extension SampleStore.Clients {
    /// How long a request is remembered by its key, in microseconds: a week.
    private static let requestKeyLifetime: Int64 = 7 * 86_400_000_000
    /// The maximum number of series of a client. A series is a combination of person, type and device.
    static let maximumClientSeries = 1000
    /// The maximum number of requests per client that are remembered by key.
    private static let maximumRequests = 1000

    /// Stores a client's samples and checks its permission in one transaction. Either all samples are processed, or an
    /// error is thrown and nothing is stored.
    ///
    /// A sample is a duplicate only of the client's own samples. If a device or a file reported the same measurement,
    /// both are kept and linked, and the client does not learn of it.
    ///
    /// - Parameters:
    ///   - request: The request. If its key is already known, the earlier outcomes are returned.
    ///   - day: The day whose ledger entry of this client is continued, in microseconds since 1970.
    /// - Returns: The outcome of each sample, in the given order.
    public func save(
        _ batch: [GatedSample], by client: Client, _ request: ClientRequest, at time: Instant, within day: Range<Int64>
    ) throws(ClientWriteError) -> [SampleOutcome] {
        do {
            return try connection.transaction {
                try checkGranted(batch, to: client)
                try checkSeries(of: batch)
                if let known = try outcomes(of: request, by: client, count: batch.count) { return known }
                let earliest = try SampleStore.earliestPermittedDates(connection)
                for sample in batch.lazy.map(\.sample) where earliest[sample.origin.type].map({ sample.end < $0 }) ?? false {
                    throw ClientWriteError.tooEarly(sample.origin.type)
                }
                var description = IngestDescription(
                    kind: .save, name: client.ledgerName, received: time.microseconds, comparesPaths: false, isOfMember: true)
                description.replacesAcrossDevices = true
                description.linksCopies = true
                description.client = client.source
                let outcomes = try store.samples.save(batch, as: description, within: day)
                try remember(outcomes, of: request, by: client, at: time)
                return outcomes
            }
        } catch let error as ClientWriteError {
            throw error
        } catch {
            throw .other(error)
        }
    }

    private func checkGranted(_ batch: [GatedSample], to client: Client) throws {
        struct Wish: Hashable {
            var type: ObjectType
            var person: String
        }
        let wishes = Set(batch.map { Wish(type: ObjectType($0.sample.origin.type), person: $0.sample.origin.person) })
        guard try self.client(named: client.name)?.id == client.id else {
            throw ClientWriteError.notGranted(Set(wishes.map(\.type)).sorted())
        }
        let refused = try wishes.filter { try !mayWrite($0.type, of: $0.person, client) }
        guard refused.isEmpty else { throw ClientWriteError.notGranted(Set(refused.map(\.type)).sorted()) }
    }

    /// Checks the number of series before anything is stored. Each new series is compared with the others of its type,
    /// so a request with many series would block all other writers.
    private func checkSeries(of batch: [GatedSample]) throws {
        var new: Set<[String]> = []
        for origin in batch.lazy.map(\.sample.origin) {
            new.insert([origin.type.id, origin.person, origin.source.id, origin.device?.key ?? ""])
            guard new.count <= Self.maximumClientSeries else { throw ClientWriteError.tooManySeries }
        }
        for key in new {
            let known = try connection.series.id(type: key[0], person: key[1], source: key[2], device: key[3])
            if known != nil { new.remove(key) }
        }
        guard let source = new.first?[2] else { return }
        guard try connection.series.count(ofSource: source) + new.count <= Self.maximumClientSeries else {
            throw ClientWriteError.tooManySeries
        }
    }

    private static let letters: [(outcome: SampleOutcome, letter: Character)] = [
        (.stored, "s"), (.duplicate, "d"), (.quarantined, "q"), (.refused, "r"),
    ]

    private func outcomes(of request: ClientRequest, by client: Client, count: Int) throws -> [SampleOutcome]? {
        guard let key = request.key else { return nil }
        let saved = try connection.first(
            "SELECT request, outcomes FROM saved_answer WHERE client = ? AND key = ?", [.integer(client.id), .blob(key)]
        ) { (digest: Array($0.blob(0)), letters: $0.text(1)) }
        guard let saved else { return nil }
        let outcomes = saved.letters.compactMap { letter in Self.letters.first { $0.letter == letter }?.outcome }
        guard saved.digest == request.digest, outcomes.count == count else { throw ClientWriteError.otherRequest }
        return outcomes
    }

    private func remember(_ outcomes: [SampleOutcome], of request: ClientRequest, by client: Client, at time: Instant) throws {
        guard let key = request.key else { return }
        let text = String(outcomes.map { outcome in Self.letters.first { $0.outcome == outcome }?.letter ?? "d" })
        try connection.run("DELETE FROM saved_answer WHERE time < ?", .integer(time.microseconds - Self.requestKeyLifetime))
        try connection.run(
            "INSERT INTO saved_answer VALUES(?, ?, ?, ?, ?)", .integer(client.id), .blob(key), .blob(request.digest), .text(text),
            .integer(time.microseconds))
        try connection.run(
            """
            DELETE FROM saved_answer WHERE client = ?1 AND key IN (
                SELECT key FROM saved_answer WHERE client = ?1 ORDER BY time DESC, key LIMIT -1 OFFSET ?2)
            """, .integer(client.id), .integer(Int64(Self.maximumRequests)))
    }

    /// Deletes an object that the client wrote itself, if the client may still write its type.
    ///
    /// - Parameter condition: Throws an error if the object must be kept.
    /// - Returns: Whether an object was deleted. An object of another source counts as missing.
    public func delete(
        _ uuid: SampleIdentity, by client: Client, at time: Instant, where condition: (Sample) throws -> Void
    ) throws -> Bool {
        let description = IngestDescription(
            kind: .delete, name: client.ledgerName, received: time.microseconds)
        let table = connection.samples
        return try store.samples.change(description) { _, deletion in
            var count = 0
            for key in try store.samples.keys(of: uuid, among: .live) {
                guard let sample = try table.sample(at: key, among: .live), sample.origin.source.id == client.source,
                    try mayWrite(ObjectType(sample.origin.type), of: sample.origin.person, client)
                else { continue }
                try condition(sample)
                count += try deletion.delete([key])
            }
            return count
        }.count > 0
    }
}
