import Glibc
import PipelineTesting
import Testing

@testable import SampleStore

/// A file that does not change while it is copied, although others write to the store.
@Suite struct PinnedStoreTests {
    @Test func writersContinueAndTheFileStays() throws {
        try TestStore.with { test in
            try test.keep(try (0..<500).map { try SampleMaker()("72", at: Double($0)) })
            var pinned: PinnedStore? = try PinnedStore(path: test.path)
            let before = try test.folder.read("store.db")
            let digest = try pinned?.digest()
            #expect(try pinned?.store.summary().samples == 500 && pinned?.bytes == before.count)
            let other = try test.another()
            other.connection.wait(atMost: .zero)
            for round in 1...5 {
                let ingest = try other.beginIngest(TestStore.description())
                _ = try ingest.store(try (0..<500).map { try SampleMaker()("72", at: Double(round * 500 + $0)) })
                _ = try ingest.finish(at: 0)
                // It cannot reach the file.
                try other.checkpoint()
                #expect(try test.folder.read("store.db") == before, "round \(round)")
            }
            #expect(try other.summary().samples == 3000 && pinned?.store.summary().samples == 500)
            #expect(try pinned?.digest() == digest && pinned?.isIntact == true)
            // The bytes alone are a store with everything up to the pinning.
            try test.folder.write(before, to: "copy.db")
            let copy = try SampleStore(path: test.folder.file("copy.db"), access: .read)
            #expect(try copy.check() == [] && copy.summary().samples == 500)
            pinned = nil
            try other.checkpoint()
            #expect(try test.folder.read("store.db-wal").isEmpty)
            #expect(try test.folder.read("store.db") != before)
        }
    }

    /// Many pinnings while another connection commits all the time: each file is whole, and has what its reader counts.
    @Test func betweenTheCommitsOfAnother() throws {
        try TestStore.with { test in
            let other = try test.another()
            let ingest = try other.beginIngest(TestStore.description())
            for round in 0..<20 {
                _ = try ingest.store(try (0..<50).map { try SampleMaker()("72", at: Double(round * 50 + $0)) })
                let pinned = try PinnedStore(path: test.path)
                _ = try ingest.store([try SampleMaker()("73", at: Double(100_000 + round))])
                try test.folder.write(try test.folder.read("store.db"), to: "copy\(round).db")
                let copy = try SampleStore(path: test.folder.file("copy\(round).db"), access: .read)
                #expect(try copy.check() == [])
                #expect(try copy.summary().samples == pinned.store.summary().samples)
                #expect(try copy.summary().samples == (round + 1) * 50 + round)
            }
            _ = try ingest.finish(at: 0)
        }
    }

    @Test func aReaderThatBlocksIsWaitedFor() throws {
        try TestStore.with { test in
            try test.keep([try SampleMaker()("72", at: 0)])
            // A reader of an older state keeps the log.
            let reader = try test.another(.read)
            let snapshot = try Snapshot(reader.connection)
            _ = try reader.summary()
            try test.keep([try SampleMaker()("73", at: 1)])
            let start = ContinuousClock.now
            #expect(thrown(StoreError.self) { _ = try PinnedStore(path: test.path, timeout: .milliseconds(300)) }?.kind == .busy)
            #expect(ContinuousClock.now - start < .seconds(10))
            snapshot.end()
            #expect(try PinnedStore(path: test.path).store.summary().samples == 2)
        }
    }

    @Test func aRestoredFileHasANewHistory() throws {
        try TestStore.with { test in
            try test.keep([try SampleMaker()("72", at: 0)])
            let anchor = try test.store.changes.latestAnchor()
            let pinned = try PinnedStore(path: test.path)
            try test.folder.write(try test.folder.read("store.db"), to: "copy.db")
            _ = pinned.bytes
            try SampleStore.beginHistory(ofRestored: test.folder.file("copy.db"))
            #expect(!test.folder.names().contains { $0.hasPrefix("copy.db-") })
            let copy = try SampleStore(path: test.folder.file("copy.db"), access: .read)
            #expect(try !copy.changes.knows(anchor) && test.store.changes.knows(anchor))
            #expect(copy.identifier == (try test.store.identifier))
        }
    }
}
