import HTTPServerKit
import HealthModel
import SampleStore
import Synchronization

/// Lends readers of a store, each restricted to a client for good: it is used by one at a time, and given back by being let go of.
final class ReaderPool: Sendable {
    private struct State: @unchecked Sendable {
        /// The one that was used last at the end.
        var idle: [(store: SampleStore, client: Client?)] = []
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
    func lend(to client: Client?) throws -> Reader {
        let idle: IdleReader = try state.withLock { state in
            guard state.lent < most else {
                throw Problem(503, "too many are reading; ask again", headers: ["Retry-After": "1"])
            }
            state.lent += 1
            let index = state.idle.lastIndex { $0.client == client }
            return IdleReader(store: index.map { state.idle.remove(at: $0).store }, client: client)
        }
        // One of a file that was replaced is of no use.
        if let store = idle.store, (try? store.checkPlace()) != nil { return Reader(store, client, self) }
        do {
            let store = try SampleStore(path: path, access: .read)
            if let client { try store.restrict(to: client) }
            return Reader(store, client, self)
        } catch {
            state.withLock { $0.lent -= 1 }
            throw error
        }
    }

    fileprivate func takeBack(_ reader: IdleReader, told: [ReadTally.Kind: Int]) {
        if let client = reader.client { tally.add(told, of: client) }
        state.withLock { state in
            state.lent -= 1
            guard let store = reader.store else { return }
            state.idle.append((store, reader.client))
            if state.idle.count > Self.kept { state.idle.removeFirst() }
        }
    }
}

/// Nobody else has it.
private struct IdleReader: @unchecked Sendable {
    var store: SampleStore?
    var client: Client?
}

/// A reader that is lent.
final class Reader {
    let store: SampleStore
    private let client: Client?
    private let pool: ReaderPool
    private var told: [ReadTally.Kind: Int] = [:]

    fileprivate init(_ store: SampleStore, _ client: Client?, _ pool: ReaderPool) {
        (self.store, self.client, self.pool) = (store, client, pool)
    }

    deinit { pool.takeBack(IdleReader(store: store, client: client), told: told) }

    /// Notes that the client is given a sample.
    func tells(_ sample: Sample) { tells(sample.origin.type.id, of: sample.origin.subject) }

    /// Notes that the client is given something of a type: an object, a stretch of statistics, a day's rings, a characteristic.
    func tells(_ type: String, of subject: String) {
        told[ReadTally.Kind(subject: subject, type: type), default: 0] += 1
    }
}
