import HTTPServerKit
import SampleStore

/// The samples of a query, read as they are taken: as many as there may be, in the memory of a piece.
final class SampleStream: BodyStream {
    private let reader: Reader
    private let grants: GrantWatch
    private let caller: Caller
    /// What the client might when the answer began.
    private let rights: GrantWatch.Rights
    private let cursor: SampleCursor
    private var writer: ObjectWriter
    private var hasEnded = false
    /// Made already.
    private var first: BodyPiece?
    private static let piece = 32_768
    /// Rows that are looked at in one go: who finds little among much leaves the thread to others in between.
    private static let look = 10_000

    init(_ reader: Reader, _ query: SampleQuery, _ writer: ObjectWriter, _ grants: GrantWatch, _ caller: Caller) throws {
        (self.reader, self.writer, self.grants, self.caller) = (reader, writer, grants, caller)
        rights = try grants.rights(of: caller)
        cursor = try reader.store.samples(matching: query)
    }

    /// Looks for the first piece at once, here.
    func prepare() throws {
        while true {
            let piece = try next()
            if case .wait = piece { continue }
            first = piece
            return
        }
    }

    func next() throws -> BodyPiece {
        if let first {
            self.first = nil
            return first
        }
        guard !hasEnded else { return .end }
        guard try grants.rights(of: caller) == rights else { throw Withdrawn() }
        reader.renewTime()
        // What is given is in the ledger before it is sent.
        defer { reader.tally() }
        var rows = Self.look
        while writer.count < Self.piece {
            switch try cursor.next(within: &rows) {
            case .sample(let stored):
                writer.write(stored)
                reader.tells(stored.sample)
            case .pause: return writer.count == 0 ? .wait(atMost: .zero) : .octets(writer.take())
            case .end:
                hasEnded = true
                writer.finish()
                let rest = writer.take()
                return rest.isEmpty ? .end : .octets(rest)
            }
        }
        return .octets(writer.take())
    }

    func close() { cursor.close() }

    /// Another grant holds now: the connection ends in the midst, so that nobody takes the part for the whole.
    private struct Withdrawn: Error {}
}
