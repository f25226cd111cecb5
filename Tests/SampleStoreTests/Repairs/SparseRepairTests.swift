import HealthModel
import PipelineTesting
import Testing

@testable import SampleStore

/// A repair of few readings among many: the number of rows that a reader of the change log examines depends on the few.
@Suite struct SparseRepairTests {
    /// All rows and tombstones in the ranges of the entries after `anchor`.
    private static func looked(_ store: SampleStore, after anchor: Int64) throws -> Int64 {
        try store.connection.integer(
            """
            SELECT sum(iif(deletion,
                (SELECT count(*) FROM deleted WHERE deleted.series = change.series AND start BETWEEN low AND high),
                (SELECT count(*) FROM sample WHERE sample.series = change.series AND start BETWEEN low AND high)))
            FROM change WHERE last_seq > ?
            """, .integer(anchor)) ?? 0
    }

    private static func identities(_ store: SampleStore, after anchor: Int64) throws -> [Int64: String] {
        var reported: [Int64: String] = [:]
        var last = anchor
        try store.changes.read(after: anchor, types: nil) { change in
            #expect(change.seq > last)
            last = change.seq
            switch change {
            case .added(let stored): reported[change.seq] = "+\(stored.uuid)"
            case .deleted(let deletion): reported[change.seq] = "-\(deletion.uuid)"
            }
        }
        return reported
    }

    @Test(arguments: [500_000, -7_300_000, nil] as [Int64?]) func tenAmongThousands(shift: Int64?) throws {
        let repair = try shift.map { Repair.shift($0) } ?? .scale(try Numeral("2"))
        try TestStore.with { test in
            let maker = try SampleMaker()
            let readings = try (0..<8000).map { try maker("60", at: Double($0)) }
            try test.keep(readings)
            let intended = Set(stride(from: 3, to: 8000, by: 800).map { readings[$0].sample.identity })
            for _ in 0..<2 {
                let anchor = try test.store.lastChange()
                let request = TestStore.request(repair, .heartRate, ambiguous: true) { $0.samples = intended }
                let repairID = try #require(try test.migrate(request).repairID)
                #expect(try Self.looked(test.store, after: anchor) <= 20 * 17)
                let repaired = try test.store.lastChange()
                let reported = try Self.identities(test.store, after: anchor)
                #expect(reported.count == 20)
                // A reader that was stopped anywhere in it misses nothing and hears nothing twice.
                for stop in anchor...repaired {
                    #expect(try Self.identities(test.store, after: stop) == reported.filter { $0.key > stop })
                }
                try test.undo(repairID)
                #expect(try Self.looked(test.store, after: repaired) <= 20 * 17)
                #expect(try Self.identities(test.store, after: repaired).count == 20)
                #expect(try test.store.check(deep: true) == [])
            }
        }
    }
}
