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
        var idle: [(store: SampleStore, view: ReaderView)] = []
        var lent = 0
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
            guard state.lent < most else {
                throw Problem(503, "too many are reading; ask again", headers: ["Retry-After": "1"])
            }
            state.lent += 1
            let index = state.idle.lastIndex { $0.view == view }
            return IdleReader(store: index.map { state.idle.remove(at: $0).store }, view: view)
        }
        // One of a file that was replaced is of no use.
        if let store = idle.store, (try? store.checkPlace()) != nil { return Reader(store, view, self) }
        do {
            let store = try SampleStore(path: path, access: .read)
            switch view {
            case .everything: break
            case .client(let client): try store.restrict(to: client)
            case .person(let subject): try store.restrict(toPerson: subject)
            }
            return Reader(store, view, self)
        } catch {
            state.withLock { $0.lent -= 1 }
            throw error
        }
    }

    fileprivate func takeBack(_ reader: IdleReader, told: [ReadTally.Kind: Int]) {
        if case .client(let client) = reader.view { tally.add(told, of: client) }
        state.withLock { state in
            state.lent -= 1
            guard let store = reader.store else { return }
            state.idle.append((store, reader.view))
            if state.idle.count > Self.kept { state.idle.removeFirst() }
        }
    }
}

/// Nobody else has it.
private struct IdleReader: @unchecked Sendable {
    var store: SampleStore?
    var view: ReaderView
}

/// A reader that is lent.
final class Reader {
    let store: SampleStore
    private let view: ReaderView
    private let pool: ReaderPool
    private var told: [ReadTally.Kind: Int] = [:]

    fileprivate init(_ store: SampleStore, _ view: ReaderView, _ pool: ReaderPool) {
        (self.store, self.view, self.pool) = (store, view, pool)
    }

    deinit { pool.takeBack(IdleReader(store: store, view: view), told: told) }

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
