import ExportEngine
import ExportTesting
import Glibc
import HealthModel
import HomeAssistantKit
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HomeAssistantExport

/// Home Assistant's hours equal those of the store, whatever happens.
@Suite struct HomeAssistantExporterTests {
    private let test: ExportedStore
    private let target = TargetSettings(name: "home")

    init() throws {
        test = try ExportedStore()
        try test.folder.write(Array("good".utf8), to: "token")
        chmod(test.folder.file("token"), 0o600)
    }

    private func exporter(
        _ server: HomeAssistantServer, zone: TimeZoneRules? = nil, at time: Instant = ExportedStore.received
    ) throws -> HomeAssistantExporter {
        let reader = try SampleStore(path: test.store.path, access: .read)
        let hours = StoredHours(reader, target) { _ in zone }
        return try HomeAssistantExporter(
            .init(address: HomeAssistantAddress(server.url), token: .file(test.folder.file("token"))),
            context: ExportContext(name: "home", me: reader.owner, hours: hours, now: { time }), spacing: .zero)
    }

    private func export(_ server: HomeAssistantServer) throws {
        let exporter = try exporter(server)
        try test.finish(test.run(exporter, target))
        exporter.finish()
    }

    /// A sample of an amount over some time, or of a value at one moment.
    private func sample(_ type: SampleType, _ value: String, at second: Int64, seconds: Int64 = 0) throws -> GatedSample {
        let start = Instant(seconds: second)
        let reading = Reading(
            origin: Origin(person: test.origin.person, type: type, source: test.origin.source), numeral: try Numeral(value),
            unit: type.canonicalUnit,
            time: .instants(start: start, end: Instant(seconds: second + seconds), offset: .utc), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
    }

    private func session(_ server: HomeAssistantServer) throws -> RecorderSession {
        try RecorderSession(try HomeAssistantClient(HomeAssistantAddress(server.url), token: "good"))
    }

    /// The rows of a type at Home Assistant.
    private func rows(_ type: SampleType, _ server: HomeAssistantServer) throws -> [StatisticRow] {
        try session(server).rows(
            of: Statistic(HourSeries(person: test.origin.person, type: type)), from: Instant(seconds: 0),
            to: Instant(seconds: 4_000_000_000))
    }

    /// The hours of a type as `vitalgate stats --every 1h` prints them, in UTC.
    private func hours(_ type: SampleType, anchor: Int64 = 0) throws -> [StatisticRow] {
        let hour = try #require(CalendarInterval("1h"))
        let query = StatisticsQuery(
            type: type,
            intervals: CalendarIntervals(hour, zone: TimeZoneRules(fixed: .utc), anchor: Instant(seconds: anchor)),
            person: test.origin.person)
        var total = 0.0
        return try test.store.statistics(query).compactMap { row in
            guard type.aggregation != .cumulative else {
                total += row.sum
                return StatisticRow(start: row.start, values: .sum(state: row.sum, total: total))
            }
            guard let mean = row.average, let minimum = row.minimum, let maximum = row.maximum else { return nil }
            return StatisticRow(start: row.start, values: .mean(mean, minimum: minimum, maximum: maximum))
        }
    }

    /// Rows of hours without an amount carry the total on, so that they are left out of the comparison.
    private func expectEqualHours(_ server: HomeAssistantServer, _ comment: Comment? = nil) throws {
        for type in [SampleType.heartRate, .bodyMass, .stepCount] {
            let found = try rows(type, server).filter { row in
                if case .sum(0, _) = row.values { false } else { true }
            }
            let expected = try hours(type).filter { row in
                if case .sum(0, _) = row.values { false } else { true }
            }
            #expect(found == expected, comment)
        }
    }

    private static let start: Int64 = 1_790_000_400 - 1_790_000_400 % 3600

    private func addSome() throws {
        try test.add(
            try (0..<40).map { try sample(.bodyMass, "80.\($0)", at: Self.start + $0 * 5000) }
                + (0..<60).map { try sample(.stepCount, "\(100 + $0)", at: Self.start + $0 * 2500, seconds: 600) }
                + (0..<90).map { try sample(.heartRate, "\(60 + $0 % 7)", at: Self.start + $0 * 700) })
    }

    // MARK: Values

    @Test func hoursEqualStatistics() throws {
        let server = try HomeAssistantServer()
        try addSome()
        try export(server)
        #expect(try rows(.bodyMass, server).count > 30 && rows(.stepCount, server).count > 30)
        try expectEqualHours(server)
        let (known, prefix) = (try session(server).known, Statistic.prefix(of: test.origin.person))
        #expect(
            Set(known.keys) == [
                "\(prefix)body_mass", "\(prefix)step_count", "\(prefix)heart_rate",
            ])
        #expect(known["\(prefix)body_mass"]?.unit == "kg" && known["\(prefix)step_count"]?.hasSum == true)
    }

