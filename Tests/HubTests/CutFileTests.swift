import FileSource
import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

/// An upload breaks at any byte, the truncated file is imported, then the complete one is sent. The store then contains the same as after
/// the complete file alone.
@Suite struct CutFileTests {
    private let received = FixedClock().now
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(_ name: String) throws -> SampleStore {
        try SampleStore(
            path: folder.file(name), access: .write,
            creation: .init(person: OneReadingTests.person, time: received.microseconds))
    }

    /// Imports bytes as a file with this name. `nil` if no format matches.
    @discardableResult
    private func add(
        _ bytes: [UInt8], as name: String, to store: SampleStore, trusting: Bool = false
    ) throws -> ImportService.Outcome? {
        try folder.write(bytes, to: name)
        let time = received
        let reading: FileReading
        do {
            reading = try FileReading(
                path: folder.file(name), options: ReadingOptions(), library: try Checkout.library,
                registry: OriginRegistry(person: store.owner), received: received)
        } catch  where !(error is StoreError) {
            return nil
        }
        return try ImportService(
            store: store, now: { time }, zone: TimeZoneRules(fixed: .utc), trustsOpenEnds: trusting
        ).run(reading, received: received)
    }

    /// The content of a store without the times and numbers of imports.
    private func content(_ store: SampleStore) throws -> [String] {
        var found: [String] = []
        let cursor = try store.samples.cursor(matching: SampleQuery())
        while let sample = try cursor.next()?.sample {
            found.append(
                "\(sample.identity) \(sample.origin.type.id) \(sample.numeral.text) \(sample.unit.code) \(sample.start) \(sample.end) "
                    + "\(sample.group ?? 0) \(sample.metadata?.json ?? "")")
        }
        return found.sorted()
    }

