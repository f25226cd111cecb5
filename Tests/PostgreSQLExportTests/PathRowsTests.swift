import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// The same measurement over two paths, which arrives over two hubs: one row, as in one store. The readings are made up for Vitalgate.
@Suite struct PathRowsTests {
    private let stores: [ExportedStore]
    private let schema: String

    init() throws {
        stores = [try ExportedStore(), try ExportedStore(), try ExportedStore()]
        schema = "p" + stores[0].store.identifier
        _ = try exporter(stores[0]).create()
    }

    private func exporter(_ store: ExportedStore) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            PostgreSQLSettings(
                host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate", schema: schema),
            context: try ExportContext(
                name: "other", store: store.store.identifier, me: store.store.owner, now: { ExportedStore.received }))
    }

    private func sql(_ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(
            PostgreSQLSettings(
                host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate", schema: schema)
        ).run(text)
    }

    /// A reading of a scale at a second, or the same one in the file of the maker's app, or one of a scale of another maker.
    private enum Path: CaseIterable {
        case scale, app, other
    }

    private func reading(
        _ numeral: String, _ unit: String = "kg", at second: Int64, over path: Path, of store: ExportedStore,
        type: SampleType = .bodyMass,
        seconds: Int64 = 0
    ) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_040 + second)
        let source =
            switch path {
            case .scale: SourceRevision(id: "ble.weight-scale", name: "Weight Scale")
            case .app: SourceRevision(id: "file.withings", name: "Withings app")
            case .other: SourceRevision(id: "ble.weight-scale", name: "Weight Scale")
            }
        let device: Device? =
            switch path {
            case .scale: Device(key: "withings-1", name: "Body", manufacturer: "Withings", serial: "1")
            case .app: nil
            case .other: Device(key: "tanita-1", name: "Scale", manufacturer: "Tanita", serial: "2")
            }
        let reading = Reading(
            origin: Origin(person: store.origin.person, type: type, source: source, device: device),
            numeral: try Numeral(numeral),
            unit: try Unit(ucum: unit),
            time: .instants(start: start, end: Instant(seconds: start.microseconds / 1_000_000 + seconds), offset: .utc),
            timeResolution: path == .app ? 60 : 1, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
    }

    private func deliver(_ store: ExportedStore) throws { try store.finish(try store.run(exporter(store))) }

    /// The numerals of the rows, with the number of hubs that have each report and that it represents.
    private func rows() throws -> [[String?]] {
        try sql(
            """
            SELECT numeral, cardinality(hubs), coalesce(cardinality(represents), 0) FROM \(schema).sample ORDER BY start_time, numeral
            """)
    }

    private func expectEqual(_ store: ExportedStore) throws {
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(store), store: store.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: store.contents().count))
    }

    /// One weighing is one row, whichever hub comes first. The most precise report represents the other, and each hub finds its own.
    @Test(arguments: [[0, 1], [1, 0]]) func oneWeighingIsOneRow(order: [Int]) throws {
        try stores[0].add([try reading("80.15", at: 24, over: .scale, of: stores[0])])
        try stores[1].add([try reading("176.7", "[lb_av]", at: 0, over: .app, of: stores[1])])
        for index in order { try deliver(stores[index]) }
        #expect(try rows() == [["80.15", "1", "1"]])
        for store in stores.prefix(2) { try expectEqual(store) }
        // Nothing changes if it is told again.
        for index in order {
            try stores[index].store.targets.forget(target: "other")
            try deliver(stores[index])
        }
        #expect(try rows() == [["80.15", "1", "1"]])
        #expect(try sql("SELECT count(*) FROM \(schema).superseded") == [["1"]])
    }

    /// The other report comes forward when its hub is the only one that has the measurement, and goes with it.
    @Test func otherReportReplacesWithdrawn() throws {
        let samples = [
            try reading("80.15", at: 24, over: .scale, of: stores[0]),
            try reading("176.7", "[lb_av]", at: 0, over: .app, of: stores[1]),
        ]
        for (store, sample) in zip(stores, samples) {
            try store.add([sample])
            try deliver(store)
        }
        try stores[0].delete(samples[0])
        try deliver(stores[0])
        #expect(try rows() == [["176.7", "1", "0"]])
        #expect(try sql("SELECT 1 FROM \(schema).superseded").isEmpty)
        try expectEqual(stores[1])
        // Back again, it represents the other.
        _ = try stores[0].store.samples.restore([samples[0].sample.identity], description: stores[0].description(.restore))
        try deliver(stores[0])
        #expect(try rows() == [["80.15", "1", "1"]])
        for (store, sample) in zip(stores, samples) {
            try store.delete(sample)
            try deliver(store)
        }
        #expect(try rows().isEmpty && sql("SELECT 1 FROM \(schema).superseded").isEmpty)
    }

    /// Scales of two makers are two measurements, and so are two weighings of one hub, and two values.
    @Test func otherMeasurementsStayTwo() throws {
        try stores[0].add([
            try reading("80.15", at: 24, over: .scale, of: stores[0]), try reading("80.35", at: 30, over: .scale, of: stores[0]),
        ])
        try stores[1].add([
            try reading("80.15", at: 25, over: .other, of: stores[1]), try reading("80.7", at: 0, over: .app, of: stores[1]),
        ])
        for store in stores.prefix(2) { try deliver(store) }
        #expect(try rows().count == 4 && sql("SELECT 1 FROM \(schema).superseded").isEmpty)
    }

    /// A walk that was counted by a watch and told again by the maker's file counts once.
    @Test func aWalkCountsOnce() throws {
        let distance = try #require(SampleType("distanceWalkingRunning"))
        try stores[0].add([try reading("1250", "m", at: 5, over: .scale, of: stores[0], type: distance, seconds: 600)])
        try stores[1].add([try reading("1.25", "km", at: 0, over: .app, of: stores[1], type: distance, seconds: 600)])
        for store in stores.prefix(2) { try deliver(store) }
        #expect(try rows() == [["1250", "1", "1"]])
    }

    /// Any order of deliveries and deletions leads to the same rows, with and without a third hub that has a report too.
    @Test(arguments: 0..<6 as Range<UInt64>) func theOrderDoesNotMatter(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var steps: [(ExportedStore, GatedSample)] = []
        for minute in 0..<6 as Range<Int64> {
            let second = Int64.random(in: 1..<60, using: &random)
            steps.append((stores[0], try reading("80.\(minute)5", at: 60 * minute + second, over: .scale, of: stores[0])))
            steps.append((stores[1], try reading("80.\(minute)5", at: 60 * minute, over: .app, of: stores[1])))
            if minute % 2 == 0 {
                steps.append((stores[2], try reading("80.\(minute)5", at: 60 * minute + second, over: .scale, of: stores[2])))
            }
        }
        for (store, sample) in steps.shuffled(using: &random) {
            try store.add([sample])
            if Bool.random(using: &random) { try deliver(store) }
        }
        for store in stores.shuffled(using: &random) { try deliver(store) }
        #expect(
            try rows() == (0..<6).map { ["80.\($0)5", $0 % 2 == 0 ? "2" : "1", "1"] }, "seed \(seed)")
        for store in stores { try expectEqual(store) }
        // The scale's hub loses some, and the other reports stay.
        for (store, sample) in steps where store.store.identifier == stores[0].store.identifier { try store.delete(sample) }
        try deliver(stores[0])
        #expect(try rows().count == 6)
        for store in stores { try expectEqual(store) }
    }
}
