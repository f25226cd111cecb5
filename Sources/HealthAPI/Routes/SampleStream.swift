import HTTPServerKit
import HealthAnswers
import HealthServing
import SampleStore

/// The samples of a query, read as the client takes them. Memory is limited to one piece, whatever the number of samples.
final class SampleStream: BodyStream {
    private let reader: Reader
    private let grants: GrantWatch
    private let caller: Caller
    /// The client's access when the answer began.
    private let rights: GrantWatch.Rights
    private let cursor: SampleCursor
    private let names: RecordNames
    private var writer: ObjectWriter
    private var hasEnded = false
    /// Whether no time of the next piece was used up yet. A search that pauses has found nothing, and its time goes on.
    private var isNewPiece = true
    /// The piece that was prepared, if any.
    private var first: BodyPiece?
    private static let piece = 32_768
    /// The maximum number of rows to scan at once. A query with few matches then yields its thread to others.
    private static let look = 10_000

    init(_ reader: Reader, _ query: SampleQuery, _ writer: ObjectWriter, _ grants: GrantWatch, _ caller: Caller) throws {
        (self.reader, self.writer, self.grants, self.caller) = (reader, writer, grants, caller)
        names = RecordNames(reader.store)
        rights = try grants.rights(of: caller.client, bearing: caller.token)
        cursor = try reader.store.samples.cursor(matching: query)
    }

    /// Reads the first piece now.
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
        guard try grants.rights(of: caller.client, bearing: caller.token) == rights else { throw Withdrawn() }
        if isNewPiece { reader.renewTime() }
        isNewPiece = true
        // The read is recorded before the samples are sent.
        defer { reader.tally() }
        var rows = Self.look
        while writer.count < Self.piece {
            switch try cursor.next(within: &rows) {
            case .sample(let stored):
                // Copying each sample would take longer than writing it.
                writer.write(stored.sample.origin.kind == .clinicalRecord ? try names.named(stored) : stored)
                reader.countRead(stored.sample)
            case .pause:
                guard writer.count == 0 else { return .bytes(writer.take()) }
                isNewPiece = false
                return .wait(atMost: .zero)
            case .end:
                hasEnded = true
                writer.finish()
                let rest = writer.take()
                return rest.isEmpty ? .end : .bytes(rest)
            }
        }
        return .bytes(writer.take())
    }

    func close() { cursor.close() }

    /// The grants changed, so the connection is aborted. The client cannot mistake the partial answer for a complete one.
    private struct Withdrawn: Error {}
}
