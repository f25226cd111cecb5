import FileSource
import HealthModel
import Hub
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

@testable import Ingestion

/// What becomes of a file that is not read to its end.
@Suite struct ImportServiceTests {
    let folder: TemporaryFolder
    let store: SampleStore
    let received = FixedClock().now

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: OneReadingTests.person, time: received.microseconds))
    }

    func run(
        _ text: String, cancelled: @escaping () -> Bool = { false }, isDiskUsedUp: @escaping () -> Bool = { false },
        onlyPerson: Bool = false
    ) throws -> ImportService.Outcome {
        try folder.write(Array(text.utf8), to: "file.csv")
        let (time, zone) = (received, TimeZoneRules(fixed: .utc))
        let machine = Machine(environment: [:], now: { time }, zoneDirectory: "/nonexistent")
        let reading = try FileReading(
            path: folder.file("file.csv"), options: ReadingOptions(),
            library: try Checkout.library, registry: OriginRegistry(person: store.owner),
            received: received)
        return try ImportService(
            store: store, now: machine.now, zone: zone, isCancelled: cancelled, isDiskUsedUp: isDiskUsedUp, onlyPerson: onlyPerson
        ).run(reading, received: received)
    }

    static func rows(_ count: Int) -> String {
        "time,type,value,unit\n"
            + (0..<count).map { index in
                let (hour, minute, second) = (index / 3600, index / 60 % 60, index % 60)
                return "2026-11-\(10 + hour / 24)T\(hour % 24 / 10)\(hour % 24 % 10):\(minute / 10)\(minute % 10):"
                    + "\(second / 10)\(second % 10)Z,heartRate,\(60 + index % 50),/min\n"
            }.joined()
    }

    @Test func readsToTheEnd() throws {
        let outcome = try run(Self.rows(10_000) + "x,y,z,a\n")
        #expect(outcome.account.stored == 10_000)
        #expect(outcome.account.refused == 1)
        #expect(outcome.account.state == "done")
        #expect(!outcome.isInterrupted && outcome.failure == nil)
    }

    /// After a stop request, the readings so far are stored and counted.
    @Test func stopsWhenAsked() throws {
        var calls = 0
        let outcome = try run(Self.rows(50_000)) {
            calls += 1
            return calls > 2
        }
        #expect(outcome.isInterrupted)
        #expect(outcome.account.state == "interrupted")
        #expect(outcome.account.stored > 0 && outcome.account.stored < 50_000)
        let again = try run(Self.rows(50_000))
        #expect(again.account.stored == 50_000 - outcome.account.stored)
        #expect(again.account.duplicate == outcome.account.stored)
    }

    /// An import that would use the disk space of others stops. The readings so far are stored, and the ledger names the reason.
    @Test func stopsBeforeTheDiskIsFull() throws {
        var calls = 0
        let outcome = try run(
            Self.rows(50_000),
            isDiskUsedUp: {
                calls += 1
                return calls > 2
            })
        #expect(outcome.isInterrupted && outcome.account.state == "interrupted")
        #expect(outcome.account.isStoppedByDisk && !outcome.account.isCut)
        #expect(outcome.account.stored > 0 && outcome.account.stored < 50_000)
        let again = try run(Self.rows(50_000))
        #expect(again.account.stored == 50_000 - outcome.account.stored && !again.account.isStoppedByDisk)
    }

    /// A member's file cannot have any number of sources, which would all be compared with each other while others wait.
    @Test func aMembersFileHasABoundOfSources() throws {
        func text(_ prefix: String) -> String {
            "time,type,value,unit,source\n"
                + (0..<ImportSources.maximumOfMember + 20).map {
                    "2026-11-20T10:00:00Z,heartRate,\(60 + $0 % 50),/min,\(prefix)\($0)\n"
                }
                .joined()
                + "2026-11-20T11:00:00Z,heartRate,60,/min,\(prefix)1\n2026-11-20T10:00:00Z,bodyMass,60,kg,other\n"
        }
        let outcome = try run(text("s"), onlyPerson: true)
        #expect((outcome.account.stored, outcome.account.refused) == (ImportSources.maximumOfMember + 2, 20))
        let reason = ImportSources(store, isOfMember: true).reason
        #expect(reason.contains("300"))
        #expect(try store.ledger.refusals(of: outcome.account.id).first?.reason == reason)
        // The next file has no new share.
        #expect(try run(text("t"), onlyPerson: true).account.stored == 0)
    }

    /// The owner's files have a bound, too, and the ledger names the line of a refused reading.
    @Test func anyFileHasABoundOfSources() throws {
        let count = ImportSources.maximum + 5
        let rows = (0..<count).map { index in
            "2026-11-20T\(10 + index / 3600):\(10 + index / 60 % 50):\(10 + index % 50)Z,heartRate,\(60 + index % 50),/min,s\(index)\n"
        }
        let outcome = try run("time,type,value,unit,source\n" + rows.joined())
        #expect((outcome.account.stored, outcome.account.refused) == (ImportSources.maximum, 5))
        let refusal = try #require(try store.ledger.refusals(of: outcome.account.id).first)
        #expect(refusal.reason == ImportSources(store, isOfMember: false).reason)
        #expect(refusal.placeKind == "line" && refusal.place == ImportSources.maximum + 2, "\(refusal)")
    }

    /// After a slow commit, the next ones are smaller.
    @Test func commitsStayShort() {
        let size = BatchSize(isOfMember: false)
        #expect(size.samples == 6144 && BatchSize(isOfMember: true).samples == 1024)
        size.adapt(to: 400_000)
        #expect(size.samples == 6144)
        size.adapt(to: 5_000_000)
        #expect(size.samples == 614)
        size.adapt(to: 60_000_000_000)
        #expect(size.samples == 32)
        for _ in 0..<9 { size.adapt(to: 100) }
        #expect(size.samples == 6144)
    }

    /// A member's file has the member's readings alone. None of them is unassigned, so none can be taken for the weighing of another person
    /// who is as heavy, whose scale sends it later.
    @Test func aMembersFileUnassignsNothing() throws {
        func rows(_ weight: Int, _ days: Range<Int>, _ hour: Int) -> String {
            days.map { "2026-11-\($0)T0\(hour):00:00Z,bodyMass,\(weight),kg\n" }.joined()
        }
        let text = "time,type,value,unit\n" + rows(50, 10..<16, 8) + rows(100, 16..<20, 7)
        let member = try run(text, onlyPerson: true)
        #expect(member.account.stored == 10)
        #expect(try !store.samples.hasUnassigned(.bodyMass))
    }

    /// A file that breaks off is refused at that place, and everything before it is stored.
    @Test func storesReadingsBeforeTruncation() throws {
        try folder.write(
            Array(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <HealthData locale="de_DE">
                 <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Strap" unit="count/min" \
                startDate="2026-03-28 08:00:00 +0100" endDate="2026-03-28 08:00:00 +0100" value="61"/>
                 <Record type="HKQuantityTypeIdent
                """.utf8), to: "export.xml")
        let (time, zone) = (received, TimeZoneRules(fixed: .utc))
        let reading = try FileReading(
            path: folder.file("export.xml"), options: ReadingOptions(), library: ProfileLibrary([]),
            registry: OriginRegistry(person: store.owner), received: received)
        #expect(reading.profile == "apple-health-export")
        let machine = Machine(environment: [:], now: { time }, zoneDirectory: "/nonexistent")
        let outcome = try ImportService(store: store, now: machine.now, zone: zone).run(reading, received: received)
        #expect(outcome.account.stored == 1)
        #expect(outcome.account.refused == 1)
        #expect(outcome.account.state == "failed")
        #expect(outcome.failure?.kind == .malformed)
        let refusal = try #require(try store.ledger.refusals(of: outcome.account.id).first)
        #expect(refusal.placeKind == "line")
        #expect(refusal.place >= 4)
        // The stored part is complete, and the report shows that more was to come.
        #expect(
            outcome.account.notes == ["it was not read to its end: the readings before line 4 are complete and were imported"])
    }

    /// Nothing in a table shows whether it was truncated, so the readings of a last line without a line break are quarantined.
    @Test func quarantinesLastLineWithoutLineBreak() throws {
        #expect(try run(Self.rows(3)).account.notes.isEmpty)
        // The last cell is a number, of which more may follow.
        let outcome = try run("time,type,unit,value\n2026-11-12T00:00:00Z,heartRate,/min,60")
        #expect(outcome.account.stored == 0 && outcome.account.quarantined == 1)
        #expect(outcome.account.notes == ["line 2, the last, \(IngestAccount.openEnd)"])
    }

    /// The ledger contains the name of a file, not its folder.
    @Test func ledgerOmitsFolders() throws {
        #expect(try run(Self.rows(1)).account.name == "file.csv")
    }
}
