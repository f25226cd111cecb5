/// The locks of a transaction that writes.
///
/// Two transactions wait for each other only if they write for the same hub or the same person. Rows that have to agree with each other are
/// of one person (``ReceiptRows``, ``RecordRows``), and a hub's mark is its own. A transaction takes all its locks when it begins, in the
/// order of their numbers, so two never wait for each other in a circle.
struct WriterLocks {
    private var keys: Set<Int32> = []

    /// The number of locks from which a transaction takes the one for all writers instead, because the server has room for some thousands.
    private static let most = 64

    /// The locks of a hub with this store.
    init(store: String) { add(store: store) }

    /// No locks yet.
    init() {}

    /// Adds the lock of a hub.
    mutating func add(store: String) { keys.insert(Self.number(of: "hub", store)) }

    /// Adds the lock of a person.
    mutating func add(person: String) { keys.insert(Self.number(of: "person", person)) }

    /// The statement that takes them. It waits for changes of the tables (``DatabaseSchema/lock``), too.
    var statement: String {
        guard keys.count < Self.most else { return "SELECT pg_advisory_xact_lock(\(DatabaseSchema.lock))" }
        let numbers = keys.sorted().map { "pg_advisory_xact_lock(\(DatabaseSchema.lock), \($0))" }
        return "SELECT pg_advisory_xact_lock_shared(\(DatabaseSchema.lock)); SELECT \(numbers.joined(separator: ", "))"
    }

    /// The number of a lock, the same in every program (FNV-1a). Two that share a number only wait for each other.
    static func number(of kind: String, _ name: String) -> Int32 {
        var hash: UInt32 = 2_166_136_261
        for octet in "\(kind) \(name)".utf8 { hash = (hash ^ UInt32(octet)) &* 16_777_619 }
        return Int32(bitPattern: hash)
    }
}
