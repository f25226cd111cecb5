import EventLoopKit
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import Hub
@testable import Ingestion

/// Whose a weighing is.
@Suite struct WeighingTests {
    private func row(_ index: Int, _ weight: String) -> String {
        let (day, minute) = (index / 1440 % 28 + 1, index % 1440)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "20\(10 + index / 40_320)-03-\(two(day))T\(two(minute / 60)):\(two(minute % 60)):00Z,bodyMass,\(weight),kg"
    }

    /// A file in either order, over several batches: only earlier weights count, and the child's weight is unassigned once.
    @Test(arguments: [false, true]) func aLifeOfWeighings(isReversed: Bool) throws {
        let story = try FileStoryTests()
        var rows = (0..<70_000).map { row($0, "80.\($0 % 10)") }
        for index in [5, 40_000, 69_999] { rows[index] = row(index, "15.2") }
        let account = try story.load([FileStoryTests.header] + (isReversed ? rows.reversed() : rows))
        #expect(account.stored == 70_000)
        let unassigned = try story.samples(.bodyMass).filter { $0.origin.person == Origin.unassigned }
        #expect(unassigned.map(\.value) == [15.2, 15.2, 15.2])
        #expect(account.notes.contains { $0.hasPrefix("3 weighings are unassigned") && $0.contains("devices assign") })
        let again = try story.load([FileStoryTests.header] + rows)
        #expect((again.stored, again.duplicate) == (0, 70_000))
        #expect(!again.notes.contains { $0.contains("nobody's") })
    }

