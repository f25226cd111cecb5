import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct SampleQueryTests {
    private static func instant(_ seconds: Double) -> Instant {
        Instant(microseconds: 1_767_225_600_000_000 + Int64(seconds * 1e6))
    }

    @Test func orderOfManySeries() throws {
        var random = SeededGenerator(seed: 12)
        try TestStore.with { test in
            var batch: [GatedSample] = []
            for index in 0..<60 {
                let maker = try SampleMaker(source: "s\(index)").local(index % 5 - 2)
                for _ in 0..<Int.random(in: 0...30, using: &random) {
                    batch.append(
                        try maker(
                            "\(Int.random(in: 1...9, using: &random))", at: Double(Int.random(in: 0..<20_000, using: &random))))
                }
            }
            batch.shuffle(using: &random)
            try test.keep(batch)
            let ascending = try test.samples()
            #expect(zip(ascending, ascending.dropFirst()).allSatisfy { $0.sample.start <= $1.sample.start })
            #expect(Set(ascending.map(\.uuid)) == Set(batch.map(\.sample.identity)))
            let descending = try test.samples(SampleQuery(descending: true))
            #expect(zip(descending, descending.dropFirst()).allSatisfy { $0.sample.start >= $1.sample.start })
            #expect(Set(descending.map(\.uuid)) == Set(ascending.map(\.uuid)))
            for limit in [0, 1, 7, 10_000] {
                #expect(try test.identities(SampleQuery(limit: limit)) == Array(ascending.prefix(limit).map(\.uuid)))
                #expect(
                    try test.identities(SampleQuery(descending: true, limit: limit))
                        == Array(descending.prefix(limit).map(\.uuid)))
            }
            let (from, to) = (Self.instant(5000), Self.instant(15_000))
            #expect(
                try test.identities(SampleQuery(from: from, to: to))
                    == ascending.filter { $0.sample.start >= from && $0.sample.start < to }.map(\.uuid))
        }
    }

    /// Those of one start come as they were stored, or the other way round, whatever their hashes are.
    @Test func manyOfOneStart() throws {
        var random = SeededGenerator(seed: 13)
        for _ in 0..<40 {
            try TestStore.with { test in
                let maker = try SampleMaker()
                let starts = Int.random(in: 1...6, using: &random)
                // All samples differ, so that each is stored. They are stored in batches, so that numbers continue from one to the next.
                let samples = try (0..<Int.random(in: 1...40, using: &random)).map {
                    try maker("\(40 + $0)", at: Double(Int.random(in: 0..<starts, using: &random)))
                }
                var rest = samples[...]
                while !rest.isEmpty {
                    let count = Int.random(in: 1...rest.count, using: &random)
                    try test.keep(Array(rest.prefix(count)))
                    rest = rest.dropFirst(count)
                }
                let ordered = samples.enumerated().sorted {
                    ($0.element.sample.start, $0.offset) < ($1.element.sample.start, $1.offset)
                }.map(\.element.sample)
                #expect(try test.identities(SampleQuery()) == ordered.map(\.identity))
                #expect(try test.identities(SampleQuery(descending: true)) == ordered.reversed().map(\.identity))
                let limit = Int.random(in: 0...samples.count, using: &random)
                #expect(try test.identities(SampleQuery(limit: limit)) == ordered.prefix(limit).map(\.identity))
                let (from, to) = (Self.instant(1), Self.instant(Double(starts - 1)))
                #expect(
                    try test.identities(SampleQuery(from: from, to: to))
                        == ordered.filter { $0.start >= from && $0.start < to }.map(\.identity))
            }
        }
    }

    @Test func filters() throws {
        try TestStore.with { test in
            let strap = Device(key: "k1", name: "My strap", manufacturer: "M", model: "H10", serial: "77")
            let makers = [
                try SampleMaker(source: "ble", sourceName: "Bluetooth", device: strap),
                try SampleMaker(.bodyMass, source: "csv", sourceName: "File"),
                try SampleMaker(source: "csv", sourceName: "File", person: "unassigned"),
            ]
            try test.keep(try makers.map { try $0("60", at: 0) })
            func count(_ query: SampleQuery) throws -> Int { try test.samples(query).count }
            #expect(try count(SampleQuery(types: [.heartRate])) == 2)
            #expect(try count(SampleQuery(types: [])) == 0)
            #expect(try count(SampleQuery(person: "unassigned")) == 1)
            #expect(try count(SampleQuery(source: "csv")) == 2)
            #expect(try count(SampleQuery(source: "Bluetooth")) == 1)
            for device in ["k1", "My strap", "H10", "77"] { #expect(try count(SampleQuery(device: device)) == 1) }
            #expect(try count(SampleQuery(device: "M")) == 0)
            #expect(try count(SampleQuery(source: "csv", limit: 1)) == 1)
            #expect(try count(SampleQuery(from: Self.instant(0), to: Self.instant(0))) == 0)
            #expect(try count(SampleQuery(from: Self.instant(0), to: Self.instant(0.000001))) == 3)
        }
    }

    @Test func lookups() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            // Several within one millisecond, with and without a skew.
            let samples = try (0..<20).map { try maker.local($0 % 3)("\($0)", at: Double($0) * 0.0001) }
            try test.keep(samples)
            for sample in samples {
                guard case .live(let found) = try test.store.samples.lookup(sample.sample.identity) else {
                    Issue.record("\(sample.sample.identity) is not found")
                    continue
                }
                #expect(TestStore.line(found.sample) == TestStore.line(sample.sample))
            }
            let text = try #require(SampleIdentity("01a1f7a6-b4a0-8f29-adfe-bb0975c93095"))
            #expect(try test.store.samples.lookup(text) == nil)
        }
    }

    /// A reader sees the store as it was at its start, while another connection writes.
    @Test func snapshots() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            try test.keep(try (0..<100).map { try maker("72", at: Double($0)) })
            let reader = try test.another(.read)
            let cursor = try reader.samples.cursor(matching: SampleQuery())
            #expect(try cursor.next() != nil)
            try test.keep(try (100..<200).map { try maker("72", at: Double($0)) })
            try test.store.samples.delete(
                matching: SampleQuery(to: Self.instant(50)), description: TestStore.description(.delete))
            var count = 1
            while try cursor.next() != nil { count += 1 }
            #expect(count == 100)
            cursor.close()
            #expect(try reader.summary().samples == 150)
            #expect(throws: StoreError.self) { try reader.beginIngest(TestStore.description()) }
            #expect(throws: StoreError.self) {
                try reader.samples.delete(matching: SampleQuery(), description: TestStore.description(.delete))
            }
        }
    }

    /// Two writers alternate, each with its own cache of the other's rows.
    @Test func twoWriters() throws {
        try TestStore.with { test in
            let other = try test.another()
            let first = try test.store.beginIngest(TestStore.description())
            let second = try other.beginIngest(TestStore.description())
            for round in 0..<40 {
                let maker = try SampleMaker(source: "s\(round / 3)", device: Device(key: "d\(round / 5)"))
                let batch = try (0..<20).map {
                    try maker("\(60 + $0)", at: Double(round * 10 + $0), metadata: Metadata([("round", .string("\(round / 2)"))]))
                }
                let outcomes = [try first.store(Array(batch.prefix(15))), try second.store(Array(batch.suffix(15)))]
                #expect(outcomes[0].allSatisfy { $0 == .stored })
                #expect(outcomes[1] == Array(repeating: .duplicate, count: 10) + Array(repeating: .stored, count: 5))
            }
            #expect(try first.finish(at: 0).stored == 600)
            #expect(try second.finish(at: 0).stored == 200)
            #expect(Set(try test.samples().map(\.ingest)) == [1, 2])
            var seqs: [Int64] = []
            try other.changes.read(after: 0, types: nil) { seqs.append($0.seq) }
            #expect(seqs == Array(1...800))
        }
    }

    /// If another process locks the store for too long, the error names the reason, and nothing is lost.
    @Test func busy() throws {
        try TestStore.with { test in
            let other = try test.another()
            let ingest = try test.store.beginIngest(TestStore.description())
            try other.connection.execute("BEGIN IMMEDIATE")
            try test.execute("PRAGMA busy_timeout = 0")
            let sample = try SampleMaker()("72", at: 0)
            let error = thrown(StoreError.self) { _ = try ingest.store([sample]) }
            #expect(error?.kind == .busy)
            #expect(error?.description.contains("try again") == true)
            try other.connection.execute("ROLLBACK")
            #expect(try ingest.store([sample]) == [.stored])
            _ = try ingest.finish(at: 0)
        }
    }

    @Test func summary() throws {
        try TestStore.with { test in
            let samples = try (0..<9).map { try SampleMaker()("72", at: Double($0)) }
            try test.keep(samples + [try SampleMaker(.bodyMass)("900", at: 0, rule: .impossible)])
            try test.delete(samples[0], samples[8])
            let summary = try test.store.summary()
            #expect((summary.samples, summary.deleted, summary.quarantined, summary.ingests) == (7, 2, 1, 2))
            #expect(summary.lastChange == 11)
            #expect(summary.person == TestStore.person)
            #expect(summary.series.count == 1)
            #expect(summary.series[0].first == samples[1].sample.start)
            #expect(summary.series[0].last == samples[7].sample.start)
            #expect(summary.bytes > 4096)
        }
    }
}
