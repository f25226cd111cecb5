import Dispatch
import Pipeline

/// Unpacks the members of an archive on a separate thread, ahead of the reader. Texts are also split into rows on that thread.
///
///     let stream = MemberStream(archive) { $0.suffix == "gpx" ? .rows(GPXFile.forEachBlock) : nil }
///     try stream.forEachMember { member, content in … }   // the unread rest of a member is skipped
final class MemberStream {
    /// Splits a text into rows.
    typealias Cut = @Sendable (PrefixedInput, (RowBlock) throws -> Void) throws -> Void

    enum Form: Sendable {
        case bytes
        case rows(Cut)
    }

    enum Content {
        case bytes(any ByteInput)
        case rows(any RowInput)
    }

    private let pieces = PieceQueue()
    private let thread = DispatchQueue(label: "vitalgate.unpack")

    /// Starts to unpack.
    ///
    /// - Parameters:
    ///   - archive: no other code may read it afterwards.
    ///   - form: called on the other thread. It returns `nil` for a member to skip.
    init(_ archive: ZipArchive, form: @escaping @Sendable (ZipArchive.Member) -> Form?) {
        nonisolated(unsafe) let archive = archive
        thread.async { [pieces] in
            do throws(SourceError) {
                try MemberUnpacker(archive: archive, pieces: pieces).unpack(form)
                pieces.put(.finished)
            } catch {
                pieces.put(.failure(error))
            }
        }
    }

    /// Passes each member to `body`, with its content.
    ///
    /// - Throws: errors of `body`, and ``SourceError`` if the archive cannot be read.
    func forEachMember(_ body: (ZipArchive.Member, Content) throws -> Void) throws {
        defer {
            pieces.cancel()
            thread.sync {}
        }
        while true {
            switch pieces.take() {
            case .member(let member, .bytes):
                let input = MemberBytes(pieces)
                try body(member, .bytes(input))
                try input.skipRest()
            case .member(let member, .rows):
                let input = MemberRows(pieces)
                try body(member, .rows(input))
                try input.skipRest()
            case .failure(let error): throw error
            case .finished: return
            case .bytes, .rows, .end: break
            }
        }
    }
}

/// The work of the other thread.
private struct MemberUnpacker {
    let archive: ZipArchive
    let pieces: PieceQueue

    private struct ReaderStopped: Error {}

    func unpack(_ form: (ZipArchive.Member) -> MemberStream.Form?) throws(SourceError) {
        while let member = try archive.nextMember() {
            guard let form = form(member) else { continue }
            guard pieces.put(.member(member, form)) else { return }
            switch form {
            case .bytes: guard try putBytes() else { return }
            case .rows(let cut): guard try putRows(cut) else { return }
            }
        }
    }

    /// - Returns: whether the reader continues.
    private func putBytes() throws(SourceError) -> Bool {
        while true {
            let bytes = try archive.piece()
            guard !bytes.isEmpty else { return pieces.put(.end(nil)) }
            guard pieces.put(.bytes(bytes)) else { return false }
        }
    }

    private func putRows(_ cut: MemberStream.Cut) throws(SourceError) -> Bool {
        let watched = WatchedInput(archive)
        do {
            try cut(PrefixedInput(watched)) { block in
                guard block.isEmpty || pieces.put(.rows(block)) else { throw ReaderStopped() }
            }
        } catch let error as SourceError {
            if let failure = watched.failure { throw failure }
            return pieces.put(.end(error))
        } catch {
            return false
        }
        return pieces.put(.end(nil))
    }
}

private final class MemberBytes: ByteInput {
    private let pieces: PieceQueue
    private var bytes: ArraySlice<UInt8> = []
    private var isEnded = false

    init(_ pieces: PieceQueue) { self.pieces = pieces }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        if bytes.isEmpty { try refill() }
        let count = min(buffer.count, bytes.count)
        buffer.copyBytes(from: bytes.prefix(count))
        bytes.removeFirst(count)
        return count
    }

    func skipRest() throws(SourceError) {
        while !isEnded { try refill() }
    }

    private func refill() throws(SourceError) {
        guard !isEnded else { return }
        switch pieces.take() {
        case .bytes(let next): bytes = next[...]
        case .failure(let error):
            isEnded = true
            throw error
        case .rows, .end, .finished, .member: isEnded = true
        }
    }
}

private final class MemberRows: RowInput {
    private let pieces: PieceQueue
    private let row = TextRow()
    private var isEnded = false
    private(set) var failure: SourceError?

    init(_ pieces: PieceQueue) { self.pieces = pieces }

    func forEachRow(_ body: (TextRow, Place) throws -> Void) throws {
        while let block = try next() { try block.forEachRow(row, body) }
    }

    func skipRest() throws(SourceError) {
        while !isEnded {
            do throws(SourceError) {
                _ = try next()
            } catch {
                if let failure { throw failure }
            }
        }
    }

    private func next() throws(SourceError) -> RowBlock? {
        guard !isEnded else { return nil }
        switch pieces.take() {
        case .rows(let block): return block
        case .failure(let error):
            (isEnded, failure) = (true, error)
            throw error
        case .end(let fault?):
            isEnded = true
            throw fault
        case .bytes, .end, .finished, .member:
            isEnded = true
            return nil
        }
    }
}
