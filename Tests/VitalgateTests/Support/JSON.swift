import FoundationEssentials
import PipelineTesting

typealias JSON = PipelineTesting.JSON

extension Vitalgate.Run {
    /// Each line of standard output as JSON.
    func objects() throws -> [JSON] { try lines.map { try JSON($0) } }
}

/// The ledger's account as `import` and `ledger show` print it.
struct Account: Decodable, Hashable {
    var ingest: Int?
    var file: String?
    var profile: String?
    var read: Int
    var stored: Int
    var duplicate: Int
    var quarantined: Int
    var refused: Int
    var skipped: [String: Int]
    var state: String?
    var zone: String?

    init(_ line: String) throws { self = try JSONDecoder().decode(Account.self, from: Data(line.utf8)) }

    /// Promise 1: every reading ended in exactly one place.
    var addsUp: Bool { read == stored + duplicate + quarantined + refused }
}
