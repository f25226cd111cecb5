import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct StoreConcurrencyTests {
    private static func batch(_ writer: Int, _ round: Int) throws -> [GatedSample] {
        // Half are the writer's own, half every writer brings.
        let own = try SampleMaker(source: "writer \(writer)", device: Device(key: "\(writer) d\(round % 3)"))
        let shared = try SampleMaker(source: "shared \(round / 4)")
        return try (0..<20).map {
            try ($0 < 10 ? own : shared)("72", at: Double(round * 20 + $0), metadata: Metadata([("r", .string("\(round)"))]))
        }
    }

    /// Three writers and a reader on one file at the same time, each with its own connection.
    @Test func writersAndAReader() async throws {
        let test = try TestStore()
        let path = test.path
        let stored = try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    let store = try SampleStore(path: path, access: .write)
                    let ingest = try store.beginIngest(TestStore.description())
                    var stored = 0
                    for round in 0..<25 { stored += try ingest.store(try Self.batch(writer, round)).count { $0 == .stored } }
                    let account = try ingest.finish(at: 0)
                    #expect((account.stored, account.read) == (stored, 500))
                    return stored
                }
            }
            group.addTask {
                let store = try SampleStore(path: path, access: .read)
                var anchor: Int64 = 0
                var seen: Set<SampleIdentity> = []
                for _ in 0..<40 {
                    try store.changes.read(after: anchor, types: nil) { change in
                        #expect(change.seq == anchor + 1)
                        anchor = change.seq
                        if case .added(let stored) = change { #expect(seen.insert(stored.uuid).inserted) }
                    }
                    // A snapshot is whole batches.
                    let cursor = try store.samples.cursor(matching: SampleQuery())
                    var count = 0
                    while try cursor.next() != nil { count += 1 }
                    #expect(count % 10 == 0)
                    cursor.close()
                }
                return 0
            }
            return try await group.reduce(0, +)
        }
        let expected: Int = 100 * 10
        #expect(stored == expected)
        #expect(try test.samples().count == stored)
        try test.close()
    }

    /// Two programs undo one import at the same time. One does it, and the other gets an error.
    @Test func undoingOneImportAtOnce() async throws {
        let test = try TestStore()
        let path = test.path
        for round in 0..<8 {
            let maker = try SampleMaker(source: "round \(round)")
            let ingest = try test.keep(try (0..<500).map { try maker("72", at: Double($0)) }).account.id
            let undone = await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try? SampleStore(path: path, access: .write)
                            .ledger.undo(ingest, forget: false, description: TestStore.description(.undo)).count
                    }
                }
                return await group.reduce(into: [Int?]()) { $0.append($1) }
            }
            #expect(undone.compactMap(\.self) == [500], "round \(round)")
        }
        #expect(try test.samples().isEmpty)
        try test.close()
    }

    /// Programs that create the same store at the same moment. SQLite does not wait for a program that switches the journal mode.
    @Test func makingOneStoreAtOnce() async throws {
        for _ in 0..<20 {
            let folder = try TemporaryFolder()
            let path = folder.file("store.db")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        let store = try TestStore.open(path)
                        let ingest = try store.beginIngest(TestStore.description())
                        _ = try ingest.store(try Self.batch(writer, 0))
                        _ = try ingest.finish(at: 0)
                    }
                }
                try await group.waitForAll()
            }
            let test = try TestStore(folder: folder)
            #expect(try test.samples().count == 50)
            #expect(try test.store.ledger.accounts().count == 4)
            try test.close()
        }
    }
}
