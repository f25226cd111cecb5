import HealthModel
import Pipeline
import PipelineTesting
import SQLiteKit
import Testing

@testable import SampleStore

/// Samples are found by the first digits of their UUIDs.
@Suite struct PrefixTests {
    private func prefix(_ uuid: SampleIdentity, _ count: Int) throws -> IdentityPrefix {
        try #require(IdentityPrefix(uuid.description.filter { $0 != "-" }.prefix(count)))
    }

    private func found(
        _ test: TestStore, _ uuid: SampleIdentity, _ count: Int, _ scope: SampleStore.Samples.PrefixScope = .all
    ) throws -> [SampleIdentity] {
        try test.store.samples.uuids(beginningWith: prefix(uuid, count), among: scope, limit: 8).uuids
    }

    @Test func anUnambiguousPrefixIsOneSample() throws {
        try TestStore.with { test in
            let (beats, local) = (try SampleMaker(), try SampleMaker(.bodyMass, source: "file").local(2))
            let samples = [try beats("61", at: 0), try beats("62", at: 3600), try local("71", at: 7200)]
            try test.keep(samples)
            for sample in samples {
                for count in 12...31 { #expect(try found(test, sample.sample.identity, count) == [sample.sample.identity]) }
            }
            // The three are within 49 days, so four digits fit all of them.
            let all = samples.map(\.sample.identity).sorted()
            #expect(try found(test, all[0], 4) == all)
            #expect(try test.store.samples.uuids(beginningWith: prefix(all[0], 4), among: .all, limit: 2).isCut)
            #expect(try test.store.samples.uuids(beginningWith: prefix(all[0], 4), among: .all, limit: 2).uuids.count == 2)
        }
    }

    @Test func deletedSamplesAreApart() throws {
        try TestStore.with { test in
            let local = try SampleMaker(.bodyMass, source: "file").local(2)
            for maker in [try SampleMaker(), local] {
                let sample = try maker("71", at: 0)
                let uuid = sample.sample.identity
                try test.keep([sample])
                #expect(try found(test, uuid, 20, .live) == [uuid] && found(test, uuid, 20, .deleted).isEmpty)
                try test.delete(sample)
                #expect(try found(test, uuid, 20, .live).isEmpty && found(test, uuid, 20, .deleted) == [uuid])
                #expect(try found(test, uuid, 20) == [uuid])
                try test.restore(sample)
                #expect(try found(test, uuid, 20, .live) == [uuid] && found(test, uuid, 20, .deleted).isEmpty)
                try test.delete(sample)
            }
        }
    }

    /// The key of the table is searched, so rows outside the range cost nothing.
    @Test(arguments: [0, 2]) func otherRowsCostNothing(hours: Int) throws {
        func cost(_ count: Int) throws -> Int {
            try TestStore.with { test in
                let maker = try SampleMaker().local(hours)
                try test.keep(try (0..<count).map { try maker("6\($0 % 9)", at: Double($0)) })
                let sample = try maker("80", at: 900_000)
                try test.keep([sample])
                return try test.store.connection.work {
                    let uuids = try found(test, sample.sample.identity, 10)
                    #expect(uuids == [sample.sample.identity])
                }
            }
        }
        let (few, many) = (60, 1200)
        #expect(try cost(many) - cost(few) < many - few)
    }

    /// A prefix of many samples does not read all of them.
    @Test func theSearchIsBounded() throws {
        try TestStore.with { test in
            let maker = try SampleMaker()
            let samples = try (0..<5000).map { try maker("6\($0 % 9)", at: Double($0)) }
            try test.keep(samples)
            let work = try test.store.connection.work {
                let matches = try test.store.samples.uuids(
                    beginningWith: prefix(samples[0].sample.identity, 4), among: .all, limit: 8)
                #expect(matches.isCut && matches.uuids.count == 8)
            }
            #expect(work < 5000, "\(work)")
            let local = try SampleMaker(.bodyMass).local(2)
            let others = try (0..<5000).map { try local("7\($0 % 9)", at: Double($0)) }
            try test.keep(others)
            #expect(
                try test.store.samples.uuids(beginningWith: prefix(others[0].sample.identity, 4), among: .all, limit: 8).isCut)
        }
    }
}
