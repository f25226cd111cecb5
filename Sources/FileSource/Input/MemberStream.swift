import Dispatch
import Pipeline
import Synchronization

/// Unpacks the members of an archive on a thread of its own, up to half a megabyte ahead of whoever reads them.
///
///     let stream = MemberStream(archive) { $0.suffix == "gpx" }
///     try stream.forEachMember { member, input in … }   // input is read to its end before the next member comes
final class MemberStream {
    fileprivate enum Piece: Sendable {
        case member(ZipArchive.Member)
        case octets([UInt8])
        case end
        case failure(SourceError)
        case finished
    }

    private let pieces = PieceQueue()
    private let thread = DispatchQueue(label: "vitalgate.unpack")

    /// Begins to unpack.
    ///
    /// - Parameters:
    ///   - archive: nobody else may read it any more.
    ///   - isWanted: called on the other thread.
    init(_ archive: ZipArchive, isWanted: @escaping @Sendable (ZipArchive.Member) -> Bool) {
        nonisolated(unsafe) let archive = archive
        thread.async { [pieces] in Self.unpack(archive, isWanted, into: pieces) }
    }

    private static func unpack(_ archive: ZipArchive, _ isWanted: (ZipArchive.Member) -> Bool, into pieces: PieceQueue) {
        do throws(SourceError) {
            while let member = try archive.nextMember() {
                guard isWanted(member) else { continue }
                guard pieces.put(.member(member)) else { return }
                while true {
                    let octets = try archive.piece()
                    guard !octets.isEmpty else { break }
                    guard pieces.put(.octets(octets)) else { return }
                }
                guard pieces.put(.end) else { return }
            }
            _ = pieces.put(.finished)
        } catch {
            _ = pieces.put(.failure(error))
        }
    }

    /// Gives each member to `body`, with its octets.
    ///
    /// - Throws: what `body` throws; ``SourceError`` where the archive cannot be read.
    func forEachMember(_ body: (ZipArchive.Member, any ByteInput) throws -> Void) throws {
        defer {
            pieces.cancel()
            thread.sync {}
        }
        while true {
            switch pieces.take() {
            case .member(let member):
                let input = MemberInput(pieces)
                try body(member, input)
                try input.skipRest()
            case .failure(let error): throw error
            case .finished: return
            case .octets, .end: break
            }
        }
    }
}

/// The octets of one member.
private final class MemberInput: ByteInput {
    private let pieces: PieceQueue
    private var octets: ArraySlice<UInt8> = []
    private var isEnded = false

    init(_ pieces: PieceQueue) { self.pieces = pieces }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        if octets.isEmpty { try refill() }
        let count = min(buffer.count, octets.count)
        buffer.copyBytes(from: octets.prefix(count))
        octets.removeFirst(count)
        return count
    }

    func skipRest() throws(SourceError) {
        while !isEnded { try refill() }
    }

    private func refill() throws(SourceError) {
        guard !isEnded else { return }
        switch pieces.take() {
        case .octets(let next): octets = next[...]
        case .failure(let error):
            isEnded = true
            throw error
        case .end, .finished, .member: isEnded = true
        }
    }
}

/// What was unpacked and not read yet, in its order.
private final class PieceQueue: Sendable {
    private struct State {
        var pieces: [MemberStream.Piece] = []
        var isCancelled = false
    }

    private static let capacity = 8
    private let state = Mutex(State())
    private let free = DispatchSemaphore(value: capacity)
    private let used = DispatchSemaphore(value: 0)

    /// Waits for room; false where nobody reads any more.
    func put(_ piece: MemberStream.Piece) -> Bool {
        free.wait()
        let isTaken = state.withLock { state in
            if !state.isCancelled { state.pieces.append(piece) }
            return !state.isCancelled
        }
        if isTaken { used.signal() }
        return isTaken
    }

    /// Waits for the next.
    func take() -> MemberStream.Piece {
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
