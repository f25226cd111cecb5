import HealthModel
import Pipeline
import Testing

@testable import SampleStore

/// A sample that a client saves never makes the reading of a device or a file a duplicate.
@Suite struct ClientCopyTests {
    private static let day: Int64 = 86_400_000_000
    private static let now = TestStore.received

    private static func client(_ test: TestStore, _ types: [SampleType]) throws -> Client {
        let client = try test.store.clients.add(named: "copier", purpose: "Tests", at: now)
        for type in types {
            try test.store.clients.set(
                Grant(person: TestStore.person, type: ObjectType(type), reading: .none, mayWrite: true), of: client, at: now)
        }
        return client
    }

    private static func save(_ samples: [GatedSample], _ client: Client, _ test: TestStore) throws {
        let day = now.microseconds..<now.microseconds + Self.day
        let outcomes = try test.store.clients.save(samples, by: client, ClientRequest(key: nil, bytes: []), at: now, within: day)
        #expect(outcomes.allSatisfy { $0 == .stored })
    }

    private static func sum(_ type: SampleType, _ test: TestStore) throws -> [Int] {
        let days = CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc))
        return try test.store.statistics(StatisticsQuery(type: type, intervals: days, priority: [])).map(\.count)
    }

    /// Whichever arrived first, both are stored, statistics count one, and the client can delete only its own.
    @Test(arguments: [SampleType.bodyMass, .bloodGlucose, .heartRate, .stepCount], [true, false])
    func aCopyIsLinkedAndTakesNothingAway(type: SampleType, startsWithCopy: Bool) throws {
        try TestStore.with { test in
            let client = try Self.client(test, [type])
            let device = Device(key: "meter-1", name: "Meter")
            let own = try SampleMaker(type, source: "meter", sourceName: "Meter", device: device)
            let copy = try SampleMaker(type, source: client.source, sourceName: client.name, device: device)
            let lasting: Double = type.aggregation == .cumulative ? 600 : 0
            let (reading, copied) = (try own("61", at: 60, lasting: lasting), try copy("61", at: 60, lasting: lasting))
            if startsWithCopy { try Self.save([copied], client, test) }
            try test.keep([reading])
            if !startsWithCopy { try Self.save([copied], client, test) }
            #expect(try test.store.samples.sample(reading.sample.identity) != nil)
            #expect(try test.store.samples.sample(copied.sample.identity) != nil)
            #expect(try Self.sum(type, test) == [1])
            #expect(try test.store.clients.delete(copied.sample.identity, by: client, at: Self.now, where: { _ in }))
            #expect(try test.store.samples.sample(reading.sample.identity) != nil)
            #expect(try Self.sum(type, test) == [1])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func forgettingAClientLeavesTheDevicesReading() throws {
        try TestStore.with { test in
            let client = try Self.client(test, [.bodyMass])
            let copy = try SampleMaker(.bodyMass, source: client.source, sourceName: client.name)
            try Self.save(try (0..<60).map { try copy("\(60 + $0)", at: 60) }, client, test)
            let scale = try SampleMaker(.bodyMass, source: "scale", sourceName: "Scale", device: Device(key: "s", name: "Scale"))
            let reading = try scale("81", at: 60)
            try test.keep([reading])
            try test.store.clients.remove(
                client, deletingSamples: IngestDescription(kind: .delete, received: Self.now.microseconds))
            #expect(try test.store.samples.sample(reading.sample.identity) != nil)
        }
    }

    /// The corrected sample is the person's, so the client can neither read nor delete it, and removing the client does not delete it.
    @Test func aCorrectionIsThePersonsOwn() throws {
        try TestStore.with { test in
            let client = try Self.client(test, [.bodyMass])
            let saved = try SampleMaker(.bodyMass, source: client.source, sourceName: client.name)("71", at: 60)
            try Self.save([saved], client, test)
            let amount = Correction.Amount(numeral: try Numeral("70"), unit: SampleType.bodyMass.canonicalUnit)
            let result = try test.store.samples.correct(
                [saved.sample.identity], with: Correction(amounts: [amount]), received: Self.now)
            let new = try #require(result.samples.first)
            let reader = try RestrictionTests.restricted(test, to: client)
            #expect(try reader.samples.sample(new.identity) == nil)
            #expect(try !test.store.clients.delete(new.identity, by: client, at: Self.now, where: { _ in }))
            #expect(try test.store.samples.sample(new.identity)?.sample.numeral == Numeral("70"))
            try test.store.clients.remove(
                client, deletingSamples: IngestDescription(kind: .delete, received: Self.now.microseconds))
            #expect(try test.store.samples.sample(new.identity) != nil)
            #expect(try test.store.samples.undoCorrection(new.identity, received: Self.now) == [saved.sample.identity])
        }
    }

    /// An export of another store contains the samples of its clients.
    @Test func aNewClientHasNoSamplesOfAnotherStore() throws {
        try TestStore.with { test in
            let readings = try ["client.1", "client.7", "client.07", "client.x"].enumerated().map { index, source in
                try SampleMaker(.bodyMass, source: source)("7\(index)", at: Double(index) * 3600)
            }
            try test.keep(readings)
            let client = try Self.client(test, [.bodyMass])
            let reader = try RestrictionTests.restricted(test, to: client)
            for reading in readings {
                #expect(try reader.samples.sample(reading.sample.identity) == nil)
                #expect(try !test.store.clients.delete(reading.sample.identity, by: client, at: Self.now, where: { _ in }))
            }
            #expect(try test.store.clients.add(named: "next", purpose: "Tests", at: Self.now).id == client.id + 1)
        }
    }

    /// The largest number that a file can name must not use up the numbers of clients.
    @Test func aSourceWithALargeNumberHindersNoClient() throws {
        try TestStore.with { test in
            try test.keep([try SampleMaker(.bodyMass, source: "client.\(Int64.max)")("70", at: 60)])
            #expect(try Self.client(test, [.bodyMass]).id == 1)
        }
    }

    /// A file can name the source of a client. Only readings that the client has saved are recognized, and no others are added.
    @Test func aFileAddsNothingToAClient() throws {
        try TestStore.with { test in
            let client = try Self.client(test, [.bodyMass])
            let own = try SampleMaker(.bodyMass, source: client.source, sourceName: client.name)
            let record = RecordIdentifier(id: "r", version: 1)
            let saved = [try own("71", at: 60), try own("72", at: 120, record: record), try own("73", at: 180)]
            try Self.save(saved, client, test)
            try Self.save([try own("74", at: 120, record: RecordIdentifier(id: "r", version: 2))], client, test)
            try test.delete(saved[2])
            let before = try test.lines()
            let scale = Device(key: "scale", name: "Scale")
            let other = try SampleMaker(.bodyMass, source: client.source, sourceName: "Forged", device: scale)
            let new = [
                try own("75", at: 60), try own("76", at: 120, record: RecordIdentifier(id: "r", version: 3)),
                try own("-1", at: 240, rule: .impossible), try own("157", at: 300), try other("80", at: 360),
            ]
            let (outcomes, account) = try test.keep(saved + new)
            #expect(outcomes == [[.duplicate, .duplicate, .duplicate, .refused, .refused, .refused, .refused, .refused]])
            #expect(account.stored == 0 && account.duplicate == 3 && account.refused == 5)
            #expect(try test.store.ledger.refusals(of: account.id).allSatisfy { $0.reason == IngestAccount.foreignClient })
            #expect(try test.lines() == before)
            #expect(try test.store.connection.series.id(of: other.origin) == nil)
            // Nobody reads or deletes the samples of a removed client.
            try test.store.clients.remove(client)
            #expect(try test.keep([try own("77", at: 400)]).outcomes == [[.stored]])
        }
    }

    @Test func aClientHasABoundedNumberOfSeries() throws {
        try TestStore.with { test in
            let client = try Self.client(test, [.bodyMass])
            let many = try (0...SampleStore.Clients.maximumClientSeries).map { number in
                try SampleMaker(
                    .bodyMass, source: client.source, sourceName: client.name, device: Device(key: "d\(number)", name: "D"))(
                        "70", at: Double(number))
            }
            #expect(throws: ClientWriteError.self) { try Self.save(many, client, test) }
            #expect(try Self.sum(.bodyMass, test).isEmpty)
        }
    }
}
