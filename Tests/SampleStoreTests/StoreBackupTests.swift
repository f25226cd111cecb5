import Glibc
import PipelineTesting
import Testing

@testable import SampleStore

/// Copies of a store that is in use, and its log.
@Suite struct StoreBackupTests {
    @Test func backup() throws {
        try TestStore.with { test in
            let samples = try (0..<1000).map { try SampleMaker().local($0 % 2)("\(60 + $0 % 9)", at: Double($0)) }
            try test.keep(samples)
            try test.delete(samples[7])
            let before = umask(0)
            try test.store.backup(to: test.folder.file("copy.db"))
            umask(before)
            #expect(test.folder.mode("copy.db") == 0o600)
            let error = thrown(StoreError.self) { _ = try test.store.backup(to: test.folder.file("copy.db")) }
            #expect(error?.kind == .invalid)
            #expect(throws: StoreError.self) { try test.store.backup(to: test.folder.file("no/folder/copy.db")) }
            #expect(!test.folder.names().contains { $0.contains(".part-") })
            let copy = try SampleStore(path: test.folder.file("copy.db"), access: .read)
            #expect(try copy.check() == [])
            #expect(try copy.summary().samples == 999)
            // A copy is a store: it is writable and knows the deletions.
            let written = try SampleStore(path: test.folder.file("copy.db"), access: .write)
            let ingest = try written.beginIngest(TestStore.description())
            #expect(try ingest.store(samples).allSatisfy { $0 == .duplicate })
            _ = try ingest.finish(at: 0)
            // Who may only read may make a copy.
            try test.another(.read).backup(to: test.folder.file("second.db"))
            #expect(try SampleStore(path: test.folder.file("second.db"), access: .read).summary().samples == 999)
        }
    }

    /// In the midst of another's ingest, and of one's own.
    @Test func backupWhileWriting() throws {
        try TestStore.with { test in
            let other = try test.another()
            let ingest = try other.beginIngest(TestStore.description())
            for round in 0..<6 {
                _ = try ingest.store(try (0..<200).map { try SampleMaker()("72", at: Double(round * 200 + $0)) })
                // A transaction that is not committed is not in the copy.
                try other.connection.execute("BEGIN IMMEDIATE; UPDATE ingest SET stored = 77777")
                let path = test.folder.file("copy\(round).db")
                try test.store.backup(to: path)
                try other.connection.execute("ROLLBACK")
                let copy = try SampleStore(path: path, access: .read)
                #expect(try copy.check() == [])
                #expect(try copy.summary().samples == (round + 1) * 200)
            }
            _ = try ingest.finish(at: 0)
        }
    }

    @Test func checkpointEmptiesTheLog() throws {
        try TestStore.with { test in
            try test.keep(try (0..<100).map { try SampleMaker()("72", at: Double($0)) })
            #expect(try !test.folder.read("store.db-wal").isEmpty)
            try test.store.checkpoint()
            #expect(try test.folder.read("store.db-wal").isEmpty)
        }
    }
}
