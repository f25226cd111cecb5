import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The members of a correlation are deleted and restored with it only on request.
@Suite struct OwnedObjectsTests {
    private static func beats(_ count: Int) throws -> [GatedSample] {
        try (0..<count).map { try SampleMaker(source: "s\($0 % 2)")("\(60 + $0)", at: Double($0 / 2) * 60) }
    }

    static func correlation(
        _ objects: [GatedSample], at second: Double, person: String = TestStore.person, source: String = "s"
    ) throws -> GatedSample {
        let start = Instant(microseconds: 1_767_225_600_000_000 + Int64(second * 1e6))
        let reading = Reading(
            origin: Origin(
                person: person, type: try #require(SampleType("food")),
                source: SourceRevision(id: source, name: source, version: nil), device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: .utc),
            body: try SampleBody(encoding: Correlation(objects: objects.map(\.sample.identity))), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private func live(_ test: TestStore) throws -> Set<SampleIdentity> { Set(try test.identities()) }

    /// Random deletions and restorations of few samples that several correlations share, against a dictionary.
    @Test func matchesDictionaryModel() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<12 {
            try TestStore.with { test in
                let beats = try Self.beats(4)
                let owned = [[0, 1], [1, 2], [0, 1, 2, 3]]
                let wholes = try owned.enumerated().map { index, own in
                    try Self.correlation(own.map { beats[$0] }, at: Double(index))
                }
                try test.keep(beats, wholes)
                let all = (beats + wholes).map(\.sample.identity)
                // The change that deleted it. 0 while it is live.
                var deleted = Dictionary(uniqueKeysWithValues: all.map { ($0, 0) })
                for change in 1...25 {
                    let index = Int.random(in: 0..<all.count, using: &random)
                    let uuid = all[index]
                    let own = index < beats.count ? [] : owned[index - beats.count].map { all[$0] }
                    let withObjects = Bool.random(using: &random)
                    let mayFail = Bool.random(using: &random)
                    if mayFail == (deleted[uuid] == 0) {
                        guard deleted[uuid] == 0 else { continue }
                        let staying = own.count { deleted[$0] == 0 }
                        #expect(try test.store.samples.countOfObjects(namedBy: [uuid]) == staying)
                        let count = try test.store.samples.delete(
                            [uuid], withObjects: withObjects, description: TestStore.description(.delete)
                        ).count
                        #expect(count == 1 + (withObjects ? staying : 0))
                        deleted[uuid] = change
                        for other in own where withObjects && deleted[other] == 0 { deleted[other] = change }
                    } else {
                        guard let by = deleted[uuid], by > 0 else { continue }
                        let coming = own.filter { deleted[$0] == by }
                        #expect(try test.store.samples.countOfObjects(namedBy: [uuid], deleted: true) == coming.count)
                        let count = try test.store.samples.restore(
                            [uuid], withObjects: withObjects, description: TestStore.description(.restore)
                        ).count
                        #expect(count == 1 + (withObjects ? coming.count : 0))
                        deleted[uuid] = 0
                        for other in coming where withObjects { deleted[other] = 0 }
                    }
                    #expect(try live(test) == Set(deleted.filter { $0.value == 0 }.keys))
                }
                #expect(try test.store.check(deep: true) == [])
            }
        }
    }

    /// A query's own are not counted among those that belong to them, and go once.
    @Test func queries() throws {
        try TestStore.with { test in
            let beats = try Self.beats(4)
            let whole = try Self.correlation(beats, at: 0)
            try test.keep(beats, [whole])
            let food: Set<SampleType> = [try #require(SampleType("food"))]
            #expect(try test.store.samples.countOfObjects(namedBy: SampleQuery(types: food)) == 4)
            #expect(try test.store.samples.countOfObjects(namedBy: SampleQuery()) == 0)
            #expect(try test.store.samples.countOfObjects(namedBy: SampleQuery(types: [.heartRate])) == 0)
            let some = SampleQuery(where: try SamplePredicate("case = none or value < 62 or object ~ '-'"))
            #expect(try test.store.samples.countOfObjects(namedBy: some) == 2)
            let before = try test.lines()
            let (ingest, count) = try test.store.samples.delete(
                matching: some, withObjects: true, description: TestStore.description(.delete))
            #expect(count == 5)
            #expect(try test.lines() == [])
            _ = try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo))
            #expect(try test.lines() == before)
        }
    }

