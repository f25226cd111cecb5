import FoundationEssentials
import HealthModel
import Pipeline

/// A collector's answer. A receipt is sent after the database has committed, so it means that everything is stored.
package enum FleetReply: Sendable {
    /// A delivery was stored, except for this number of changes that the database cannot store.
    case receipt(leftOut: Int)
    /// The database's identity and the hub's mark there.
    case found(FoundMark?)
    /// Whether a mark was written.
    case claimed(Bool)
    case checked([Finding])
    /// Samples in the database, in the order of UUIDs. Fewer than ``maximumIdentities`` are the last ones.
    case contents([TargetSample])
    /// Digests in the order of days and types. Fewer than ``maximumDigests`` are the last ones.
    case digests([SampleDigest])
    /// Counts in the order of types and days. Fewer than ``maximumCounts`` are the last ones.
    case counts([DayCount])
    /// The hub's report is stored, and these are the next orders.
    case orders([FleetOrder])
    /// The number of the hub's next request that has one. If the request had another number, it was not carried out.
    case number(Int64)
    /// The hub belongs to the fleet.
    case joined(JoinReply)
    /// The error of the database or of the request.
    case failure(DeliveryError)
}

extension FleetReply {
    /// The number of UUIDs in a reply.
    package static let maximumIdentities = 5000

    package static let maximumDigests = 10_000

    package static let maximumCounts = 5000

    package var bytes: [UInt8] { (try? JSONEncoder().encode(Form(self))).map(Array.init) ?? [] }

    /// Reads a collector's reply, or returns `nil` if the bytes are something else.
    package init?(bytes: [UInt8]) {
        guard let form = try? JSONDecoder().decode(Form.self, from: Data(bytes)), let reply = form.reply else { return nil }
        self = reply
    }
}

/// The members of a reply in JSON. Exactly one of them is present.
private struct Form: Codable {
    var leftOut: Int?
    var found: Found?
    var claimed: Bool?
    var findings: [Line]?
    var contents: [StoredContent]?
    var digests: [Digest]?
    var counts: [Count]?
    var orders: [FleetOrder]?
    var number: Int64?
    var joined: String?
    var commandKey: String?
    var proof: String?
    var sealingKey: String?
    var sealingProof: String?
    var hubKey: String?
    var failure: Failure?

    struct Found: Codable {
        var identity: String?
        var mark: TargetMark?
        var keepsMarks: Bool
    }

    struct Line: Codable {
        var weight: String
        var subject: String
        var text: String
    }

    /// A sample, with its hash in base 16.
    struct StoredContent: Codable {
        var u: String
        var p: String?
    }

    /// A digest: the day, type, count, and hash in base 16.
    struct Digest: Codable {
        var d: Int
        var t: String
        var c: Int
        var p: String
    }

    struct Count: Codable {
        var type: String
        var day: String
        var count: Int
    }

    struct Failure: Codable {
        var kind: String
        var reason: String
        var isLasting: Bool?
        var seconds: Int?
        var indexes: [Int]?
    }

    init(_ reply: FleetReply) {
        switch reply {
        case .receipt(let count): leftOut = count
        case .found(let mark): found = Found(identity: mark?.identity, mark: mark?.mark, keepsMarks: mark != nil)
        case .claimed(let isClaimed): claimed = isClaimed
        case .checked(let all): findings = all.map { Line(weight: $0.weight.rawValue, subject: $0.component, text: $0.text) }
        case .contents(let all):
            contents = all.map { StoredContent(u: $0.identity.description, p: $0.print.map { String($0, radix: 16) }) }
        case .digests(let all):
            digests = all.map { Digest(d: $0.place.day, t: $0.place.type, c: $0.count, p: String($0.print, radix: 16)) }
        case .counts(let all): counts = all.map { Count(type: $0.type, day: $0.day, count: $0.count) }
        case .orders(let all): orders = all
        case .number(let next): number = next
        case .joined(let reply):
            (joined, commandKey, proof) = (reply.name, reply.commandKey, reply.proof)
            (sealingKey, sealingProof, hubKey) = (reply.sealingKey, reply.sealingProof, reply.hubKey)
        case .failure(let error): failure = Failure(error)
        }
    }

    var reply: FleetReply? {
        if let leftOut { return .receipt(leftOut: leftOut) }
        if let found {
            return .found(found.keepsMarks ? FoundMark(identity: found.identity, mark: found.mark) : nil)
        }
        if let claimed { return .claimed(claimed) }
        if let findings {
            return .checked(findings.map { Finding(Finding.Weight(rawValue: $0.weight) ?? .warning, $0.subject, $0.text) })
        }
        if let contents {
            let all = contents.compactMap { stored in
                SampleIdentity(stored.u).map { TargetSample($0, print: stored.p.flatMap { UInt64($0, radix: 16) }) }
            }
            return all.count == contents.count ? .contents(all) : nil
        }
        if let digests {
            return .digests(
                digests.map {
                    SampleDigest(SampleDigest.Place(day: $0.d, type: $0.t), count: $0.c, print: UInt64($0.p, radix: 16) ?? 0)
                })
        }
        if let counts { return .counts(counts.map { DayCount(type: $0.type, day: $0.day, count: $0.count) }) }
        if let orders { return .orders(orders) }
        if let number { return .number(number) }
        if let joined {
            var reply = JoinReply(name: joined, commandKey: commandKey, proof: proof)
            (reply.sealingKey, reply.sealingProof, reply.hubKey) = (sealingKey, sealingProof, hubKey)
            return .joined(reply)
        }
        return failure.map { .failure($0.error) }
    }
}

extension Form.Failure {
    fileprivate init(_ error: DeliveryError) {
        self.init(kind: "", reason: error.reason, isLasting: error.isLasting ? true : nil)
        switch error.kind {
        case .unreachable: kind = "unreachable"
        case .busy(let pause): (kind, seconds) = ("busy", Int(clamping: pause.components.seconds))
        case .tooLarge: kind = "tooLarge"
        case .refused: kind = "refused"
        case .refusedSome(let some): (kind, indexes) = ("refusedSome", some)
        case .unauthorised: kind = "unauthorised"
        case .forbidden: kind = "forbidden"
        case .unfit: kind = "unfit"
        }
    }

    fileprivate var error: DeliveryError {
        var error = errorOfKind
        error.isLasting = isLasting ?? false
        return error
    }

    private var errorOfKind: DeliveryError {
        switch kind {
        case "busy": DeliveryError(.busy(.seconds(max(1, min(seconds ?? 1, 86_400)))), reason)
        case "tooLarge": DeliveryError(.tooLarge, reason)
        case "refused": DeliveryError(.refused, reason)
        case "refusedSome": DeliveryError(.refusedSome(indexes ?? []), reason)
        case "unauthorised": DeliveryError(.unauthorised, reason)
        case "forbidden": DeliveryError(.forbidden, reason)
        case "unfit": DeliveryError(.unfit, reason)
        // Also for a kind that only a newer collector knows.
        default: DeliveryError(.unreachable, reason)
        }
    }
}
