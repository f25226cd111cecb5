import Pipeline
import Testing

@testable import Hub
@testable import Ingestion

@Suite struct BatchWriterTests {
    private struct Full: Error {}

    private static func batch(_ number: Int) -> ImportBatch {
        var batch = ImportBatch()
        batch.zone = "\(number)"
        return batch
    }

    @Test func inTheirOrderAndEachOnce() throws {
        var retained: [String] = []
        let writer = BatchWriter { retained.append($0.zone ?? "") }
        for number in 0..<1000 {
            var batch = Self.batch(number)
            try writer.write(&batch)
            #expect(batch.zone == nil, "an empty one comes back")
        }
        try writer.finish()
        #expect(retained == (0..<1000).map { "\($0)" })
    }

    /// If a batch cannot be stored, no later one is: readings are stored in order, or not at all.
    @Test func storesNothingAfterFailure() throws {
        var retained: [String] = []
        let writer = BatchWriter { batch in
            if batch.zone == "3" { throw Full() }
            retained.append(batch.zone ?? "")
        }
        #expect(throws: Full.self) {
            for number in 0..<10 {
                var batch = Self.batch(number)
                try writer.write(&batch)
            }
        }
        #expect(throws: Full.self) { try writer.finish() }
        #expect(retained == ["0", "1", "2"])
    }
}
