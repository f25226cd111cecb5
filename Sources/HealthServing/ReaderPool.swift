import HTTPServerKit
import HealthModel
import SampleStore
import Synchronization

enum ReaderView: Hashable, Sendable {
    /// Everything, for authentication and for the hub's own data.
    case everything
    /// The data that a client may read.
    case client(Client)
    /// A person's own data.
    case person(String)
}

/// A pool of readers, each permanently restricted to a view. A reader has one user at a time and returns to the pool when its last
/// reference ends.
package final class ReaderPool: Sendable {
    private struct State {
        var lent = 0
        var lentByView: [ReaderView: Int] = [:]

        /// Whether a reader may be lent. One view may use half of the readers, and a quarter is reserved for authentication.
        func mayLend(_ view: ReaderView, of maximum: Int) -> Bool {
            view == .everything ? lent < maximum : lent < maximum - maximum / 4 && lentByView[view, default: 0] < maximum / 2
        }

        mutating func giveBack(_ view: ReaderView) {
            lent -= 1
            lentByView[view, default: 0] -= 1
            if lentByView[view] == 0 { lentByView[view] = nil }
        }
    }

    private let path: String
    private let maximum: Int
    private let tally: ReadTally
    private let state = Mutex(State())
    private let idle = IdlePool<IdleReader>()

    /// Creates a pool.
    ///
    /// - Parameter tally: Counts what clients read.
    init(path: String, tally: ReadTally, maximum: Int = 16) { (self.path, self.tally, self.maximum) = (path, tally, maximum) }

    var lent: Int { state.withLock { $0.lent } }

    /// Lends a reader.
    ///
    /// - Parameter client: The client whose access restricts the reader.
    /// - Throws: ``Problem`` 503 if all readers are lent or the store cannot be opened.
    package func lend(to client: Client) throws -> Reader { try lend(.client(client)) }

    /// Lends a reader.
    ///
    /// - Parameter session: The session of the person whose data the reader shows.
    /// - Throws: ``Problem`` 503 if all readers are lent or the store cannot be opened.
    package func lend(to session: PageSession) throws -> Reader { try lend(.person(session.person)) }

    /// The objects of a person that a client may read now.
    package func readable(
        _ type: SampleType, of session: PageSession, by client: Client
    ) throws -> Set<SampleIdentity> {
        let reader = try lend(to: client)
        return try withExtendedLifetime(reader) {
            let cursor = try reader.store.samples.cursor(matching: SampleQuery(types: [type], person: session.person))
            defer { cursor.close() }
            var all: Set<SampleIdentity> = []
            while let next = try cursor.next() { all.insert(next.sample.identity) }
            return all
        }
    }

    package func lend(to owner: OwnerAuthority) throws -> Reader { try lend(.everything) }

    /// Whether the store knows a person, as its owner or as another person.
    package func isKnown(_ person: String) throws -> Bool {
        let reader = try lend(.everything)
        return try withExtendedLifetime(reader) { try reader.store.people.names()[person] != nil }
    }

    /// Lends a reader of a person's data besides samples.
    package func lendRecords(of session: PageSession) throws -> OwnRecords {
        OwnRecords(try lend(.everything), of: session.person)
    }

    /// Lends a reader of everything. Outside this target it is available only through ``OwnerAuthority``.
    func lendUnrestricted() throws -> Reader { try lend(.everything) }

    private func lend(_ view: ReaderView) throws -> Reader {
        try state.withLock { state in
            guard state.mayLend(view, of: maximum) else {
                throw Problem(503, "Too many requests are reading from the store. Try again.", bound: .readers)
            }
            state.lent += 1
            state.lentByView[view, default: 0] += 1
        }
        // If the file was replaced, the store is opened again.
        if let idle = idle.take(where: { $0.view == view }), (try? idle.store.checkPlace()) != nil {
            return Reader(idle.store, view, self, idle.memory)
        }
        do {
            let store = try SampleStore(path: path, access: .read)
            switch view {
            case .everything: break
            case .client(let client): try store.restrict(to: client)
            case .person(let person): try store.restrict(toPerson: person)
            }
            return Reader(store, view, self)
        } catch {
            state.withLock { $0.giveBack(view) }
            throw error
        }
    }

    fileprivate func enter(_ readCounts: [ReadTally.Kind: Int], of client: Client) { tally.add(readCounts, of: client) }

    fileprivate func takeBack(_ reader: IdleReader, readCounts: [ReadTally.Kind: Int]) {
        if case .client(let client) = reader.view { tally.add(readCounts, of: client) }
        idle.giveBack(reader)
        state.withLock { $0.giveBack(reader.view) }
    }
}

