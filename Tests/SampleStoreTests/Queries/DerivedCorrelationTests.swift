import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The blood pressures derived from frames: present while both halves are, with their own UUID, and never in addition to a stored one.
@Suite struct DerivedCorrelationTests {
    private static let cuff = Device(key: "cuff")

    private static func frame(_ high: String, _ low: String?, at second: Double, group: UInt64) throws -> [GatedSample] {
        let (upper, lower) = (
            try SampleMaker(.bloodPressureSystolic, device: cuff), try SampleMaker(.bloodPressureDiastolic, device: cuff)
        )
        let pulse = try SampleMaker(device: cuff)
        return [try upper(high, at: second, group: group)] + (try low.map { [try lower($0, at: second, group: group)] } ?? [])
            + [try pulse("60", at: second, group: group)]
    }

    private static func stored(_ objects: [GatedSample]) throws -> GatedSample {
        let start = objects[0].sample.start
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: DerivedCorrelations.type, source: SourceRevision(id: "app", name: "App"),
                device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: .utc),
            body: try SampleBody(encoding: Correlation(objects: objects.map(\.sample.identity))), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private func pressures(_ test: TestStore, _ condition: SamplePredicate = .everything) throws -> [StoredSample] {
        var query = SampleQuery(types: [DerivedCorrelations.type], where: condition)
        query.derivesCorrelations = true
        return try test.samples(query)
    }

    @Test func frameGivesOneCorrelationWithoutPulse() throws {
        try TestStore.with { test in
            let frame = try Self.frame("120", "80", at: 10, group: 7)
            try test.keep(frame, try Self.frame("130", nil, at: 20, group: 8))
            let found = try pressures(test)
            #expect(found.count == 1)
            #expect(OwnedObjects.named(by: found[0].sample) == frame.prefix(2).map(\.sample.identity))
            #expect(found[0].sample.start == frame[0].sample.start && found[0].sample.origin.device?.key == "cuff")
            #expect(try test.store.samples.derivedCorrelation(found[0].uuid)?.uuid == found[0].uuid)
            #expect(try test.store.samples.lookup(found[0].uuid) == nil)
            // Not among the stored samples.
            #expect(try test.samples().count == 5)
            #expect(try test.samples(SampleQuery(types: [DerivedCorrelations.type])).isEmpty)
            // The UUID follows from its halves alone and never changes.
            #expect(found[0].uuid.description == "019b76da-cf10-8a3a-b682-6cf9bec078e1")
            let inOne = SampleQuery(.predicateForObjectsWithCorrelation())
            #expect(Set(try test.identities(inOne)) == Set(frame.prefix(2).map(\.sample.identity)))
            #expect(try test.samples(SampleQuery(.predicateForObjectsWithNoCorrelation())).count == 3)
            #expect(Set(try test.identities(SampleQuery(.predicateForObjects(fromCorrelation: found[0].uuid)))).count == 2)
            #expect(try pressures(test, .predicateForObject(with: found[0].uuid)).count == 1)
            #expect(try pressures(test, .starts(from: Instant(seconds: 1_767_225_611), before: nil)).isEmpty)
        }
    }

    @Test func correlationFollowsBothValues() throws {
        try TestStore.with { test in
            let frame = try Self.frame("120", "80", at: 10, group: 7)
            try test.keep(frame)
            let before = try #require(try pressures(test).first)
            try test.delete(frame[1])
            #expect(try pressures(test).isEmpty)
            #expect(try test.store.samples.derivedCorrelation(before.uuid) == nil)
            try test.restore(frame[1])
            #expect(try pressures(test).map(\.uuid) == [before.uuid])
        }
    }

