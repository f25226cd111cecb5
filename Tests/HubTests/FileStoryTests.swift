import FileSource
import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

/// Reports from users that involve files.
@Suite struct FileStoryTests {
    let folder: TemporaryFolder
    let store: SampleStore
    let received = FixedClock().now

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: OneReadingTests.person, time: received.microseconds))
    }

    @discardableResult
    func load(_ rows: [String], zone: TimeZoneRules = TimeZoneRules(fixed: .utc)) throws -> IngestAccount {
        let text = rows.map { $0 + "\n" }.joined()
        try folder.write(Array(text.utf8), to: "file.csv")
        let time = received
        let machine = Machine(environment: [:], now: { time }, zoneDirectory: "/nonexistent")
        let reading = try FileReading(
            path: folder.file("file.csv"), options: ReadingOptions(),
            library: try Checkout.library, registry: OriginRegistry(person: store.owner),
            received: received)
        return try ImportService(store: store, now: machine.now, zone: zone).run(reading, received: received).account
    }

    func samples(_ type: SampleType) throws -> [Sample] {
        let cursor = try store.samples.cursor(matching: SampleQuery(types: [type]))
        defer { cursor.close() }
        var found: [Sample] = []
        while let next = try cursor.next() { found.append(next.sample) }
        return found
    }

    static let header = "time,type,value,unit"

    @Test("story 19: a micro sign by another code point is the same unit") func story19() throws {
        try load([
            Self.header, "2026-11-06T07:00:00Z,dietaryVitaminA,700,\u{B5}g", "2026-11-07T07:00:00Z,dietaryVitaminA,700,\u{3BC}g",
        ])
        let units = try samples(#require(SampleType("dietaryVitaminA"))).map(\.unit.code)
        #expect(units == ["ug", "ug"])
        #expect(try load([Self.header, "2026-11-07T07:00:00Z,dietaryVitaminA,700,ug"]).duplicate == 1)
    }

    @Test("story 20: a child's 15 kg on a 100 kg person's scale is nobody's") func story20() throws {
        let own = (1...5).map { "2026-11-0\($0)T07:00:00Z,bodyMass,\(100 + $0 % 2).\($0),kg" }
        try load([Self.header] + own)
        let child = [Self.header, "2026-11-06T07:00:00Z,bodyMass,15.2,kg"]
        let account = try load(child)
        #expect((account.stored, account.quarantined) == (1, 0))
        #expect(try samples(.bodyMass).map(\.origin.person).filter { $0 == Origin.unassigned }.count == 1)
        #expect(try load(child).duplicate == 1)
        // Pounds stored as kilograms are not another person. They are a case for a repair.
        try load([Self.header, "2026-11-07T07:00:00Z,bodyMass,222.7,kg"])
        #expect(try samples(.bodyMass).last?.origin.person == store.owner)
        #expect(try store.check() == [])
    }

    /// Samples from before the history stay with their person, and are not stored again as unassigned.
    @Test func storedSamplesKeepTheirPerson() throws {
        let child = [Self.header, "2026-11-06T07:00:00Z,bodyMass,15.2,kg"]
        try load(child)
        try load([Self.header] + (1...5).map { "2026-11-0\($0)T07:00:00Z,bodyMass,100.\($0),kg" })
        #expect(try load(child).duplicate == 1)
        #expect(try samples(.bodyMass).count == 6)
    }

    @Test("story 21: a file read under another zone comes once") func story21() throws {
        let rows = [Self.header, "2026-07-20 06:31:00,bodyMass,80.1,kg"]
        #expect(try load(rows, zone: .berlin).stored == 1)
        #expect(try load(rows).duplicate == 1)
        #expect(try samples(.bodyMass).map(\.start.description) == ["2026-07-20T04:31:00.000000Z"])
    }

    @Test("a change of clocks in a file without a zone: the gap is refused, the overlap goes by the file's order")
    func changeOfClocks() throws {
        let rows =
            [Self.header, "2026-03-29 01:59:00,heartRate,60,/min", "2026-03-29 02:30:00,heartRate,61,/min"]
            + ["2026-10-25 02:10:00", "2026-10-25 02:50:00", "2026-10-25 02:10:00", "2026-10-25 02:50:00", "2026-10-25 03:10:00"]
            .enumerated().map { "\($1),heartRate,\(70 + $0),/min" }
        let account = try load(rows, zone: .berlin)
        #expect((account.stored, account.refused) == (6, 1))
        #expect(
            try samples(.heartRate).map { $0.start.description.dropFirst(5).prefix(11) } == [
                "03-29T00:59", "10-25T00:10", "10-25T00:50", "10-25T01:10", "10-25T01:50", "10-25T02:10",
            ])
    }

    @Test("story 26: a time column that a spreadsheet rewrote is refused, never taken for noon") func story26() throws {
        let account = try load([
            Self.header, "46346.2715,bodyMass,80.1,kg", "11/20/26,bodyMass,80.1,kg", "########,bodyMass,80.1,kg",
        ])
        #expect((account.stored, account.refused) == (0, 3))
    }

    @Test("story 16: 0.304 and 30.4 and 3040 of one percentage: what no ratio explains is held") func story16() throws {
        try load([Self.header, "2026-11-06T07:00:00Z,bodyFatPercentage,3040,%"])
        #expect(try store.quarantine.all().map(\.rule) == ["impossible-value"])
        #expect(try store.quarantine.all().map(\.frame) == ["2026-11-06T07:00:00Z,bodyFatPercentage,3040,%"])
    }

    /// No temperature in any unit, and held like all that cannot be: the numeral may still be a defect of ours, or tenths.
    @Test func belowAbsoluteZero() throws {
        let account = try load([
            Self.header, "2026-11-06T07:00:00Z,bodyTemperature,-300,degC",
            "2026-11-06T07:01:00Z,basalBodyTemperature,-460,[degF]",
            "2026-11-06T07:02:00Z,appleSleepingWristTemperature,-1,K", "2026-11-06T07:03:00Z,waterTemperature,-273.16,Cel",
            "2026-11-06T07:04:00Z,roomTemperature,-300,Cel", "2026-11-06T07:05:00Z,roomTemperature,-40,Cel",
        ])
        #expect((account.stored, account.quarantined, account.refused) == (1, 5, 0))
        let quarantined = try store.quarantine.all().sorted { $0.stored.sample.start < $1.stored.sample.start }
        #expect(quarantined.map(\.rule) == Array(repeating: "impossible-value", count: 5))
        #expect(quarantined.map(\.place) == (2...6).map { "line \($0)" })
    }

    /// Every type that is a temperature has limits that lie above absolute zero.
    @Test func noTemperatureIsWithoutLimits() throws {
        let kelvin = try HealthModel.Unit(ucum: "K")
        let temperatures = SampleType.quantities.filter { $0.canonicalUnit.dimension == kelvin.dimension }
        #expect(temperatures.count >= 5)
        for type in temperatures {
            let limits = try #require(type.hardLimits, "\(type.id)")
            #expect(try type.canonicalUnit.conversion(to: kelvin)(limits.lowerBound) > 0, "\(type.id)")
        }
    }

    @Test func theSoftRange() throws {
        let account = try load([
            Self.header, "2026-11-06T07:00:00Z,bodyTemperature,98.2,Cel", "2026-11-06T07:00:00Z,bodyTemperature,60,Cel",
            "2026-11-06T07:01:00Z,heartRate,350,/min", "2026-11-06T07:02:00Z,heartRate,255,/min",
        ])
        // 98.2 is a fever of no kind, and a fine 98.2 °F.
        #expect((account.stored, account.quarantined) == (1, 3))
        #expect(try store.quarantine.all().map(\.rule) == ["implausible-value", "implausible-value", "sentinel-value"])
    }

    @Test("story 27: the same upload again and again") func story27() throws {
        let rows =
            ["time,type,value,unit,device"] + (0..<50).map { "2026-11-06T07:\(10 + $0)Z,bloodGlucose,\(90 + $0),mg/dL,CGM" }
        #expect(try load(rows).stored == 50)
        for _ in 0..<3 { #expect(try load(rows).duplicate == 50) }
        #expect(try samples(.bloodGlucose).count == 50)
    }

    @Test("story 31: a zero that comes back does not overwrite the reading") func story31() throws {
        let own = "2026-11-06T07:00:00Z,bodyMass,80.1,kg"
        try load([Self.header, own])
        let back = try load([Self.header + ",end,source", "2026-11-06T07:00:00Z,bodyMass,0,kg,,other app"])
        #expect((back.stored, back.quarantined, back.duplicate) == (0, 1, 0))
        #expect(try load([Self.header, own]).duplicate == 1)
        #expect(try samples(.bodyMass).map(\.value) == [80.1])
    }
}
