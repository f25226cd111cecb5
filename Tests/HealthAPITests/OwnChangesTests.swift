import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthAPI
@testable import HealthServing

/// The changes of a person lead only to the person's own data, without any check by a page.
@Suite struct OwnChangesTests {
    private static let anna = "7f9c0000-0000-4000-8000-000000000001"
    private let served: ServedStore
    private let now = ServedStore.now

    init() throws {
        served = try ServedStore()
        try served.store.people.save(Person(id: Self.anna, name: "Anna"))
    }

    private func changes() throws -> (own: OwnChanges, session: PageSession) {
        let sessions = served.store.pageSessions
        let opened = try #require(try sessions.open(with: sessions.makeCode(for: Self.anna, at: now), at: now))
        return (try served.service.core.changes(of: opened.session), opened.session)
    }

    @Test func referencesToForeignSamples() throws {
        let beats = try served.add([61, 62, 63])
        try served.add([9000], from: 1_790_001_000)
        try served.store.samples.delete([beats[0]], description: IngestDescription(kind: .delete, received: 0))
        let own = try changes().own
        let entry = HandEntry(
            person: ServedStore.person,
            amounts: [.init(type: .heartRate, numeral: try Numeral("70"), unit: SampleType.heartRate.canonicalUnit)],
            time: now, zone: TimeZoneRules(fixed: .utc))
        for uuid in beats {
            #expect(try !own.delete(uuid, withParts: true, at: now))
            #expect(try !own.restore(uuid, at: now))
            #expect(try own.correct([uuid], with: Correction(amounts: [nil]), at: now) == nil)
            #expect(try own.undoCorrection(uuid, at: now) == nil)
        }
        for entry in try served.store.quarantine.all() {
            #expect(try !own.decide(entry.stored.sample.identity, accepting: true, at: now))
        }
        #expect(try served.store.quarantine.all().filter { $0.state == "held" }.count == 1)
        // The person of an entry or of a repair is the person of the session, whatever the request says.
        _ = try own.add(entry, at: now)
        var conditions = SampleConditions(types: [.heartRate])
        conditions.person = ServedStore.person
        let scale = RepairRequest(.scale(try Numeral("2")), of: conditions, takesAmbiguous: true, now: now)
        try own.apply(scale)
        let theirs = try served.store.samples.sample(beats[1])
        #expect(theirs?.sample.value == 62)
        let assignment = RepairRequest(.person(ServedStore.person), of: conditions, takesAmbiguous: true, now: now)
        #expect(throws: StoreError.self) { try own.apply(assignment) }
    }

    @Test func referencesToForeignRecords() throws {
        let people = served.store.people
        try people.annotate(ServedStore.person, day: "2026-11-20", tags: ["a"], note: "b")
        let note = try #require(try people.annotations(of: ServedStore.person, from: "2026-01-01", through: "2027-01-01").first)
        let alert = try served.store.alerts.add(
            of: ServedStore.person, type: .heartRate, .above, bound: 180, timing: .defaultTiming, at: now)
        let (own, session) = try changes()
        #expect(try !own.removeAnnotation(note.id))
        #expect(try !own.removeAlert(alert))
        let grant = Grant(
            person: ServedStore.person, type: ObjectType(.heartRate), reading: .all, mayWrite: true)
        try own.set(grant, objects: [], accesses: [.read, .write], of: served.other, at: now)
        #expect(try served.store.clients.grants(of: served.other).map(\.person) == [Self.anna])
        // Only the session of the owner opens the hub.
        #expect(OwnerAuthority(session, of: served.service.core) == nil)
    }
}
