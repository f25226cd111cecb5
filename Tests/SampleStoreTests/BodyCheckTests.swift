import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// `check(deep:)` of bodies: each fault is found by its name, and nothing else is.
@Suite struct BodyCheckTests {
    private static func reading(
        _ type: String, _ body: SampleBody?, number: Int64 = 0, at second: Int64 = 0
    ) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000 + second)
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: try #require(SampleType(type)),
                source: SourceRevision(id: "watch", name: "watch", version: nil), device: nil),
            numeral: Numeral(coefficient: number), unit: .one, time: .instants(start: start, end: start, offset: .utc),
            body: body, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private static func route() throws -> GatedSample {
        var writer = PointsWriter(columns: [.init("time"), .init("latitude", unit: "deg")])
        for index in 0..<2000 {
            try writer.append([Numeral(coefficient: Int64(index) * 999_983), Numeral(coefficient: Int64(index * index))])
        }
        let (points, content) = try writer.end()
        return try reading("workoutRoute", try SampleBody(encoding: WorkoutRoute(points: points), content: content))
    }

    private static func record() throws -> GatedSample {
        let record = ClinicalRecord(displayName: "x", resourceType: "Condition", identifier: "1", version: "R4")
        return try reading(
            "conditionRecord",
            try SampleBody(encoding: record, content: try PackedContent(Array("{\"resourceType\":\"Condition\"}".utf8))))
    }

    private func check(_ test: TestStore) throws -> (problems: [String], notes: [String]) {
        var notes: [String] = []
        let problems = try test.store.check(deep: true, note: { notes.append($0) })
        return (problems, notes)
    }

    @Test func soundBodies() throws {
        try TestStore.with { test in
            try test.keep([Self.route(), Self.record(), Self.reading("workout", SampleBody(encoding: Workout()), number: 37)])
            let (problems, notes) = try check(test)
            #expect(problems == [] && notes == [])
        }
    }

    /// A change to a body, and the finding.
    @Test(arguments: [
        ("UPDATE body SET digest = substr(digest, 1, 15) || x'00'", "whose body does not match its digest"),
        ("UPDATE body SET octets = x'7B22'", "whose body cannot be read"),
        ("UPDATE body SET octets = substr(octets, 1, length(octets) - 1)", "damaged"),
        ("UPDATE body SET octets = substr(octets, 1, instr(octets, x'00') - 1)", "points are missing"),
        ("UPDATE body SET octets = substr(octets, 1, instr(octets, x'00'))", "damaged"),
        ("UPDATE body SET octets = substr(octets, 1, instr(octets, x'00') + 33)", "damaged"),
        ("UPDATE body SET octets = CAST(replace(CAST(octets AS TEXT), '2000', '1999') AS BLOB) || x'00'", "damaged"),
        ("UPDATE context SET body = NULL", "without a body"), ("DELETE FROM body", "contexts whose body is missing"),
        ("UPDATE series SET kind = 3", "its kind is workout instead of"),
    ])
    func damage(sql: String, words: String) throws {
        let test = try TestStore()
        test.isSound = false
        try test.keep([Self.route(), Self.record()])
        try test.execute(sql)
        try test.reopen()
        let (problems, _) = try check(test)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
        try test.close()
    }

    /// Every truncated or changed byte of a body is noticed, and nothing crashes.
    @Test func detectsChangeOfAnyByte() throws {
        let test = try TestStore()
        test.isSound = false
        try test.keep([Self.record()])
        let bytes = try #require(try test.samples().first?.sample.body?.bytes)
        func set(_ bytes: [UInt8]) throws {
            try test.store.connection.run("UPDATE body SET octets = ?", .blob(bytes))
        }
        for length in bytes.indices {
            try set(Array(bytes[..<length]))
            #expect(try !check(test).problems.isEmpty, "cut to \(length)")
        }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x11
            try set(changed)
            #expect(try !check(test).problems.isEmpty, "changed at \(index)")
        }
        try set(bytes)
        #expect(try check(test).problems.isEmpty)
        try test.close()
    }

    /// References to missing objects, and unused bodies, are reported and are not damage.
    @Test func notes() throws {
        try TestStore.with { test in
            let beat = try SampleMaker()("60", at: 0)
            let nowhere = try #require(SampleIdentity("0195fb5a-0000-8000-8000-000000000001"))
            let pair = try Self.reading(
                "bloodPressure", try SampleBody(encoding: Correlation(objects: [beat.sample.identity, nowhere])))
            let ingest = try test.keep([beat, pair]).account.id
            #expect(try check(test).notes == ["1 samples referenced by a correlation are not in the store"])
            // Deleted objects are known.
            try test.delete(beat)
            #expect(try check(test).notes == ["1 samples referenced by a correlation are not in the store"])
            _ = try test.store.ledger.undo(
                try #require(ingest as Int64?), forget: true, description: TestStore.description(.undo))
            let (problems, notes) = try check(test)
            #expect(problems == [])
            #expect(notes.count == 1 && notes[0].hasPrefix("1 body without a sample, "), "\(notes)")
        }
    }
}