    /// While a hub's weighing waits for its commit, an import brings the same as another person's: it is one weighing. If a member's own file
    /// brings it, it decides nothing: a file may contain anything that a scale will send.
    @Test(arguments: [false, true]) func anImportBetweenDecisionAndCommit(isOfMember: Bool) throws {
        let bench = try RadioBench()
        defer { #expect(throws: Never.self) { try bench.stop() } }
        let (anna, ben) = ("7f9c0000-0000-4000-8000-000000000001", "7f9c0000-0000-4000-8000-000000000002")
        try bench.adopt("sig-weight-scale")
        let address = try #require(try bench.store.devices.adopted().first?.address)
        try bench.store.devices.assign(
            device: address, to: Origin.unassigned,
            sharedBy: [SharedUse(person: anna, weights: 50...65), SharedUse(person: ben, weights: 70...90)])
        try bench.reload()
        // 80 kg: Ben's.
        bench.receive("gatt:2A9D", [0x00, 0x80, 0x3E])
        var batch = bench.live.pending.samples
        #expect(batch.map(\.sample.origin.person) == [ben])
        for index in batch.indices { batch[index].sample = try #require(PersonHistory.reading(batch[index].sample, of: anna)) }
        let ingest = try bench.store.beginIngest(IngestDescription(kind: .import, received: 0, isOfMember: isOfMember))
        #expect(try ingest.store(batch) == [.stored])
        bench.pass(.seconds(2))
        let cursor = try bench.store.samples.cursor(matching: SampleQuery(types: [.bodyMass]))
        defer { cursor.close() }
        var people: [String] = []
        while let next = try cursor.next() { people.append(next.sample.origin.person) }
        #expect(people.sorted() == (isOfMember ? [anna, ben] : [anna]))
    }

    /// One weighing on one scale: it advertises the weight and sends it over its connection, and the maker's file contains it too. It is
    /// one sample. The next weighing is another one.
    @Test func theSameWeighingOverAdvertConnectionAndFile() throws {
        let bench = try RadioBench()
        defer { #expect(throws: Never.self) { try bench.stop() } }
        try bench.adopt("okok-c0", "sig-weight-scale")
        // 80.00 kg, settled: in the advertisement, and three seconds later in the Weight Scale service.
        bench.receive("advert:manufacturer", [0xC0, 1, 0x1F, 0x40, 0x17, 0x70, 0, 0, 0x05, 0xC0, 1, 2, 3, 4, 1])
        bench.pass(.seconds(2))
        bench.receive("gatt:2A9D", [0x00, 0x80, 0x3E], after: .seconds(1))
        let weighed = bench.clock.now
        bench.pass(.seconds(5))
        // The maker's file contains local times, to the minute.
        let berlin = try TimeZoneRules.berlin
        let wall = weighed.wallTime(at: berlin.offset(at: weighed)).description.prefix(16)
        let folder = try TemporaryFolder()
        let lines = "time,type,value,unit,source\n\(wall),bodyMass,80.00,kg,Maker app\n"
        try folder.write(Array(lines.utf8), to: "maker.csv")
        let reading = try FileReading(
            path: folder.file("maker.csv"), options: ReadingOptions(), library: try Checkout.library,
            registry: OriginRegistry(person: bench.store.owner), received: weighed)
        let account = try ImportService(store: bench.store, now: { weighed }, zone: berlin).run(reading, received: weighed)
            .account
        #expect((account.stored, account.duplicate) == (0, 1))
        let weights = try bench.samples().filter { $0.sample.origin.type == .bodyMass }
        #expect(weights.map(\.sample.value) == [80])
        // Ten minutes later the person steps on it again.
        bench.receive("gatt:2A9D", [0x00, 0x80, 0x3E], after: .seconds(600))
        bench.pass(.seconds(5))
        #expect(try bench.samples().count { $0.sample.origin.type == .bodyMass } == 2)
    }

    /// A scale's user number takes precedence over any range, and later values belong to the same person. An unassigned number, and a
    /// guest's, use the range.
    @Test func theScalesOwnWord() throws {
        let bench = try RadioBench()
        let (anna, ben) = ("7f9c0000-0000-4000-8000-000000000001", "7f9c0000-0000-4000-8000-000000000002")
        try bench.adopt("sig-body-composition", "sig-weight-scale")
        let address = try #require(try bench.store.devices.adopted().first?.address)
        try bench.store.devices.assign(
            device: address, to: Origin.unassigned, sharedBy: [SharedUse(person: ben, weights: 60...80)],
            users: [ScaleUser(number: 1, person: anna), ScaleUser(number: 2, person: ben, consent: 7)])
        try bench.reload()
        func weigh(_ user: UInt8, minute: UInt8) {
            // 70 kg, in Ben's range.
            bench.receive("gatt:2A9D", [0x06, 0xB0, 0x36, 0xEA, 0x07, 11, 20, 7, minute, 0, user], after: .seconds(20))
            bench.receive("gatt:2A9C", [0x00, 0x02, 0xF5, 0x00, 0x88, 0x13], after: .seconds(1))
        }
        for (index, user) in [UInt8(1), 2, 3, 255].enumerated() { weigh(user, minute: UInt8(10 + index)) }
        try bench.stop()
        let samples = try bench.samples().map(\.sample).sorted { ($0.start, $0.origin.type.id) < ($1.start, $1.origin.type.id) }
        #expect(samples.filter { $0.origin.type == .bodyMass }.map(\.origin.person) == [anna, ben, ben, ben])
        #expect(samples.filter { $0.origin.type.id == "bodyImpedance" }.map(\.origin.person) == [anna, ben, ben, ben])
        // The scale belongs to one person again, and the numbers are forgotten.
        try bench.store.devices.assign(device: address, to: anna)
        #expect(try bench.store.devices.adopted().first?.users == [])
    }

    /// A scale that also sends the room temperature. The weight belongs to a person, the room temperature does not.
    @Test func theRoomOfAScale() throws {
        let bench = try RadioBench()
        let (anna, ben) = ("7f9c0000-0000-4000-8000-000000000001", "7f9c0000-0000-4000-8000-000000000002")
        try bench.adopt("bthome-v2")
        let address = try #require(try bench.store.devices.adopted().first?.address)
        try bench.store.devices.assign(
            device: address, to: Origin.unassigned,
            sharedBy: [SharedUse(person: anna, weights: 50...65), SharedUse(person: ben, weights: 70...90)])
        try bench.reload()
        // 25.06 °C and 80.3 kg (bthome.io/format: 02 and 06).
        bench.receive("advert:FCD2", [0x40, 0x02, 0xCA, 0x09, 0x06, 0x5E, 0x1F])
        try bench.stop()
        let found = try bench.samples().map(\.sample)
        #expect(
            found.map { "\($0.origin.type.id) \($0.origin.person)" }.sorted() == [
                "bodyMass \(ben)", "roomTemperature unassigned",
            ])
    }

    @Test func whyDuplicatesAreNotSeen() throws {
        let story = try FileStoryTests()
        let rows = [FileStoryTests.header, "2026-07-20 06:31:00,bodyMass,80.1,kg", "2026-07-21 06:31:00,bodyMass,80.2,kg"]
        try story.load(rows)
        let moved = try story.load(rows, zone: .berlin)
        #expect(moved.duplicate == 2)
        #expect(
            moved.notes.contains {
                $0.hasPrefix("2 of the duplicates have other times") && $0.contains("'vitalgate ledger undo 1'")
            }, "\(moved.notes)")
        #expect(try story.load(rows).notes.allSatisfy { !$0.contains("duplicates") })
        let undone = try story.store.ledger.undo(1, forget: false, description: IngestDescription(kind: .undo, received: 0))
            .ingest
        let account = try story.load(rows)
        #expect(
            account.notes.contains {
                $0.hasPrefix("2 of the duplicates were undone by ledger entry")
                    && $0.contains("'vitalgate ledger undo \(undone)'")
            }, "\(account.notes)")
        // Other instants are other readings.
        #expect(try story.load(rows, zone: .berlin).stored == 2)
    }

    /// Local times in a zone other than UTC are stored at other instants, and are found anyway.
    @Test func whyLocalDuplicatesAreNotSeen() throws {
        let story = try FileStoryTests()
        let rows = [FileStoryTests.header, "2026-07-20 06:31:00,bodyMass,80.1,kg"]
        try story.load(rows, zone: .berlin)
        #expect(try story.load(rows).notes.contains { $0.hasPrefix("1 of the duplicates has another time") })
        let undone = try story.store.ledger.undo(1, forget: false, description: IngestDescription(kind: .undo, received: 0))
            .ingest
        #expect(
            try story.load(rows, zone: .berlin).notes.contains {
                $0.hasSuffix("restore with 'vitalgate ledger undo \(undone)'")
            })
    }
}
