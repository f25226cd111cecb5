import Dispatch
import Pipeline
import Synchronization

/// The unpacked pieces that were not read yet, in order. It holds at most a megabyte of bytes.
final class PieceQueue: Sendable {
    enum Piece: Sendable {
        case member(ZipArchive.Member, MemberStream.Form)
        case bytes([UInt8])
        case rows(RowBlock)
        /// The end of a member, with the error in its text if it cannot be read further.
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

    /// Waits for room and appends a piece. Returns `false` if the reader has stopped.
    @discardableResult
    func put(_ piece: Piece) -> Bool {
        free.wait()
        let isTaken = state.withLock { state in
            if !state.isCancelled { state.pieces.append(piece) }
            return !state.isCancelled
        }
        // After a cancellation, later calls do not wait either.
        (isTaken ? used : free).signal()
        return isTaken
    }

    /// Waits for the next piece and returns it.
    func take() -> Piece {
        used.wait()
        let piece = state.withLock { $0.pieces.removeFirst() }
        free.signal()
        return piece
    }

    /// Called when the reader stops.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        free.signal()
    }
}