/// A reader in the pool. Only one thread has it at a time.
private struct IdleReader: @unchecked Sendable {
    var store: SampleStore
    var view: ReaderView
    var memory = AnswerMemory()
}

/// A cache of expensive answers that is valid until the next write to the store. A chart that is drawn again sends the same query.
struct AnswerMemory {
    struct Answer {
        var question: String
        var bytes: [UInt8]
        var readCounts: [ReadTally.Kind: Int]
    }

    var version: Int64?
    var answers: [Answer] = []
    /// The maximum size of an answer in bytes, and the maximum number of answers.
    static let (maximumLength, maximum) = (256 << 10, 8)
}

package final class Reader {
    package let store: SampleStore
    private let view: ReaderView
    private let pool: ReaderPool
    private var readCounts: [ReadTally.Kind: Int] = [:]
    private var memory: AnswerMemory

    fileprivate init(_ store: SampleStore, _ view: ReaderView, _ pool: ReaderPool, _ memory: AnswerMemory = AnswerMemory()) {
        (self.store, self.view, self.pool, self.memory) = (store, view, pool, memory)
        renewTime()
    }

    /// Restarts the time limit of queries. In a streamed answer, each piece has the full time.
    package func renewTime() {
        renewals += 1
        store.limit(to: Self.time)
    }

    /// How often the time limit was restarted.
    package private(set) var renewals = 0

    /// The maximum duration of a query. Other clients wait no longer than this for a reader.
    private static let time = Duration.seconds(20)

    deinit { pool.takeBack(IdleReader(store: store, view: view, memory: memory), readCounts: readCounts) }

    /// Returns the answer to a query, from the cache if nothing was written to the store since it was made, including grants.
    ///
    /// - Parameter question: A key that is unique among the queries of a reader. Its times must be absolute, not words such as
    ///   `today`.
    package func answer(to question: String, _ make: () throws -> [UInt8]) throws -> [UInt8] {
        // The version is read before the answer is made, so that a concurrent write invalidates it.
        let version = try store.dataVersion()
        if memory.version != version { memory = AnswerMemory(version: version) }
        if let known = memory.answers.first(where: { $0.question == question }) {
            readCounts.merge(known.readCounts) { $0 + $1 }
            return known.bytes
        }
        let before = readCounts
        readCounts = [:]
        defer { readCounts.merge(before) { $0 + $1 } }
        let bytes = try make()
        if bytes.count <= AnswerMemory.maximumLength {
            if memory.answers.count == AnswerMemory.maximum { memory.answers.removeFirst() }
            memory.answers.append(AnswerMemory.Answer(question: question, bytes: bytes, readCounts: readCounts))
        }
        return bytes
    }

    /// Records the reads so far, for a streamed answer.
    package func tally() {
        if case .client(let client) = view { pool.enter(readCounts, of: client) }
        readCounts.removeAll(keepingCapacity: true)
    }

    /// Counts a sample that the client is given.
    package func countRead(_ sample: Sample) { countRead(sample.origin.type.id, of: sample.origin.person) }

    /// Counts an item of a type that the client is given: an object, an interval of statistics, a day's rings, a characteristic.
    package func countRead(_ type: String, of person: String) {
        readCounts[ReadTally.Kind(person: person, type: type), default: 0] += 1
    }
}

/// The readers of a request, kept until it is answered. Swift may release a reader after its last mention, which returns it to the
/// pool. Another request could then get its store while this one still uses it.
package final class RetainedReaders {
    private var all: [Reader] = []

    package init() {}

    package func keep(_ reader: Reader) -> Reader {
        all.append(reader)
        return reader
    }
}