    @Test func aRepairedHalfMakesAnotherOne() throws {
        try TestStore.with { test in
            // Kilopascals that were read as millimeters of mercury.
            try test.keep(try Self.frame("16", "80", at: 10, group: 7))
            let before = try #require(try pressures(test).first)
            let kilopascal = Repair.unit(RepairTests.known("kPa"))
            let repairID = try test.migrate(TestStore.request(kilopascal, .bloodPressureSystolic, ambiguous: true)).repairID
            let after = try #require(try pressures(test).first)
            #expect(after.uuid != before.uuid)
            #expect(try pressures(test).count == 1)
            try test.undo(try #require(repairID))
            #expect(try pressures(test).map(\.uuid) == [before.uuid])
        }
    }

    @Test func storedCorrelationIsNotDerivedAgain() throws {
        try TestStore.with { test in
            let (frame, other) = (try Self.frame("120", "80", at: 10, group: 7), try Self.frame("140", "90", at: 20, group: 8))
            let stored = try Self.stored(Array(frame.prefix(2)))
            try test.keep(frame, other, [stored])
            let found = try pressures(test)
            #expect(found.count == 2 && found[0].uuid == stored.sample.identity)
            // After the undo, the correlation is derived from the frame again.
            try test.delete(stored)
            #expect(try pressures(test).count == 2)
            #expect(try pressures(test).allSatisfy { $0.uuid != stored.sample.identity })
        }
    }

    /// The cuff reports it now, the app's export later. Its pressures are duplicates, and its correlation names them.
    @Test func theSameOverTwoPathsIsThereOnce() throws {
        try TestStore.with { test in
            try test.keep(try Self.frame("120", "80", at: 10, group: 7))
            let app = [
                try SampleMaker(.bloodPressureSystolic, source: "app")("120", at: 10, group: 9),
                try SampleMaker(.bloodPressureDiastolic, source: "app")("80", at: 10, group: 9),
            ]
            let (outcomes, _) = try test.keep(app, [try Self.stored(app)])
            #expect(outcomes[0] == [.duplicate, .duplicate])
            let found = try pressures(test)
            #expect(found.count == 1)
            #expect(OwnedObjects.named(by: found[0].sample) == app.map(\.sample.identity))
            // It refers to the UUIDs of the cuff's frame.
            let reported = try app.map { try #require(try test.store.samples.currentSample($0.sample.identity)) }
            #expect(reported.map(\.sample.origin.device?.key) == ["cuff", "cuff"] && reported.map(\.sample.value) == [120, 80])
            let members = SampleQuery(.predicateForObjects(fromCorrelation: found[0].uuid))
            #expect(Set(try test.identities(members)) == Set(reported.map(\.uuid)))
        }
    }

    /// The sample that another source reported first may have been repaired and then deleted.
    @Test func objectResolvesToLiveSample() throws {
        try TestStore.with { test in
            try test.keep(try Self.frame("16", "80", at: 10, group: 7))
            let app = [
                try SampleMaker(.bloodPressureSystolic, source: "app")("16", at: 10, group: 9),
                try SampleMaker(.bloodPressureDiastolic, source: "app")("80", at: 10, group: 9),
            ]
            try test.keep(app, [try Self.stored(app)])
            let name = app[0].sample.identity
            let first = try #require(try test.store.samples.currentSample(name))
            let kilopascal = Repair.unit(RepairTests.known("kPa"))
            try test.migrate(TestStore.request(kilopascal, .bloodPressureSystolic, ambiguous: true))
            let repaired = try #require(try test.store.samples.currentSample(name))
            #expect(repaired.uuid != first.uuid && repaired.sample.unit.code == "kPa")
            _ = try test.store.samples.delete([repaired.uuid], description: TestStore.description(.delete))
            #expect(try test.store.samples.currentSample(name) == nil)
            #expect(try pressures(test).count == 1)
        }
    }

    /// Two measurements that share start and group: the first with the first, the second with the second.
    @Test func turnByTurn() throws {
        try TestStore.with { test in
            let high = try SampleMaker(.bloodPressureSystolic)
            let low = try SampleMaker(.bloodPressureDiastolic)
            try test.keep([
                try high("120", at: 0, group: 1), try high("125", at: 0, group: 1), try low("80", at: 0, group: 1),
                try low("85", at: 0, group: 1), try high("130", at: 0, group: 1),
            ])
            let values = try pressures(test).map { pressure in
                try OwnedObjects.named(by: pressure.sample).map { try #require(try test.store.samples.sample($0)).sample.value }
            }
            #expect(values == [[120, 80], [125, 85]])
        }
    }
}
