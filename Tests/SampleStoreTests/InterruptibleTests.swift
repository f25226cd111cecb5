import HealthModel
import PipelineTesting
import SQLiteKit
import Testing

@testable import SampleStore

/// Work that ends when the user asks for it.
@Suite struct InterruptibleTests {
    private static let long =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT max(i) FROM n"

    @Test func endsALongStatement() throws {
        try TestStore.with { test in
            let store = try test.store
            var calls = 0
            let error = #expect(throws: StoreError.self) {
                try store.interruptible(
                    within: .zero,
                    when: {
                        calls += 1
                        return calls > 3
                    }
                ) {
                    _ = try store.connection.integer(Self.long)
                }
            }
            #expect(error?.kind == .tooLong)
            #expect(calls == 4)
            // Later work is not interrupted.
            #expect(try store.connection.integer("SELECT count(*) FROM sample") == 0)
        }
    }

    /// A transaction that is interrupted stores nothing, and the next one works.
    @Test func storesNothingOfAnInterruptedTransaction() throws {
        try TestStore.with { test in
            let store = try test.store
            let maker = try SampleMaker(.heartRate, source: "own")
            let samples = try (0..<3).map { try maker("6\($0)", at: Double($0)) }
            let ingest = try store.beginIngest(TestStore.description())
            #expect(throws: StoreError.self) {
                try store.interruptible(within: .zero, when: { true }) {
                    _ = try ingest.store(samples) { _ in
                        _ = try store.connection.integer(Self.long)
                        return []
                    }
                }
            }
            #expect(try store.connection.integer("SELECT count(*) FROM sample") == 0)
            #expect(try ingest.store(samples) == [.stored, .stored, .stored])
            let account = try ingest.finish(at: TestStore.received.microseconds)
            #expect(account.stored == 3)
        }
    }

    /// Work that finishes soon after the request is not interrupted.
    @Test func finishesWithinTimeout() throws {
        try TestStore.with { test in
            let store = try test.store
            let count = try store.interruptible(within: .seconds(3600), when: { true }) {
                try store.connection.integer(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT max(i) FROM n")
            }
            #expect(count == 200_000)
        }
    }

    /// Codes of SQLite for a lack of memory. A retry may help, and it is no bug of this program.
    @Test(arguments: [7, 10 | 12 << 8, 10 | 21 << 8]) func aLackOfMemoryMayPass(code: Int32) {
        let error = StoreError(code: code, message: "out of memory", sql: "SELECT 1")
        #expect(error.kind == .outOfMemory && error.mayPass)
        #expect(error.description.hasPrefix("there is not enough memory for the store"))
    }

    /// A value that is too long never fits.
    @Test func aLongValueDoesNotPass() {
        let error = StoreError(code: 18, message: "string or blob too big", sql: "SELECT 1")
        #expect(error.kind == .invalid && !error.mayPass && error.description == "a value is too long for the store")
    }
}
