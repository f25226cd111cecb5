import HealthModel

/// The locks of a transaction that writes: rows of the table `lock`, which only a role that may write can lock. Any role that may connect
/// can take an advisory lock, and stop all hubs with it.
///
/// Two transactions wait for each other only if they write for the same hub or the same person. Rows that have to agree with each other are
/// of one person (``ReceiptRows``, ``RecordRows``), and a hub's mark is its own. A transaction takes all its locks when it begins, in the
/// order of their numbers, so two never wait for each other in a circle.
struct WriterLocks {
    /// The schema with the table.
    let schema: String
    private var keys: Set<Int> = []

    /// The number of locks from which a transaction takes the one for all tables instead.
    private static let maximum = 64
    /// The number of rows of the table. Hubs and people that share one only wait for each other.
    private static let count = 8192

    /// No lock of a hub or person yet.
    init(schema: String) { self.schema = schema }

    /// The statement that creates the table.
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).lock(number integer PRIMARY KEY);
        INSERT INTO \(schema).lock SELECT generate_series(0, \(count - 1));
        """
    }

    mutating func add(store: String) { keys.insert(Self.number("hub", store)) }

    mutating func add(person: String) { keys.insert(Self.number("person", person)) }

    /// The numbers of the locks of hubs and persons, in the order in which they are taken.
    var numbers: [Int] { keys.sorted() }

    /// The statement that takes them. It waits while the tables are changed, too.
    var statement: String {
        guard keys.count < Self.maximum else { return wholeStatement }
        let list = numbers.map { "\($0)" }.joined(separator: ", ")
        return "SELECT number FROM \(schema).lock WHERE number IN (\(list)) ORDER BY number FOR UPDATE"
    }

    /// The statement that waits for all writers, and lets none begin. Locked rows have a lock of the table that conflicts with it.
    var wholeStatement: String { "LOCK TABLE \(schema).lock IN EXCLUSIVE MODE" }

    /// The number of a lock, the same in every program.
    static func number(_ kind: String, _ name: String) -> Int {
        Int(UInt64(bitPattern: Int64(truncatingIfNeeded: StableHash.hash("vitalgate \(kind) \(name)"))) % UInt64(count))
    }
}
