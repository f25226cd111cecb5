import ExportEngine
import ExportTesting
import FleetProtocol
import Glibc
import HealthModel
import NATSKit
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import FleetCollector
@testable import FleetExport
@testable import PostgreSQLExport

/// A year of one person arrives over two hubs. The center has the same live readings and the same days as one store that has imported all of
/// it. The readings are made up for Vitalgate.
@Suite struct FleetEqualsStoreTests {
    private let hubs: [ExportedStore]
    /// The store that imports everything.
    private let all: ExportedStore
    private let broker: NATSServer
    private let database: PostgreSQLSettings
    private let subject: FleetSubject

    init() throws {
        hubs = [try ExportedStore(), try ExportedStore()]
        all = try ExportedStore()
        broker = try NATSServer()
        database = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "y" + all.store.identifier)
        subject = try #require(FleetSubject(fleet: "study"))
        let context = try ExportContext(name: "x", store: "x", me: Origin.unassigned, now: { ExportedStore.received })
        _ = try PostgreSQLExporter(database, context: context).create()
        _ = try FleetDatabase.create(database)
    }

    private func exporter(of store: ExportedStore) throws -> FleetExporter {
        FleetExporter(
            FleetSettings(servers: ["nats://127.0.0.1:\(broker.port)"], subject: subject),
            context: try ExportContext(
                name: "other", store: store.store.identifier, me: store.store.owner, now: { ExportedStore.received }))
    }

    // MARK: The year

    /// Who reports a reading, over which hub.
    private struct Path {
        let hub: Int
        let source: String
        var device: Device?
        var resolution: Int32 = 1
        var zone: Int32? = 3600
    }

    private static let scale = Path(
        hub: 0, source: "Weight Scale", device: Device(key: "withings-1", name: "Body", manufacturer: "Withings", serial: "1"))
    private static let scaleApp = Path(hub: 1, source: "Withings app", resolution: 60)
    private static let otherScale = Path(
        hub: 1, source: "Other Scale", device: Device(key: "tanita-1", name: "Scale", manufacturer: "Tanita", serial: "2"))
    private static let watch = Path(
        hub: 0, source: "My Watch", device: Device(key: "garmin-1", name: "Fenix", manufacturer: "Garmin", serial: "7"))
    private static let watchFile = Path(hub: 1, source: "Garmin Connect", resolution: 60)
    private static let phone = Path(hub: 1, source: "My Phone")
    private static let hours = Path(hub: 0, source: "Hourly export", zone: 3600)
    private static let days = Path(hub: 1, source: "Daily export", zone: 3600)
    private static let meter = Path(
        hub: 1, source: "Glucose Meter", device: Device(key: "contour-1", name: "Contour", manufacturer: "Ascensia", serial: "4"))
    private static let meterApp = Path(hub: 0, source: "Contour app", resolution: 60, zone: nil)

    private func sample(
        _ type: String, _ numeral: String, _ unit: String, at seconds: Int64, for duration: Int64 = 0, over path: Path,
        record: RecordIdentifier? = nil
    ) throws -> GatedSample {
        let reading = Reading(
            origin: Origin(
                person: all.origin.person, type: try #require(SampleType(type)),
                source: SourceRevision(id: path.source, name: path.source), device: path.device),
            numeral: try Numeral(numeral), unit: try Unit(ucum: unit),
            time: .instants(
                start: Instant(seconds: seconds), end: Instant(seconds: seconds + duration),
                offset: path.zone.map { ZoneOffset(seconds: $0) } ?? .utc),
            record: record, timeResolution: path.resolution, place: Place(.line, 1))
        var sample = try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
        if path.zone == nil { sample.sample.zone = nil }
        return sample
    }

    /// The readings of a day, with the hubs that receive each. The midnight is that of one hour east.
    private func readings(
        of day: Int, using random: inout SeededGenerator
    ) throws -> [(hubs: [Int], sample: GatedSample)] {
        let midnight = 1_767_225_600 + Int64(day) * 86_400 - 3600
        var found: [(hubs: [Int], sample: GatedSample)] = []
        func add(_ path: Path, also other: Int? = nil, _ sample: GatedSample) {
            found.append(([path.hub] + (other.map { [$0] } ?? []), sample))
        }
        func cut(_ time: Int64) -> Int64 { time - time % 60 }
        // A weighing on the scale, which the app reports again in pounds. Sometimes a second one follows within the minute.
        for second in Bool.random(using: &random) ? [0] : [0, 21] as [Int64] {
            let grams = Int.random(in: 790...815, using: &random)
            let time = midnight + 7 * 3600 + Int64.random(in: 0..<30, using: &random) + second
            add(Self.scale, try sample("bodyMass", "\(grams / 10).\(grams % 10)5", "kg", at: time, over: Self.scale))
            if Int.random(in: 0..<3, using: &random) > 0 {
                let pounds = Int((Double(grams) / 10 + 0.05) / 0.45359237 * 10 + 0.5)
                add(
                    Self.scaleApp,
                    try sample("bodyMass", "\(pounds / 10).\(pounds % 10)", "[lb_av]", at: cut(time), over: Self.scaleApp))
            }
            if Int.random(in: 0..<5, using: &random) == 0 {
                add(
                    Self.otherScale,
                    try sample("bodyMass", "\(grams / 10).\(grams % 10)", "kg", at: time + 1, over: Self.otherScale))
            }
        }
        // Walks of the watch, which its maker's file reports by the minute, and which the phone has counted too.
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let time = midnight + Int64.random(in: 8 * 3600..<22 * 3600, using: &random)
            let (minutes, metres) = (Int64.random(in: 5...40, using: &random), Int.random(in: 40...300, using: &random) * 10)
            add(Self.watch, try sample("distanceWalkingRunning", "\(metres)", "m", at: time, for: minutes * 60, over: Self.watch))
            if Bool.random(using: &random) {
                let text = "\(metres / 1000)." + String(metres % 1000 + 1000).dropFirst().dropLast()
                add(
                    Self.watchFile,
                    try sample("distanceWalkingRunning", text, "km", at: cut(time), for: minutes * 60, over: Self.watchFile))
            }
            for (path, share) in [(Self.watch, 1.0), (Self.phone, 0.9)] {
                let steps = Int(Double(metres) * 1.3 * share)
                add(
                    path,
                    try sample(
                        "stepCount", "\(steps)", "{count}", at: time + (path.hub == 0 ? 0 : 7), for: minutes * 60 - 10, over: path
                    ))
            }
        }
        // Totals of hours and of the day, of which the finer readings explain some.
        if Bool.random(using: &random) {
            for hour in [9, 12, 18] as [Int64] {
                let steps = Int.random(in: 50...3000, using: &random)
                add(
                    Self.hours,
                    try sample("stepCount", "\(steps)", "{count}", at: midnight + hour * 3600, for: 3600, over: Self.hours))
            }
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            let steps = Int.random(in: 500...12_000, using: &random)
            add(Self.days, try sample("stepCount", "\(steps)", "{count}", at: midnight, for: 86_400, over: Self.days))
        }
        if day % 7 == 0, day % 2 == 0 {
            add(
                Self.days,
                try sample(
                    "stepCount", "\(Int.random(in: 1000...60_000, using: &random))", "{count}", at: midnight, for: 604_800,
                    over: Self.days))
        }
        // Energy across midnight.
        add(
            Self.watch,
            try sample(
                "activeEnergyBurned", "\(Int.random(in: 10...90, using: &random))", "kcal", at: midnight + 86_400 - 900,
                for: 1800,
                over: Self.watch))
        // A few heart rates, some of them around midnight. One hub has got some of them from a copy of the same file.
        for _ in 0..<6 {
            let time = midnight + Int64.random(in: -200..<86_000, using: &random)
            let rate = try sample("heartRate", "\(Int.random(in: 55...95, using: &random))", "/min", at: time, over: Self.watch)
            add(Self.watch, also: Int.random(in: 0..<4, using: &random) == 0 ? 1 : nil, rate)
        }
        // A meter and its app, which has no zone.
        let glucose = Int.random(in: 45...95, using: &random)
        let time = midnight + Int64.random(in: 0..<86_000, using: &random)
        add(Self.meter, try sample("bloodGlucose", "\(glucose / 10).\(glucose % 10)", "mmol/L", at: time, over: Self.meter))
        if Bool.random(using: &random) {
            add(
                Self.meterApp,
                try sample("bloodGlucose", "\(glucose / 10).\(glucose % 10)", "mmol/L", at: cut(time), over: Self.meterApp))
        }
        // A record, and often a correction of it, of either hub.
        for version in 1...Int64.random(in: 1...3, using: &random) {
            let value = Int.random(in: 30...70, using: &random)
            let hub = Int.random(in: 0..<2, using: &random)
            let record = RecordIdentifier(id: "rest-\(day)", version: version)
            found.append(
                (
                    [hub],
                    try sample(
                        "restingHeartRate", "\(value)", "/min", at: midnight + 6 * 3600 + 60 * version, over: Self.watch,
                        record: record)
                ))
        }
        return found
    }

    // MARK: Comparing

    private func deliver() throws {
        for hub in hubs { try hub.finish(try hub.run(exporter(of: hub))) }
        let collector = Collector(database, now: { ExportedStore.received })
        while try collector.computeDays() {}
        let connection = try PostgreSQLConnection(database)
        // The running collector may be computing the last ones.
        try until {
            (try? collector.computeDays()) == false
                && (try? connection.run("SELECT 1 FROM \(database.schema).day_due LIMIT 1").isEmpty) == true
        }
    }

    /// The days of the store, by date, type, and source, as `stats --own-zone` computes them.
    private func days(bySource: Bool) throws -> [[String]: Double] {
        var found: [[String]: Double] = [:]
        for name in SummaryViews.dailyTypes {
            let type = try #require(SampleType(name))
            if bySource, type.aggregation != .cumulative { continue }
            var query = StatisticsQuery(
                type: type, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)), bySource: bySource)
            query.usesSampleZones = true
            for row in try all.store.statistics(query) {
                guard let value = type.aggregation == .cumulative ? row.sum : row.average, row.count > 0 || row.sum != 0 else {
                    continue
                }
                let date = row.start.description.prefix(10)
                found[[String(date), DatabaseSchema.snake(name)] + (bySource ? [row.source ?? ""] : [])] = value
            }
        }
        return found
    }

    private func expectEqual(_ place: String) throws {
        let connection = try PostgreSQLConnection(database)
        let there = Set(try connection.run("SELECT uuid FROM \(database.schema).sample").compactMap { $0[0] })
        let here = Set(try all.contents().keys.map(\.description))
        #expect(
            there == here, "\(place): \(there.count) rows, \(here.count) samples, \(there.symmetricDifference(here).count) differ"
        )
        let names = SummaryViews.dailyTypes.map(DatabaseSchema.snake)
        var seen: [[String]: Double] = [:]
        for row in try connection.run("SELECT date, \(names.joined(separator: ", ")) FROM \(database.schema).person_day") {
            for (name, value) in zip(names, row.dropFirst()) {
                if let value = value.flatMap({ Double($0) }) { seen[[row[0] ?? "", name]] = value }
            }
        }
        var sums: [[String]: Double] = [:]
        for row in try connection.run("SELECT date, type, source_id, sum FROM \(database.schema).daily_sum") {
            sums[[row[0] ?? "", DatabaseSchema.snake(row[1] ?? ""), row[2] ?? ""]] = row[3].flatMap { Double($0) }
        }
        for (name, found, expected) in [
            ("person_day", seen, try days(bySource: false)), ("daily_sum", sums, try days(bySource: true)),
        ] {
            let keys = Set(found.keys).union(expected.keys)
            let wrong = keys.filter { key in
                guard let one = found[key], let other = expected[key] else { return true }
                return abs(one - other) > 1e-9 * max(1, abs(other))
            }
            let shown = wrong.sorted { $0.joined() < $1.joined() }.prefix(5).map { key in
                "\(key): \(found[key].map { "\($0)" } ?? "-") instead of \(expected[key].map { "\($0)" } ?? "-")"
            }
            #expect(wrong.isEmpty, "\(place), \(name): \(wrong.count) of \(keys.count) differ: \(shown.joined(separator: "; "))")
            #expect(!expected.isEmpty)
        }
    }

    /// The readings arrive in pieces and in any order. Some are deleted by every hub that has the measurement, and come back.
    @Test(arguments: [1, 2] as [UInt64]) func aYearOverTwoHubs(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let service = try CollectorService(
            NATSSettings(servers: [broker.url], name: "collector"), subject, database: database, workers: 2,
            now: { ExportedStore.received }, onFailure: { Issue.record("\($0): \($1)") })
        defer { service.stop() }
        try until { (try? exporter(of: hubs[0]).check()) != nil }
        var pieces: [[(hubs: [Int], sample: GatedSample)]] = []
        for day in 0..<365 { pieces.append(try readings(of: day, using: &random)) }
        pieces.shuffle(using: &random)
        var (deleted, count) = ([[GatedSample]](), 0)
        for (number, piece) in pieces.enumerated() {
            for hub in hubs.indices.shuffled(using: &random) {
                try hubs[hub].add(piece.filter { $0.hubs.contains(hub) }.map(\.sample))
                try all.add(piece.filter { $0.hubs[0] == hub }.map(\.sample))
            }
            count += piece.count
            // All reports of a measurement go, over each path, and all versions of a record.
            if number % 5 == 0, let some = piece.randomElement(using: &random)?.sample.sample {
                let removed = piece.map(\.sample).filter {
                    $0.sample.origin.type == some.origin.type
                        && abs($0.sample.start.microseconds - some.start.microseconds) < 240_000_000
                }
                // A store may not have it, or as a duplicate.
                for store in hubs + [all] { for sample in removed { try? store.delete(sample) } }
                deleted.append(removed)
            }
            if number % 20 == 19, let back = deleted.popLast() {
                // One by one, because a hub does not know those of the other.
                for store in hubs + [all] {
                    for sample in back {
                        _ = try? store.store.samples.restore([sample.sample.identity], description: store.description(.restore))
                    }
                }
            }
            // Each hub has an order of sources, of which the second one contradicts the defaults.
            if number == 150 {
                let order = SourceOrder(type: .stepCount, names: ["My Phone", "Hourly export"])
                for store in [hubs[1], all] { try store.store.sources.set(order) }
            }
            if number == 300 {
                let order = SourceOrder(person: all.origin.person, names: ["Hourly export", "Daily export"])
                for store in [hubs[0], all] { try store.store.sources.set(order) }
            }
            if number % 120 == 119 {
                try deliver()
                try expectEqual("after \(count) readings")
            }
        }
        try deliver()
        try expectEqual("at the end, after \(count) readings")
    }

    private func until(_ isSo: () -> Bool) throws {
        for _ in 0..<1200 {
            if isSo() { return }
            usleep(50_000)
        }
        Issue.record("it never came")
    }
}
