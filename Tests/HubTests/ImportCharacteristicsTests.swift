import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// Characteristics in a file: they apply from the time at which the file was made, are reported by name only, and are undone with the
/// import.
@Suite struct ImportCharacteristicsTests {
    let folder: TemporaryFolder
    let store: SampleStore
    let received = FixedClock().now

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: OneReadingTests.person, time: received.microseconds))
    }

    /// Imports a file with these rows, made this many days before its import.
    private func take(
        _ reported: [(CharacteristicType, String)], daysBefore: Int64?, person: String? = nil, failure: SourceError? = nil
    ) throws -> ImportService.Outcome {
        let answers = try reported.enumerated().map { index, value in
            let characteristic = try #require(Characteristic(value.0, value.1))
            return (Place(.line, index + 1), ScriptedInterpreter.Answer.characteristics([characteristic]))
        }
        let written = daysBefore.map { Instant(microseconds: received.microseconds - $0 * Calendar.day) }
        let reading = FileReading(
            path: "export.xml", profile: "apple-health-export", person: person ?? store.owner,
            source: ScriptedSource(rows: reported.map { _ in [""] }, received: received, failure: failure),
            interpreter: ScriptedInterpreter(Dictionary(uniqueKeysWithValues: answers), written: written))
        let time = received
        return try ImportService(store: store, now: { time }, zone: TimeZoneRules(fixed: .utc)).run(reading, received: received)
    }

    private func now(_ type: CharacteristicType) throws -> String? {
        let today = String(received.wallTime(at: .utc).description.prefix(10))
        return try store.people.characteristics(of: store.owner).value(of: type, on: today)?.value
    }

    @Test func areTaken() throws {
        let first = try take(
            [(.dateOfBirth, "1985-04-02"), (.bloodType, "aPositive"), (.biologicalSex, "notSet")], daysBefore: 2)
        #expect(first.account.notes == ["characteristics set: dateOfBirth, bloodType"])
        #expect(first.account.read == 0 && first.account.skipped.isEmpty)
        #expect(try now(.dateOfBirth) == "1985-04-02" && now(.bloodType) == "aPositive" && now(.biologicalSex) == nil)
        // The same values again are not reported.
        #expect(try take([(.bloodType, "aPositive")], daysBefore: 1).account.notes.isEmpty)
        let undone = try store.ledger.undo(
            first.account.id, forget: false, description: IngestDescription(kind: .undo, received: received.microseconds))
        #expect(undone.ingest > 0)
        #expect(try store.people.touchesCharacteristics(first.account.id) && store.people.touchesCharacteristics(undone.ingest))
        // The second export also contained one of them.
        #expect(try now(.dateOfBirth) == nil && now(.bloodType) == "aPositive")
        #expect(try store.check(deep: true).isEmpty)
    }

    @Test func aPersonsLaterWordStays() throws {
        let recorded = Instant(microseconds: received.microseconds - Calendar.day)
        try store.people.set(
            .wheelchairUse, to: Characteristic(.wheelchairUse, "yes"), of: store.owner, from: "2026-01-01", recorded: recorded)
        for daysBefore in [3, nil] as [Int64?] {
            let notes = try take([(.wheelchairUse, "no")], daysBefore: daysBefore).account.notes
            #expect(
                notes == ["characteristics not changed, because the stored values are newer than the file: wheelchairUse"])
            #expect(try now(.wheelchairUse) == "yes")
        }
        #expect(try take([(.wheelchairUse, "no")], daysBefore: 0).account.notes == ["characteristics set: wheelchairUse"])
        #expect(try now(.wheelchairUse) == "no")
    }

    /// A truncated file keeps the values before the cut. If a file contains a value twice, the last one counts.
    @Test func truncatedFileKeepsEarlierValues() throws {
        let outcome = try take(
            [(.bloodType, "aPositive"), (.bloodType, "bNegative"), (.bloodType, "notSet")], daysBefore: 1,
            failure: SourceError(.malformed, "it breaks off"))
        #expect(outcome.account.state == "failed")
        #expect(try now(.bloodType) == "bNegative")
    }

    @Test func ignoresUnassignedPerson() throws {
        #expect(try take([(.bloodType, "aPositive")], daysBefore: 1, person: Origin.unassigned).account.notes.isEmpty)
        #expect(try store.people.peopleWithCharacteristics().isEmpty)
    }

    /// A rehearsal leaves nothing.
    @Test func areRehearsed() throws {
        let notes = try store.rehearse { try take([(.bloodType, "aPositive")], daysBefore: 1).account.notes }
        #expect(notes == ["characteristics set: bloodType"])
        #expect(try store.people.peopleWithCharacteristics().isEmpty)
    }
}
