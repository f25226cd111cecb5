import HTTPServerKit
import SampleStore
import Synchronization

/// Lends readers of a store: each is used by one at a time, and given back by being let go of.
final class ReaderPool: Sendable {
    private struct State: @unchecked Sendable {
        var idle: [SampleStore] = []
        var lent = 0
    }

    private let path: String
    private let most: Int
    private let state = Mutex(State())
    /// So many stay open while nobody asks.
    private static let kept = 4

    init(path: String, most: Int = 16) { (self.path, self.most) = (path, most) }

    /// How many are lent.
    var lent: Int { state.withLock { $0.lent } }

    /// - Throws: ``Problem`` 503 where all are lent, or the store cannot be opened.
    func lend() throws -> Reader {
        let idle: IdleReader? = try state.withLock { state in
            guard state.lent < most else {
                throw Problem(503, "too many are reading; ask again", headers: ["Retry-After": "1"])
            }
            state.lent += 1
            return IdleReader(store: state.idle.popLast())
        }
        // One of a file that was replaced is of no use.
        if let store = idle?.store, (try? store.checkPlace()) != nil { return Reader(store, self) }
        do {
            return Reader(try SampleStore(path: path, access: .read), self)
        } catch {
            state.withLock { $0.lent -= 1 }
            throw error
        }
    }

    fileprivate func takeBack(_ reader: IdleReader) {
        state.withLock { state in
            state.lent -= 1
            if let store = reader.store, state.idle.count < Self.kept { state.idle.append(store) }
        }
    }
}

/// Nobody else has it.
private struct IdleReader: @unchecked Sendable { var store: SampleStore? }

/// A reader that is lent.
final class Reader {
    let store: SampleStore
    private let pool: ReaderPool

    fileprivate init(_ store: SampleStore, _ pool: ReaderPool) { (self.store, self.pool) = (store, pool) }

    deinit { pool.takeBack(IdleReader(store: store)) }
}
