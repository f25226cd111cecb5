import FileSource
import Formats
import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

/// Read this first. One reading passes through all stages, and each stage shows its result:
///
///     bytes ─▶ FrameSource ─ RawFrame ─▶ FrameInterpreter ─ Reading ─▶ Normaliser ─ Sample ─▶ Gate ─▶ SampleStore ─▶ a line
///
/// A stage knows its neighbors only by the types that pass between them (Sources/Pipeline). `Hub` connects them.
@Suite struct OneReadingTests {
    /// A file written by hand: a temperature in the unit of the thermometer, with a local time.
    static let file = """
        time,type,value,unit
        2026-11-20T07:31:00,bodyTemperature,98.60,[degF]

        """

    /// The person of the reading. It is part of a sample's identity, so the test sets it.
    static let person = "11111111-2222-4333-8444-555555555555"

    @Test func fromBytesToALine() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(Self.file.utf8), to: "temperature.csv")
        let path = folder.file("temperature.csv")
        // No stage asks a clock or the machine's zone: both are handed in.
        let received = FixedClock().now
        let zone = try TimeZoneRules.berlin

        // 0. What kind of file is it? The profile whose columns are those of the header reads it (DeviceProfiles/generic-csv.json5).
        let library = try ProfileLibrary.load(directories: [Checkout.profiles])
        let match = try library.match(firstLines: TextFileHead.read(path: path).text)
        #expect(match.profile.id == "generic-csv")
        #expect(match.form == .delimited(UInt8(ascii: ",")))

        // 1. The source splits bytes into frames, here rows of text with their line numbers. It knows nothing about temperatures.
        let source = DelimitedFileSource(try InputFile(path: path), delimiter: UInt8(ascii: ","), received: received)

        // 2. The interpreter knows the meaning of the row: a numeral as written, a unit, a type, a time. Nothing is converted yet.
        //    The registry returns one description of the origin (person, type, source) for all readings that share it.
        let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: Self.person))
        var readings: [Reading] = []
        var outcomes: [FrameOutcome] = []
        try source.forEachFrame { frame in outcomes.append(try interpreter.interpret(frame, into: &readings)) }
        #expect(outcomes == [.notData, .readings])
        let reading = try #require(readings.first)
        #expect(readings.count == 1)
        #expect(reading.numeral.text == "98.60")
        #expect(reading.unit.code == "[degF]")
        #expect(reading.origin.type.id == "bodyTemperature")
        #expect(reading.place == Place(.line, 2))
        guard case .wall(let wall, _, _) = reading.time else {
            Issue.record("the file has no zone, so its time is one on the wall")
            return
        }
        #expect(wall.description == "2026-11-20T07:31:00.000000")

        // 3. The normaliser makes a sample of it: the instant (07:31 in Berlin in November is 06:31 UTC), the canonical unit, and the
        //    identity, which is computed from the received data only: not from the zone, not from 37.
        let normaliser = Normaliser(zone: zone, received: received)
        var output = Normaliser.Output()
        normaliser.normalise(readings, into: &output)
        normaliser.finish(into: &output)
        #expect(output.refusals.isEmpty)
        let sample = try #require(output.samples.first).sample
        #expect(sample.start.description == "2026-11-20T06:31:00.000000Z")
        #expect(sample.zone?.description == "+01:00")
        #expect(sample.value == 37)
        #expect(sample.numeral.text == "98.60")
        #expect(sample.nominalStart == wall.microseconds)

        // 4. The gate quarantines values that no body can have. This one passes.
        Gate().evaluate(&output.samples)
        #expect(output.samples[0].rule == nil)

        // 5. The store keeps it, durably when `keep` returns, and accounts for it in its ledger. It is the only stage that knows SQL.
        let store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: Self.person, time: received.microseconds))
        let ingest = try store.beginIngest(
            IngestDescription(kind: .import, name: "temperature.csv", profile: match.profile.id, received: received.microseconds)
        )
        #expect(try ingest.store(output.samples) == [.stored])
        // The same reading again is known by its identity: promise 2.
        #expect(try ingest.store(output.samples) == [.duplicate])
        let account = try ingest.finish(at: received.microseconds)
        #expect((account.read, account.stored, account.duplicate) == (2, 1, 1))

        // 6. A query and its result: the sample is returned as it was stored …
        let stored = try #require(try store.samples.cursor(matching: SampleQuery(types: [sample.origin.type])).next())
        #expect(stored.sample.identity == sample.identity)
        #expect(stored.sample.value == 37)
        #expect(stored.sample.numeral.text == "98.60")
        #expect(stored.ingest == account.id)

        // 7. … and leaves as the line that commands and exporters share. The numeral keeps its digits.
        var bytes: [UInt8] = []
        SampleLine(me: store.owner).append(stored.sample, ingest: stored.ingest, seq: stored.seq, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == Self.line)
    }

    /// The UUID was computed by another program too (SipHash-2-4-128 in Python, by section 4 of the design).
    static let line = """
        {"uuid":"01a1f7dd-a320-896d-8415-6807f1b070a7","kind":"quantity","type":"bodyTemperature","value":37.0,"unit":"Cel",\
        "start":"2026-11-20T06:31:00.000000Z","end":"2026-11-20T06:31:00.000000Z","zone":"+01:00","subject":"me",\
        "source":{"id":"file.generic-csv","name":"file.generic-csv","version":null},"device":null,\
        "original":{"value":"98.60","unit":"[degF]"},"time":{"origin":"device","received":"2026-11-20T06:31:00.000000Z"},\
        "group":null,"metadata":{},"ingest":1,"seq":1}

        """

    /// `ImportService` runs all of the steps above for whole files. `vitalgate import` calls only this.
    @Test func theSameInOneCall() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(Self.file.utf8), to: "temperature.csv")
        let received = FixedClock().now
        let store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: Self.person, time: received.microseconds))
        let machine = Machine(environment: [:], now: { received }, zoneDirectory: "/nonexistent")
        let reading = try FileReading(
            path: folder.file("temperature.csv"), options: ReadingOptions(),
            library: try Checkout.library, registry: OriginRegistry(person: store.owner),
            received: received)
        let outcome = try ImportService(store: store, now: machine.now, zone: try .berlin).run(reading, received: received)
        #expect(outcome.account.stored == 1)
        #expect(outcome.account.zone == "Europe/Berlin")
        let stored = try #require(try store.samples.cursor(matching: SampleQuery()).next())
        var bytes: [UInt8] = []
        SampleLine(me: store.owner).append(stored.sample, ingest: stored.ingest, seq: stored.seq, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == Self.line)
    }
}

/// Where things lie in the checkout.
enum Checkout {
    static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    static let profiles = root + "/DeviceProfiles"

    /// The shipped profiles, read once for all tests.
    static var library: ProfileLibrary { get throws { try loaded.get() } }
    private static let loaded = Result { try ProfileLibrary.load(directories: [profiles]) }
}