    /// - Parameter grows: whether a shorter recording cannot be distinguished from a cut one, so that the longer one replaces it.
    private func checkCuts(_ bytes: [UInt8], _ name: String, every step: Int = 1, grows: Bool = false) throws {
        let alone = try store("alone.db")
        try #require(try add(bytes, as: name, to: alone) != nil)
        let whole = try content(alone)
        try #require(!whole.isEmpty)
        // Making a store takes longer than importing into a copy of an empty one.
        try store("empty.db").checkpoint()
        for length in bytes.indices where length % step == 0 || length > bytes.count - 20 {
            try folder.copy("empty.db", to: "cut-\(length).db")
            let cut = try SampleStore(path: folder.file("cut-\(length).db"), access: .write)
            let first = try add(Array(bytes[..<length]), as: name, to: cut)
            // Uncertain readings are not stored. All stored ones stay.
            let early = try content(cut)
            if !grows { #expect(Set(early).isSubset(of: whole), "\(name) cut at \(length)") }
            if let account = first?.account {
                #expect(account.read == account.stored + account.duplicate + account.quarantined + account.refused)
            }
            try add(bytes, as: name, to: cut)
            #expect(try content(cut) == whole, "\(name) cut at \(length)")
            #expect(try cut.quarantine.all().isEmpty, "\(name) cut at \(length)")
            // A shorter file that comes later takes nothing away.
            if grows {
                try add(Array(bytes[..<length]), as: name, to: cut)
                #expect(try content(cut) == whole, "\(name) sent again, cut at \(length)")
            }
        }
    }

    private static let table = """
        time,type,value,unit\r
        2026-11-20T06:31:00Z,bodyMass,69.25,kg\r
        2026-11-20T08:00:00Z,stepCount,2450,\r
        2026-11-20T09:00:00Z,heartRate,61,/min\r

        """

    @Test func table() throws { try checkCuts(Array(Self.table.utf8), "table.csv") }

    /// Whose last cell is the number.
    @Test func numbersAtTheEnd() throws {
        let text = #"""
            "biceps","bone","comment","dateTime","fat","muscle","water","weight"
            0.0,2.9,"","2026-10-13 06:29",17.6,40.5,62.7,69.3
            0.0,2.9,"after ""sport""","2026-10-14 06:31",17.5,40.6,62.8,69.25

            """#
        try checkCuts(Array(text.utf8), "openScale.csv")
    }

    @Test func sixteenBits() throws {
        let text = Self.table.split(separator: "\r\n").prefix(2).joined(separator: "\r\n") + "\r\n"
        let units = Array(text.utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        try checkCuts([0xFF, 0xFE] + units, "table.txt")
    }

    @Test func linesOfOurs() throws {
        let text = """
            {"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":71.25,"unit":"kg"}
            {"type":"stepCount","start":"2026-11-20T07:00:00+01:00","end":"2026-11-20T08:00:00+01:00","value":2450}
            """
        try checkCuts(Array(text.utf8), "lines.ndjson")
    }

    @Test func listOfObjects() throws {
        let text = """
            [{"_id":"5f1","type":"sgv","sgv":112,"date":1795156260000,"dateString":"2026-11-20T06:31:00.000Z","device":"x"},
            {"_id":"5f2","type":"sgv","sgv":118,"date":1795156560000,"dateString":"2026-11-20T06:36:00.000Z","device":"x"}]
            """
        try checkCuts(Array(text.utf8), "entries.json")
    }

    @Test func electrocardiogram() throws {
        let text = """
            Name,Somebody
            Recorded Date,2026-11-20 06:31:00 +0100
            Classification,Sinus Rhythm
            Symptoms,
            Software Version,2.0
            Device,"Watch7,12"
            Sample Rate,512 hertz


            Lead,Lead I
            Unit,µV

            -59.461
            151.2
            -3.5
            12.25

            """
        try checkCuts(Array(text.utf8), "ecg_2026-11-20.csv", grows: true)
    }

    private func file(_ path: String) throws -> [UInt8] {
        try #require(SmallFile.read("\(Checkout.root)/Tests/FileSourceTests/Files/\(path)", limit: 1 << 20))
    }

    @Test(arguments: [
        ("activities/ride.fit", 5), ("activities/ride.tcx", 41), ("apple_health_0.zip", 41), ("apple_health_0.xml", 97),
    ])
    func formatsWithTheirOwnEnds(path: String, step: Int) throws {
        try checkCuts(try file(path), String(path.split(separator: "/").last ?? ""), every: step)
    }

    @Test func route() throws {
        let text = """
            <?xml version="1.0"?><gpx version="1.1" creator="Runner" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Run</name><trkseg>
            <trkpt lat="52.5001" lon="13.4001"><ele>34.5</ele><time>2026-11-20T06:31:00Z</time></trkpt>
            <trkpt lat="52.5002" lon="13.4002"><ele>34.75</ele><time>2026-11-20T06:31:05Z</time></trkpt>
            </trkseg></trk></gpx>
            """
        try checkCuts(Array(text.utf8), "run.gpx")
    }

    /// A file that a person knows to be whole, and one that is sent without a line break for good: the row is released once it comes with one.
    @Test func wholeWithoutALineBreak() throws {
        let store = try store("whole.db")
        let text = "time,type,unit,value\n2026-11-20T06:31:00Z,bodyMass,kg,69.25"
        let quarantined = try #require(try add(Array(text.utf8), as: "w.csv", to: store))
        #expect(quarantined.account.quarantined == 1 && quarantined.account.stored == 0 && quarantined.account.isCut)
        #expect(try store.quarantine.all().map(\.rule) == [GateRule.provisional.name])
        // Rejecting what may be cut does not reject the row when it is whole.
        try store.quarantine.reject(
            store.quarantine.all().map(\.id), description: IngestDescription(kind: .reject, received: received.microseconds))
        let reported = try #require(try add(Array(text.utf8), as: "w.csv", to: store, trusting: true))
        #expect(reported.account.stored == 1 && !reported.account.isCut)
    }

    /// A last cell is complete if no part of it would be valid, or if no rule reads it.
    @Test(arguments: [
        ("time,type,value,unit", "2026-11-20T06:31:00Z,bodyMass,69.25,kg", true),
        ("time,type,value,unit,note", "2026-11-20T06:31:00Z,bodyMass,69.25,kg,af", true),
        ("time,type,value,unit,subject", "2026-11-20T06:31:00Z,bodyMass,69.25,kg,\(OneReadingTests.person)", true),
        ("time,type,value,unit,source", "2026-11-20T06:31:00Z,bodyMass,69.25,kg,Sca", false),
        ("type,value,unit,time", "bodyMass,69.25,kg,2026-11-20T06:31:00Z", false),
    ]) func lastCells(header: String, row: String, isWhole: Bool) throws {
        let outcome = try #require(try add(Array("\(header)\n\(row)".utf8), as: "w.csv", to: store("last.db")))
        #expect(outcome.account.stored == (isWhole ? 1 : 0) && outcome.account.quarantined == (isWhole ? 0 : 1))
        #expect(outcome.account.isCut == !isWhole)
    }

    /// Undoing the complete file quarantines the truncated row again. Steps are never counted twice.
    @Test func undoneAgain() throws {
        let store = try store("undone.db")
        let head = "time,type,unit,value\n2026-11-20T06:31:00Z,stepCount,1,"
        try add(Array((head + "24").utf8), as: "s.csv", to: store)
        try add(Array((head + "2450").utf8), as: "s.csv", to: store)
        #expect(try store.quarantine.all().count == 1)
        let whole = try #require(try add(Array((head + "2450\n").utf8), as: "s.csv", to: store))
        #expect(try store.quarantine.all().isEmpty && whole.account.stored == 1)
        try store.ledger.undo(
            whole.account.id, forget: false, description: IngestDescription(kind: .undo, received: received.microseconds))
        #expect(try store.quarantine.all().count == 1)
        #expect(try store.check(deep: true) == [])
    }
}