    @Test func correctionsAndLateReadingsAreSent() throws {
        let server = try HomeAssistantServer()
        try addSome()
        try export(server)
        // The last reading of an hour, an amount in the middle, and a late one before everything.
        try test.delete(sample(.bodyMass, "80.3", at: Self.start + 15_000))
        try test.delete(sample(.stepCount, "120", at: Self.start + 50_000, seconds: 600))
        try export(server)
        try expectEqualHours(server, "after deletions")
        try test.add([
            sample(.stepCount, "7", at: Self.start - 90_000_000, seconds: 60),
            sample(.bodyMass, "70", at: Self.start - 9_000_000),
        ])
        try export(server)
        try expectEqualHours(server, "after late readings")
        // A total never becomes smaller.
        var last = 0.0
        for case .sum(_, let total) in try rows(.stepCount, server).map(\.values) {
            #expect(total >= last)
            last = total
        }
    }

    @Test func hourWithoutAmountCarriesTotalOn() throws {
        let server = try HomeAssistantServer()
        try test.add((0..<3).map { try sample(.stepCount, "1\($0)00", at: Self.start + $0 * 3600, seconds: 600) })
        try export(server)
        try test.delete(sample(.stepCount, "1100", at: Self.start + 3600, seconds: 600))
        try export(server)
        #expect(
            try rows(.stepCount, server).map(\.values) == [
                .sum(state: 1000, total: 1000), .sum(state: 0, total: 1000), .sum(state: 1200, total: 2200),
            ])
    }

    @Test(arguments: ["2026.2.3", "2026.11.0"]) func statisticWithoutReadingsIsCleared(_ version: String) throws {
        let server = try HomeAssistantServer(version: version)
        let weights = try (0..<2).map { try sample(.bodyMass, "80", at: Self.start + $0 * 7200) }
        try test.add(weights)
        try export(server)
        try test.delete(weights[0])
        try export(server)
        #expect(try rows(.bodyMass, server).map(\.start) == [Instant(seconds: Self.start + 7200)])
        try test.delete(weights[1])
        try export(server)
        #expect(try session(server).known.isEmpty)
    }

    @Test func unitOfStatisticStays() throws {
        let server = try HomeAssistantServer()
        try test.add([sample(.bodyMass, "80", at: Self.start)])
        let statistic = Statistic(HourSeries(person: test.origin.person, type: .bodyMass))
        let session = try session(server)
        let old = StatisticRow(start: Instant(seconds: Self.start - 7200), values: .mean(100, minimum: 100, maximum: 100))
        try session.write(
            [old], of: statistic, .init(id: statistic.id, name: "Weight", unit: "lb", hasSum: false))
        let exporter = try exporter(server)
        _ = try exporter.opened()
        _ = try exporter.deliver(
            ExportBatch(changes: [
                .added(StoredSample(sample: sample(.bodyMass, "80", at: Self.start).sample, ingest: 1, seq: 1))
            ]))
        guard case .mean(let mean, _, _) = try rows(.bodyMass, server).last?.values else {
            Issue.record("there is no row")
            return
        }
        #expect(abs(mean - 176.37) < 0.01)
        #expect(try self.session(server).known[statistic.id]?.unit == "lb")
    }

    @Test func futureHoursAreNotSent() throws {
        let server = try HomeAssistantServer()
        let now = Instant(seconds: Self.start + 1800)
        try test.add([sample(.bodyMass, "80", at: Self.start), sample(.bodyMass, "81", at: Self.start + 7300)])
        let early = try exporter(server, at: now)
        try test.finish(test.run(early, target))
        early.finish()
        #expect(try rows(.bodyMass, server).map(\.start) == [Instant(seconds: Self.start)])
        let late = try exporter(server, at: Instant(seconds: Self.start + 7400))
        try test.finish(test.run(late, target))
        late.finish()
        try expectEqualHours(server)
    }

    @Test func hoursBeginAtMinuteOfZone() throws {
        let server = try HomeAssistantServer(zone: "Asia/Kolkata")
        try test.add((0..<9).map { try sample(.bodyMass, "80", at: Self.start + $0 * 1500) })
        let zone = TimeZoneRules(fixed: ZoneOffset(seconds: 19_800))
        let exporter = try exporter(server, zone: zone)
        try test.finish(test.run(exporter, target))
        exporter.finish()
        #expect(try rows(.bodyMass, server) == hours(.bodyMass, anchor: 1800))
        // Another zone: the rows would overlap, so they are replaced.
        let other = try self.exporter(server, zone: TimeZoneRules(fixed: .utc))
        let comparison = HourComparison(target, exporter: other, store: test.store, now: { ExportedStore.received })
        _ = try comparison.compare(mends: true)
        #expect(try rows(.bodyMass, server) == hours(.bodyMass))
    }

    // MARK: Failures

    @Test func acknowledgesRowsAfterReadingThemBack() throws {
        let server = try HomeAssistantServer()
        // A barrier waits for it, and it is killed in between.
        server.kill()
        try server.start(rate: 20)
        try addSome()
        let exporter = try exporter(server)
        let run = try test.run(exporter, target)
        server.kill(afterMicroseconds: 1_500_000)
        guard case .wait = try run.step() else {
            Issue.record("it acknowledged rows that were only queued")
            return
        }
        #expect(run.target.delivered == 0 && run.target.backlog?.anchor == .beginning)
        try server.start()
        #expect(try rows(.stepCount, server).count < hours(.stepCount).count)
        try test.finish(run)
        try expectEqualHours(server)
    }

    @Test func lostRowsAreSentAgain() throws {
        let server = try HomeAssistantServer()
        try addSome()
        try export(server)
        let exporter = try exporter(server)
        let run = try test.run(exporter, target)
        try test.finish(run)
        // As after a restored backup, while the hub has nothing new.
        let session = try session(server)
        let statistic = Statistic(HourSeries(person: test.origin.person, type: .bodyMass))
        try session.remove(
            try rows(.bodyMass, server).suffix(20).map(\.start), of: statistic,
            .init(id: statistic.id, name: "Weight", unit: "kg", hasSum: false))
        server.kill()
        try server.start()
        for _ in 0..<6 { _ = try run.step() }
        try expectEqualHours(server)
    }

    @Test func refusedTokenIsNotTriedAgain() throws {
        let server = try HomeAssistantServer()
        try test.folder.write(Array("wrong".utf8), to: "token")
        try test.add([sample(.bodyMass, "80", at: Self.start)])
        let exporter = try exporter(server)
        for _ in 0..<3 {
            #expect { try exporter.opened() } throws: { error in
                guard let error = error as? DeliveryError else { return false }
                return error.kind == .unauthorised && error.isLasting && !error.reason.contains("wrong")
            }
        }
        let run = try test.run(exporter, target)
        #expect(try run.step() == .stopped)
        #expect(try server.refusedTokens() == 1)
        // A new token is tried.
        try test.folder.write(Array("good".utf8), to: "token")
        _ = try exporter.opened()
    }

    @Test func memberIsNoAdministrator() throws {
        let server = try HomeAssistantServer()
        try test.folder.write(Array("member".utf8), to: "token")
        let exporter = try exporter(server)
        #expect { try exporter.check() } throws: { error in
            (error as? DeliveryError)?.kind == .unauthorised
                && (error as? DeliveryError)?.reason.contains("administrator") == true
        }
    }

    @Test func oldVersionIsRefused() throws {
        let server = try HomeAssistantServer(version: "2025.6.1")
        #expect { try exporter(server).check() } throws: { ($0 as? DeliveryError)?.reason.contains("2025.11") == true }
    }

    // MARK: Comparison

    @Test func comparisonFindsAndMendsDifferences() throws {
        let server = try HomeAssistantServer()
        try addSome()
        try export(server)
        let session = try session(server)
        let mass = Statistic(HourSeries(person: test.origin.person, type: .bodyMass))
        let steps = Statistic(HourSeries(person: test.origin.person, type: .stepCount))
        var masses = try rows(.bodyMass, server)
        let metadata = RecorderSession.Metadata(id: mass.id, name: "Weight", unit: "kg", hasSum: false)
        masses[5].values = .mean(1, minimum: 1, maximum: 1)
        let early = StatisticRow(start: Instant(seconds: Self.start - 3600), values: .mean(2, minimum: 2, maximum: 2))
        try session.write([masses[5], early], of: mass, metadata)
        try session.remove([masses[7].start], of: mass, metadata)
        var amounts = try rows(.stepCount, server)
        amounts[3].values = .sum(state: 1, total: 1)
        try session.write(
            [amounts[3]], of: steps, .init(id: steps.id, name: "Steps", unit: "steps", hasSum: true))
        let other = Statistic(HourSeries(person: "22222222-2222-4333-8444-555555555555", type: .bodyMass))
        try session.write([masses[0]], of: other, .init(id: other.id, name: "Weight", unit: "kg", hasSum: false))

        let comparison = HourComparison(
            target, exporter: try exporter(server), store: test.store, now: { ExportedStore.received })
        let dry = try comparison.compare(mends: false)
        #expect(dry.missing == 1 && dry.differing == 2 && dry.surplus == 1 && dry.foreign == 1 && dry.equal > 60)
        #expect(try comparison.compare(mends: true) == dry)
        try expectEqualHours(server)
        #expect(try comparison.compare(mends: false).count == 0)
    }

    @Test func clearingRemovesOwnStatistics() throws {
        let server = try HomeAssistantServer()
        try addSome()
        try export(server)
        let session = try session(server)
        let other = Statistic(HourSeries(person: "22222222-2222-4333-8444-555555555555", type: .bodyMass))
        try session.write(
            [.init(start: Instant(seconds: Self.start), values: .mean(2, minimum: 2, maximum: 2))], of: other,
            .init(id: other.id, name: "Weight", unit: "kg", hasSum: false))
        #expect(try HourComparison.clear("home", exporter(server), test.store, now: ExportedStore.received) == 3)
        #expect(try Set(self.session(server).known.keys) == [other.id])
        #expect(try test.store.targets.target("home")?.state == .stopped)
        try exporter(server).erase(person: "22222222-2222-4333-8444-555555555555")
        #expect(try self.session(server).known.isEmpty)
    }

    // MARK: Everything at random

    @Test(arguments: [1, 2]) func totalsEqualStoreAfterAnything(_ seed: UInt64) throws {
        let server = try HomeAssistantServer()
        var random = SeededGenerator(seed: seed)
        var exporter = try exporter(server)
        var samples: [GatedSample] = []
        // A deleted sample that is added again remains deleted.
        var known: Set<SampleIdentity> = []
        for step in 0..<30 {
            if Bool.random(using: &random) || samples.isEmpty {
                let new = try (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    try sample(
                        .stepCount, "\(Int.random(in: 1...4, using: &random))00",
                        at: Self.start + Int64.random(in: 0..<48, using: &random) * 1800,
                        seconds: [60, 5400].randomElement(using: &random) ?? 60)
                }
                try test.add(new)
                samples += new.filter { known.insert($0.sample.identity).inserted }
            } else {
                try test.delete(samples.remove(at: Int.random(in: 0..<samples.count, using: &random)))
            }
            if step % 10 == 9 {
                server.kill()
                try server.start()
            }
            if step % 7 == 6 { exporter = try self.exporter(server) }
            try test.finish(test.run(exporter, target))
            try expectEqualHours(server, "step \(step)")
        }
    }

    @Test(arguments: [1, 2]) func equalsStoreAfterAnything(_ seed: Int) throws {
        let server = try HomeAssistantServer(version: seed == 1 ? "2026.2.3" : "2026.11.0")
        var random = SeededGenerator(seed: UInt64(seed))
        let proof = try ExportProof(test, TargetSettings(name: "home", batchSize: 7)) { try self.exporter(server) }
        try proof.suffer(80, using: &random) { random in
            guard Int.random(in: 0..<6, using: &random) == 0 else { return }
            server.kill()
            try server.start()
        }
        try proof.finish()
        try expectEqualHours(server)
    }
}
