import HTTPServerKit
import HealthModel
import SampleStore
import Synchronization

/// What a reader shows.
enum ReaderView: Hashable, Sendable {
    /// Everything: for looking up who asks, and what is the hub's own.
    case everything
    /// What a client may read.
    case client(Client)
    /// What is a person's own.
    case person(String)
}

/// Lends readers of a store, each restricted for good to what it shows: it is used by one at a time, and given back by being let go of.
final class ReaderPool: Sendable {
    private struct State: @unchecked Sendable {
        /// The one that was used last at the end.
        var idle: [IdleReader] = []
        var lent = 0
        var lentByView: [ReaderView: Int] = [:]

        /// Who asks for much leaves some to others, and all together leave some to looking up who asks.
        func mayLend(_ view: ReaderView, of most: Int) -> Bool {
            view == .everything ? lent < most : lent < most - most / 4 && lentByView[view, default: 0] < most / 2
        }

        mutating func giveBack(_ view: ReaderView) {
            lent -= 1
            lentByView[view, default: 0] -= 1
            if lentByView[view] == 0 { lentByView[view] = nil }
        }
    }

    private let path: String
    private let most: Int
    private let tally: ReadTally
    private let state = Mutex(State())
    /// So many stay open while nobody asks.
    private static let kept = 4

    /// - Parameter tally: counts what the readers tell.
    init(path: String, tally: ReadTally, most: Int = 16) { (self.path, self.tally, self.most) = (path, tally, most) }

    /// How many are lent.
    var lent: Int { state.withLock { $0.lent } }

    /// - Parameter client: what it may read is all that the reader shows; without one the reader is for looking up who asks.
    /// - Throws: ``Problem`` 503 where all are lent, or the store cannot be opened.
    func lend(to client: Client?) throws -> Reader { try lend(client.map(ReaderView.client) ?? .everything) }

    /// - Parameter subject: whose samples are all that the reader shows.
    /// - Throws: ``Problem`` 503 where all are lent, or the store cannot be opened.
    func lend(toPerson subject: String) throws -> Reader { try lend(.person(subject)) }

    private func lend(_ view: ReaderView) throws -> Reader {
        let idle: IdleReader = try state.withLock { state in
            guard state.mayLend(view, of: most) else {
                throw Problem(503, "too many are reading; ask again", headers: ["Retry-After": "1"])
            }
            state.lent += 1
            state.lentByView[view, default: 0] += 1
            let index = state.idle.lastIndex { $0.view == view }
            return index.map { state.idle.remove(at: $0) } ?? IdleReader(store: nil, view: view)
        }
        // One of a file that was replaced is of no use.
        if let store = idle.store, (try? store.checkPlace()) != nil { return Reader(store, view, self, idle.memory) }
        do {
            let store = try SampleStore(path: path, access: .read)
            switch view {
            case .everything: break
            case .client(let client): try store.restrict(to: client)
            case .person(let subject): try store.restrict(toPerson: subject)
            }
            return Reader(store, view, self)
        } catch {
            state.withLock { $0.giveBack(view) }
            throw error
        }
    }

    fileprivate func enter(_ told: [ReadTally.Kind: Int], of client: Client) { tally.add(told, of: client) }

    fileprivate func takeBack(_ reader: IdleReader, told: [ReadTally.Kind: Int]) {
        if case .client(let client) = reader.view { tally.add(told, of: client) }
        state.withLock { state in
            state.giveBack(reader.view)
            guard reader.store != nil else { return }
            state.idle.append(reader)
            if state.idle.count > Self.kept { state.idle.removeFirst() }
        }
    }
}

/// Nobody else has it.
private struct IdleReader: @unchecked Sendable {
    var store: SampleStore?
    var view: ReaderView
    var memory = AnswerMemory()
}

/// Answers that were dear, as long as nobody writes to the store: a chart that is drawn again asks the same again.
struct AnswerMemory {
    struct Answer {
        var question: String
        var octets: [UInt8]
        var told: [ReadTally.Kind: Int]
    }

    var version: Int64?
    var answers: [Answer] = []
    /// Of an answer, octets; and how many.
    static let (longest, most) = (256 << 10, 8)
}

/// A reader that is lent.
final class Reader {
    let store: SampleStore
    private let view: ReaderView
    private let pool: ReaderPool
    private var told: [ReadTally.Kind: Int] = [:]
    private var memory: AnswerMemory

    fileprivate init(_ store: SampleStore, _ view: ReaderView, _ pool: ReaderPool, _ memory: AnswerMemory = AnswerMemory()) {
        (self.store, self.view, self.pool, self.memory) = (store, view, pool, memory)
        renewTime()
    }

    /// Gives the next questions their time: of an answer that goes on, each piece has as much.
    func renewTime() { store.limit(to: Self.time) }

    /// How long a question may read. Everybody else waits for a reader no longer than that.
    private static let time = Duration.seconds(20)

    deinit { pool.takeBack(IdleReader(store: store, view: view, memory: memory), told: told) }

    /// The answer to a question, made anew only where somebody wrote to the store, a sample or a grant, since it was made.
    ///
    /// - Parameter question: names it among all that are asked of a reader; what it says of times is no word such as `today`.
    func answer(to question: String, _ make: () throws -> [UInt8]) throws -> [UInt8] {
        // Before it is made: what is written meanwhile makes the next one anew.
        let version = try store.dataVersion()
        if memory.version != version { memory = AnswerMemory(version: version) }
        if let known = memory.answers.first(where: { $0.question == question }) {
            told.merge(known.told) { $0 + $1 }
            return known.octets
        }
        let before = told
        told = [:]
        defer { told.merge(before) { $0 + $1 } }
        let octets = try make()
        if octets.count <= AnswerMemory.longest {
            if memory.answers.count == AnswerMemory.most { memory.answers.removeFirst() }
            memory.answers.append(AnswerMemory.Answer(question: question, octets: octets, told: told))
        }
        return octets
    }

    /// Enters what was noted so far, for an answer that goes on.
    func tally() {
        if case .client(let client) = view { pool.enter(told, of: client) }
        told.removeAll(keepingCapacity: true)
    }

    /// Notes that the client is given a sample.
    func tells(_ sample: Sample) { tells(sample.origin.type.id, of: sample.origin.subject) }

    /// Notes that the client is given something of a type: an object, a stretch of statistics, a day's rings, a characteristic.
    func tells(_ type: String, of subject: String) {
        told[ReadTally.Kind(subject: subject, type: type), default: 0] += 1
    }
}

/// The readers that a request has, as long as it is being answered. A reader goes back to its pool when nobody holds it any more, and Swift lets go of
/// an object behind its last mention: while a store that was taken out of it may still be asked, and is lent to somebody else.
final class KeptReaders {
    private var all: [Reader] = []

    func keep(_ reader: Reader) -> Reader {
        all.append(reader)
        return reader
    }
}
