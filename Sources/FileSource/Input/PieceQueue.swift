import Dispatch
import Pipeline
import Synchronization

/// What was unpacked and not taken yet, in its order: a megabyte at most.
final class PieceQueue: Sendable {
    enum Piece: Sendable {
        case member(ZipArchive.Member, MemberStream.Form)
        case octets([UInt8])
        case rows(RowBlock)
        /// Of the member; with what is wrong in its text, from which on nothing of it can be read.
        case end(SourceError?)
        case failure(SourceError)
        case finished
    }

    private struct State {
        var pieces: [Piece] = []
        var isCancelled = false
    }

    private static let capacity = 16
    private let state = Mutex(State())
    private let free = DispatchSemaphore(value: capacity)
    private let used = DispatchSemaphore(value: 0)

    /// Waits for room; false where nobody reads any more.
    @discardableResult
    func put(_ piece: Piece) -> Bool {
        free.wait()
        let isTaken = state.withLock { state in
            if !state.isCancelled { state.pieces.append(piece) }
            return !state.isCancelled
        }
        // Where nobody reads, whatever is put next does not wait either.
        (isTaken ? used : free).signal()
        return isTaken
    }

    /// Waits for the next.
    func take() -> Piece {
        used.wait()
        let piece = state.withLock { $0.pieces.removeFirst() }
        free.signal()
        return piece
    }

    /// Nobody reads any more.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        free.signal()
    }
}
