import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The cost of an anchored read depends on the new changes, not on the existing samples.
@Suite struct FeedCostTests {
    /// The number of rows that a reader after `anchor` examines, counted from outside: all rows in the ranges of the entries that it has to
    /// read.
    private static func looked(_ store: SampleStore, after anchor: Int64) throws -> Int64 {
        try store.connection.integer(
            """
            SELECT sum((SELECT count(*) FROM sample WHERE sample.series = change.series AND start BETWEEN low AND high))
            FROM change WHERE last_seq > ? AND NOT deletion
            """, .integer(anchor)) ?? 0
    }

    private static func numbers(_ store: SampleStore, after anchor: Int64) throws -> [Int64] {
        var numbers: [Int64] = []
        try store.changes.read(after: anchor, types: nil) { numbers.append($0.seq) }
        return numbers
    }

    @Test func oneOfLongAgoAndOneOfNow() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep(try (0..<5000).map { try maker("60", at: Double($0)) })
            let anchor = try test.store.lastChange()
            try test.keep([try maker("61", at: -10), try maker("62", at: 9000)])
            #expect(try Self.numbers(test.store, after: anchor) == [5001, 5002])
            #expect(try Self.looked(test.store, after: anchor) <= 2 * 17)
        }
    }

    /// Small commits, far apart from one another in a series that is full: joined, they would have every reader look through all of it.
    @Test func smallCommitsFarApart() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep(try (0..<5000).map { try maker("60", at: Double($0)) })
            let anchor = try test.store.lastChange()
            let ingest = try test.store.beginIngest(TestStore.description())
            for index in 0..<100 { _ = try ingest.store([try maker("61", at: Double(index * 3571 % 5000) + 0.5)]) }
            _ = try ingest.finish(at: 0)
            #expect(try Self.numbers(test.store, after: anchor) == Array(anchor + 1...anchor + 100))
            #expect(try Self.looked(test.store, after: anchor) <= 100 * 17)
        }
    }

    /// On a coarse grid, so that new rows meet old ones, neighbours and each other's stretches.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func anyNewRows(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try TestStore.with { test in
            let makers = [try SampleMaker(), try SampleMaker(source: "b").local(2)]
            for round in 0..<12 {
                let before = try test.store.lastChange()
                let span = [10, 300, 4000][Int.random(in: 0..<3, using: &random)]
                let batch = try (0..<[1, 3, 40, 3000][Int.random(in: 0..<4, using: &random)]).map { _ in
                    try makers[Int.random(in: 0..<2, using: &random)](
                        "\(Int.random(in: 1...3, using: &random))", at: Double(Int.random(in: 0..<span, using: &random)))
                }
                try test.keep(batch)
                let count = try test.store.lastChange() - before
                #expect(try Self.numbers(test.store, after: before) == Array((before + 1)..<(before + 1 + count)))
                #expect(try Self.looked(test.store, after: before) <= count * 17, "seed \(seed), round \(round)")
            }
            #expect(try Self.numbers(test.store, after: 0) == Array(1..<(try test.store.lastChange() + 1)))
        }
    }

    /// As a file without times of day may bring them: a reader that was stopped anywhere misses none of them.
    @Test func manyOfOneStart() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep(try (0..<12_000).map { try maker("\(30 + $0)", at: 0) })
            for anchor in [0, 1, 2048, 8191, 9000, 11_999] as [Int64] {
                #expect(try Self.numbers(test.store, after: anchor) == Array(anchor + 1...12_000))
            }
        }
    }

    /// Two straps at the same time for long: the reader keeps at most a few entries in memory, from the first change on.
    @Test func limitsBufferedChanges() throws {
        try TestStore.with { test in
            let makers = [try SampleMaker(), try SampleMaker(source: "b")]
            let ingest = try test.store.beginIngest(TestStore.description())
            try test.store.connection.transaction {
                for second in 0..<6000 { _ = try ingest.store([try makers[second % 2]("72", at: Double(second))]) }
            }
            _ = try ingest.finish(at: 0)
            try test.keep(try (0..<20_000).map { try makers[0]("60", at: 100_000 + Double($0)) })
            let series = Dictionary(
                uniqueKeysWithValues: try test.store.samples.series(matching: SampleQuery()).map { ($0.id, $0) })
            let reader = ChangeReader(connection: try test.store.connection, series: series)
            var (reported, maximum) = (0, 0)
            try reader.read(after: 0) { _ in
                reported += 1
                maximum = max(maximum, reader.bufferedCount)
            }
            #expect(reported == 26_000)
            #expect(maximum <= 2200)
        }
    }
}