    /// A UUID in an object leads to objects of the same person, and for an object of a client to this client's own.
    @Test func referencesToForeignObjects() throws {
        try TestStore.with { test in
            let anna = "7f9c0000-0000-4000-8000-000000000001"
            let theirs = try Self.beats(2)
            let own = [try SampleMaker(person: anna)("70", at: 10)]
            let saved = [try SampleMaker(source: "client.7")("80", at: 20)]
            let member = try Self.correlation(theirs + own, at: 30, person: anna)
            let client = try Self.correlation(theirs + saved, at: 31, source: "client.7")
            try test.keep(theirs + own + saved, [member, client])
            let samples = try test.store.samples
            for uuid in theirs.map(\.sample.identity) {
                for holder in [member, client] { #expect(try samples.object(named: uuid, in: holder.sample) == nil) }
                #expect(try samples.currentSample(uuid) != nil)
            }
            #expect(try samples.object(named: own[0].sample.identity, in: member.sample) != nil)
            #expect(try samples.object(named: saved[0].sample.identity, in: client.sample) != nil)
            let wholes = [member, client].map(\.sample.identity)
            for uuid in wholes { #expect(try samples.countOfObjects(namedBy: [uuid]) == 1) }
            let reference = SamplePredicate.comparison(.inCorrelation, .equal, .text(wholes[0].description))
            #expect(try test.samples(SampleQuery(where: reference)).map(\.uuid) == own.map(\.sample.identity))
            let count = try samples.delete(wholes, withObjects: true, description: TestStore.description(.delete)).count
            #expect(try count == 4 && live(test) == Set(theirs.map(\.sample.identity)))
            // Objects that their owner deletes are not restored with it.
            try samples.delete(theirs.map(\.sample.identity), description: TestStore.description(.delete))
            #expect(
                try samples.restore(wholes, withObjects: true, description: TestStore.description(.restore)).count == 4)
            #expect(try live(test) == Set((own + saved + [member, client]).map(\.sample.identity)))
        }
    }

    /// A UUID in a correlation leads to samples of the correlation's time, however the correlation got into the store.
    @Test func referencesToOtherTimes() throws {
        try TestStore.with { test in
            let samples = try test.store.samples
            // The times of a file can be rounded to minutes.
            let theirs = [try SampleMaker()("60", at: 0), try SampleMaker()("61", at: 60), try SampleMaker()("62", at: 86_400)]
            let day = [SampleIdentity](theirs.map(\.sample.identity))
            let whole = try Self.correlation(theirs, at: 30)
            let uuid = whole.sample.identity
            try test.keep(theirs, [whole])
            #expect(try samples.object(named: day[2], in: whole.sample) == nil)
            #expect(try samples.object(named: day[1], in: whole.sample)?.uuid == day[1])
            let reference = SamplePredicate.comparison(.inCorrelation, .equal, .text(uuid.description))
            #expect(try test.samples(SampleQuery(where: reference)).map(\.uuid) == Array(day.prefix(2)))
            #expect(try samples.countOfObjects(namedBy: [uuid]) == 2)
            try samples.delete([day[2]], description: TestStore.description(.delete))
            #expect(try samples.delete([uuid], withObjects: true, description: TestStore.description(.delete)).count == 3)
            #expect(
                try samples.restore([uuid], withObjects: true, description: TestStore.description(.restore)).count == 3)
            #expect(try live(test) == Set(day.prefix(2) + [uuid]))
        }
    }

    /// The key `corrects` of a sample in a file is data as well.
    @Test func correctionOfForeignSample() throws {
        try TestStore.with { test in
            let anna = "7f9c0000-0000-4000-8000-000000000001"
            let theirs = try Self.beats(1)
            let uuid = theirs[0].sample.identity
            try test.keep(theirs)
            try test.store.samples.delete([uuid], description: TestStore.description(.delete))
            let metadata = Metadata([(Correction.key, .string(uuid.description))])
            let forged = try SampleMaker(source: HandEntry.source.id, person: anna)("70", at: 10, metadata: metadata)
            try test.keep([forged])
            #expect(throws: StoreError.self) {
                try test.store.samples.undoCorrection(forged.sample.identity, received: TestStore.received)
            }
            #expect(try live(test) == [forged.sample.identity])
        }
    }

    /// A correlation names the original samples. Repaired ones belong to it as well.
    @Test func repairedObjects() throws {
        try TestStore.with { test in
            let beats = try Self.beats(2)
            let whole = try Self.correlation(beats, at: 0)
            try test.keep(beats, [whole])
            let shift = RepairRequest(
                .shift(3_600_000_000), of: SampleConditions(), takesAmbiguous: true, now: TestStore.received)
            #expect(try test.store.repairs.apply(shift).plan.repaired == 3)
            let repaired = try test.lines()
            let moved = try #require(try test.samples().first { $0.sample.origin.kind == .correlation })
            #expect(try test.store.samples.countOfObjects(namedBy: [moved.uuid]) == 2)
            let count = try test.store.samples.delete(
                [moved.uuid], withObjects: true, description: TestStore.description(.delete)
            ).count
            #expect(count == 3)
            #expect(try test.lines() == [])
            #expect(try test.store.samples.countOfObjects(namedBy: [moved.uuid], deleted: true) == 2)
            #expect(
                try test.store.samples.restore([moved.uuid], withObjects: true, description: TestStore.description(.restore))
                    .count == 3)
            #expect(try test.lines() == repaired)
            #expect(try test.store.check(deep: true) == [])
        }
    }
}
