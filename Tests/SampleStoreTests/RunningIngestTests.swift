import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A running import cannot be undone. One whose process has ended can.
@Suite struct RunningIngestTests {
    private static func begin(_ test: TestStore) throws -> Ingest {
        try test.store.beginIngest(
            IngestDescription(kind: .import, received: TestStore.received.microseconds, owner: "1 2 another-namespace"))
    }

    @Test func isNotUndone() throws {
        try TestStore.with { test in
            let ingest = try Self.begin(test)
            _ = try ingest.store([try SampleMaker()("60", at: 0)])
            #expect(try test.store.ledger.account(of: ingest.id)?.state == "running")
            try test.store.ledger.closeAbandoned()
            #expect(try test.store.ledger.account(of: ingest.id)?.state == "running")
            #expect {
                try test.store.ledger.undo(ingest.id, forget: false, description: TestStore.description(.undo))
            } throws: {
                ($0 as? StoreError)?.kind == .busy
            }
            // It continues, and can be undone when it has finished.
            _ = try ingest.store([try SampleMaker()("61", at: 60)])
            #expect(try ingest.finish(at: 0).state == "done")
            #expect(try test.store.ledger.undo(ingest.id, forget: false, description: TestStore.description(.undo)).count == 2)
        }
    }

    /// The kernel drops the lock with the process, and here with the object.
    @Test func undoesImportOfEndedProcess() throws {
        try TestStore.with { test in
            var ingest: Ingest? = try Self.begin(test)
            _ = try ingest?.store([try SampleMaker()("60", at: 0)])
            let id = try #require(ingest?.id)
            ingest = nil
            #expect(try test.store.ledger.account(of: id)?.state == "interrupted")
            #expect(try test.store.ledger.undo(id, forget: false, description: TestStore.description(.undo)).count == 1)
        }
    }

    @Test func accountsOfEndedProcessesAreClosed() throws {
        try TestStore.with { test in
            let running = try Self.begin(test)
            var ended: Ingest? = try Self.begin(test)
            let id = try #require(ended?.id)
            ended = nil
            try test.store.ledger.closeAbandoned()
            #expect(
                try test.store.connection.text("SELECT state FROM ingest WHERE id = ?", .integer(id)) == "interrupted")
            #expect(try test.store.ledger.account(of: running.id)?.state == "running")
            _ = try running.finish(at: 0)
        }
    }
}
