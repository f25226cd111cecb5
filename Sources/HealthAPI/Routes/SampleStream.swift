import HTTPServerKit
import SampleStore

/// The samples of a query, read as they are taken: as many as there may be, in the memory of a piece.
final class SampleStream: BodyStream {
    private let reader: Reader
    private let cursor: SampleCursor
    private var writer: ObjectWriter
    private var hasEnded = false
    private static let piece = 32_768

    init(_ reader: Reader, _ query: SampleQuery, _ writer: ObjectWriter) throws(StoreError) {
        (self.reader, self.writer) = (reader, writer)
        cursor = try reader.store.samples(matching: query)
    }

    func next() throws -> BodyPiece {
        guard !hasEnded else { return .end }
        while writer.count < Self.piece {
            guard let stored = try cursor.next() else {
                hasEnded = true
                writer.finish()
                let rest = writer.take()
                return rest.isEmpty ? .end : .octets(rest)
            }
            writer.write(stored)
            reader.tells(stored.sample)
        }
        return .octets(writer.take())
    }

    func close() { cursor.close() }
}
