import HealthModel

/// The locks of a transaction that writes.
///
/// Two transactions wait for each other only if they write for the same hub or the same person. Rows that have to agree with each other are
/// of one person (``ReceiptRows``, ``RecordRows``), and a hub's mark is its own. A transaction takes all its locks when it begins, in the
/// order of their numbers, so two never wait for each other in a circle.
struct WriterLocks {
    /// The number of the lock for all tables of the schema. Writers share it.
    let whole: Int32
    private var keys: Set<Int32> = []

    /// The number of locks from which a transaction takes the one for all tables instead, because the server has room for some thousands.
    private static let most = 64

    /// No lock of a hub or person yet.
    init(schema: String) { whole = Self.number("schema", schema) }

    /// Adds the lock of a hub.
    mutating func add(store: String) { keys.insert(Self.number("hub", store)) }

    /// Adds the lock of a person.
    mutating func add(person: String) { keys.insert(Self.number("person", person)) }

    /// The numbers of the locks of hubs and persons, in the order in which they are taken.
    var numbers: [Int32] { keys.sorted() }

    /// The statement that takes them. It waits while the tables are changed, too.
    var statement: String {
        guard keys.count < Self.most else { return wholeStatement }
        let calls = numbers.map { "pg_advisory_xact_lock(\(whole), \($0))" }
        return "SELECT pg_advisory_xact_lock_shared(\(whole)); SELECT \(calls.joined(separator: ", "))"
    }

    /// The statement that waits for all writers, and lets none begin.
    var wholeStatement: String { "SELECT pg_advisory_xact_lock(\(whole))" }

    /// The number of a lock, the same in every program. Two that share a number only wait for each other.
    static func number(_ kind: String, _ name: String) -> Int32 {
        Int32(truncatingIfNeeded: StableHash.hash("vitalgate \(kind) \(name)"))
    }
}
