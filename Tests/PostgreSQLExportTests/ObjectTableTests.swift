import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// Against Debian's PostgreSQL: each kind of sample has its table, in which it is whole and once.
@Suite struct ObjectTableTests {
    private let test: ExportedStore
    private let server: PostgreSQLServer
    private let schema: String
    private static let kinds = SampleKind.allCases.filter { $0 != .quantity }

    init() throws {
        test = try ExportedStore()
        server = try PostgreSQLServer.shared.get()
        schema = "o" + test.store.identifier
    }

    private func settings(host: String? = nil) -> PostgreSQLSettings {
        PostgreSQLSettings(host: host ?? server.folder, database: "postgres", user: "vitalgate", schema: schema)
    }

    private func exporter(_ settings: PostgreSQLSettings? = nil, of store: SampleStore? = nil) throws -> PostgreSQLExporter {
        let store = store ?? test.store
        return PostgreSQLExporter(
            settings ?? self.settings(),
            context: try ExportContext(name: "other", store: store.identifier, me: store.owner, now: { ExportedStore.received })
        )
    }

    private func sql(_ text: String) throws -> [[String?]] { try PostgreSQLConnection(settings()).run(text) }

    /// The UUIDs of all tables, twice if two tables contain one.
    private func stored() throws -> [String] {
        let parts = (["sample"] + ObjectTable.all.map(\.name)).map { "SELECT uuid FROM \(schema).\($0)" }
        return try sql(parts.joined(separator: " UNION ALL ")).compactMap { $0[0] }
    }

    private func expectStored() throws {
        let stored = try stored()
        #expect(try Set(stored) == Set(test.contents().keys.map(\.description)))
        #expect(Set(stored).count == stored.count)
    }

    /// The content of each kind's table, by the values in the tests' bodies.
    @Test func aTableForEachKind() throws {
        _ = try exporter().create()
        #expect(try exporter().check().allSatisfy { $0.weight == .good })
        try test.add(try Self.kinds.map { try test.object($0, 3, at: 0) })
        try test.finish(try test.run(exporter()))
        try expectStored()
        #expect(try test.store.targets.target("other")?.leftOut == 0)
        for table in ObjectTable.all { #expect(try sql("SELECT 1 FROM \(schema).\(table.name)").count == 1, "\(table.name)") }
        #expect(try sql("SELECT value, value_name FROM \(schema).sleep_analysis") == [["3", "asleepCore"]])
        #expect(
            try sql(
                """
                SELECT activity, activity_number, duration, total_distance, events->0->>'type', statistics#>>'{activeEnergyBurned,sum}',
                    cardinality(routes), metadata FROM \(schema).workout
                """) == [["running", "37", "1740", "5200", "pause", "310.5", "1", "{}"]])
        #expect(
            try sql("SELECT date, active_energy_burned, exercise_time, stand_hours, move_time FROM \(schema).activity_summary")
                == [["2026-11-23", "420.5", "31", "12", nil]])
        #expect(try sql("SELECT cardinality(objects) FROM \(schema).blood_pressure") == [["2"]])
        #expect(
            try sql(
                "SELECT sensitivity#>>'{0,left,sensitivity}' IS NULL, sensitivity#>>'{0,left,value}' FROM \(schema).audiogram")
                == [["t", "10.0"]])
        #expect(
            try sql("SELECT prescription, expiration, left_eye#>>'{sphere,value}', right_eye FROM \(schema).vision_prescription")
                == [["glasses", "2026-09-22 14:13:20+00", "-1.25", nil]])
        #expect(
            try sql("SELECT valence, state_of_mind_kind, labels, associations FROM \(schema).state_of_mind") == [
                ["0.7", "momentaryEmotion", "{calm,happy}", "{family}"]
            ])
        #expect(
            try sql(
                "SELECT status, medication, dose, dose_unit, scheduled, codes->0->>'code' FROM \(schema).medication_dose_event")
                == [["taken", "Ibuprofen", "2", "tablet", "2026-09-21 14:12:20+00", "5640"]])
        #expect(try sql("SELECT score, risk, cardinality(answers) FROM \(schema).gad7") == [["9", "mild", "7"]])
    }

    /// The distance of a workout is that of its statistics, if it has no total.
    @Test func distanceOfAStatistic() throws {
        _ = try exporter().create()
        let kilometres = Amount(try Numeral("21.00"), try Unit(ucum: "km"))
        for (number, statistics) in [[Workout.Statistics(type: "distanceCycling", sum: kilometres)], []].enumerated() {
            var workout = try test.object(.workout, number, at: number * 1000)
            workout.sample.body = try SampleBody(encoding: Workout(statistics: statistics))
            try test.add([workout])
        }
        try test.finish(try test.run(exporter()))
        #expect(try sql("SELECT total_distance FROM \(schema).workout ORDER BY start_time") == [["21000"], [nil]])
    }

    /// Points are rows of a view, with the numbers that were measured.
    @Test func pointsOfSeries() throws {
        _ = try exporter().create()
        try test.add(try Self.kinds.map { try test.object($0, 1, at: 0) })
        try test.finish(try test.run(exporter()))
        #expect(
            try sql("SELECT number, time, latitude, longitude, altitude, course, speed FROM \(schema).workout_route_point")
                == [
                    ["1", "2026-09-21 14:13:20+00", "51.441", "-0.3", "12.5", nil, "2.75"],
                    ["2", "2026-09-21 14:13:21.5+00", "51.4411", "-0.3", nil, nil, "2.75"],
                    ["3", "2026-09-21 14:13:23+00", "51.4412", "-0.3", "12.5", nil, "2.75"],
                    ["4", "2026-09-21 14:13:24.5+00", "51.4413", "-0.3", "12.5", nil, "2.75"],
                ])
        #expect(try sql("SELECT point_count, more_points FROM \(schema).workout_route")[0][0] == "4")
        #expect(
            try sql("SELECT more_points#>>'{cadence,values,3}', more_points#>>'{cadence,unit}' FROM \(schema).workout_route")
                == [["80.0", "/min"]])
        #expect(
            try sql("SELECT seconds, gap, heart_rate FROM \(schema).heartbeat_series") == [
                ["{0,0.8125,1.625,2.4375}", "{0,0,1,0}", "{NULL,NULL,NULL,NULL}"]
            ])
        #expect(
            try sql(
                """
                SELECT count(*), max(time), min(voltage) FROM \(schema).electrocardiogram_point
                """) == [["512", "2026-09-21 14:13:20.998047+00", "-511.25"]])
        #expect(
            try sql("SELECT classification, sampling_frequency, average_heart_rate, lead FROM \(schema).electrocardiogram")
                == [["sinusRhythm", "512", "62", "Lead I"]])
    }

    /// Byte for byte: 6.30 stays 6.30, and spaces stay where they were.
    @Test func preservesOriginalBytes() throws {
        _ = try exporter().create()
        let odd: [(String, [UInt8])] = [
            ("labResultRecord", Array("{\"resourceType\":\"Observation\",\"text\":\"\\u0000\"}".utf8)),
            ("labResultRecord", Array("{\"resourceType\":\"Observation\",\"text\":\"\\ud800\"}".utf8)),
            ("cda", Array("<ClinicalDocument>".utf8) + [0xE9] + Array("</ClinicalDocument>".utf8)),
            ("cda", Array("<ClinicalDocument>\u{1}</ClinicalDocument>".utf8)),
        ]
        try test.add(try [SampleKind.clinicalRecord, .document].map { try test.object($0, 0, at: 0) })
        for (index, (type, bytes)) in odd.enumerated() {
            var sample = try test.object(type == "cda" ? .document : .clinicalRecord, index + 1, at: 0)
            let reported =
                type == "cda"
                ? try SampleBody(
                    encoding: ClinicalDocument(title: "", patient: "", custodian: "", author: "", valid: false),
                    content: PackedContent(bytes))
                : try SampleBody(
                    encoding: ClinicalRecord(displayName: "", resourceType: "Observation", identifier: "\(index)", version: "R4"),
                    content: PackedContent(bytes))
            sample.sample.body = reported
            try test.add([sample])
        }
        try test.finish(try test.run(exporter()))
        try expectStored()
        func hex(_ bytes: [UInt8]) -> String {
            "\\x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let records = try sql(
            "SELECT octets, resource IS NULL FROM \(schema).lab_result_record ORDER BY identifier COLLATE \"C\"")
        #expect(
            Set(records) == [
                [hex(Array(ExportedStore.resource.utf8)), "f"], [hex(odd[0].1), "t"], [hex(odd[1].1), "t"],
            ])
        #expect(
            try sql(
                "SELECT resource#>>'{valueQuantity,value}', resource#>>'{note,0,text}' FROM \(schema).clinical_record WHERE resource IS NOT NULL"
            ) == [["6.30", "a\\b\té"]])
        let documents = try sql("SELECT convert_to(xml, 'UTF8'), octets FROM \(schema).document")
        #expect(
            Set(documents) == [[hex(Array(ExportedStore.document.utf8)), nil], [nil, hex(odd[2].1)], [hex(odd[3].1), nil]])
    }

    /// The connection breaks at any byte, and exporters are killed after deliveries.
    @Test(arguments: 0..<8 as Range<UInt64>) func survivesRandomFailures(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        _ = try exporter().create()
        let relay = CuttingRelay(.unix(test.folder.file(".s.PGSQL.5432")), server: .unix(server.folder + "/.s.PGSQL.5432"))
        defer { relay.close() }
        let proof = try ExportProof(test, objects: Self.kinds) { try exporter(settings(host: test.folder.file(""))) }
        try proof.suffer(40, using: &random) { random in
            guard Int.random(in: 0..<3, using: &random) > 0 else { return }
            let direction = CuttingRelay.Direction.allCases[Int.random(in: 0..<2, using: &random)]
            relay.cut(direction, after: Int.random(in: 1..<(direction == .toServer ? 9000 : 3000), using: &random))
        }
        #expect(relay.count > 0)
        relay.mend()
        try proof.finish()
        try expectStored()
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count))
    }

    /// The same objects from two hubs are one row each, which stays while one of them has it.
    @Test(arguments: 0..<4 as Range<UInt64>) func twoHubs(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        _ = try exporter().create()
        let other = try ExportedStore()
        let proofs = try [test, other].map { store in
            try ExportProof(store, objects: Self.kinds) { try exporter(of: store.store) }
        }
        for _ in 0..<10 { try proofs[Int.random(in: 0..<2, using: &random)].suffer(6, using: &random) { _ in } }
        for proof in proofs { try proof.finish() }
        let union = try test.contents().merging(other.contents()) { one, _ in one }
        let stored = try stored()
        #expect(stored.count == union.count)
        #expect(Set(stored) == Set(union.keys.map(\.description)))
        for store in [test, other] {
            var own: Set<String> = []
            try exporter(of: store.store).contents { own.formUnion($0.map(\.identity.description)) }
            #expect(try own == Set(store.contents().keys.map(\.description)))
        }
    }

    /// A deletion removes the row, and a repair records both samples. A restored sample is there again.
    @Test func deletionsAndRepairs() throws {
        _ = try exporter().create()
        let samples = try Self.kinds.map { try test.object($0, 0, at: 0) }
        try test.add(samples)
        let run = try test.run(exporter())
        try test.finish(run)
        for sample in samples { try test.delete(sample) }
        try test.finish(run)
        #expect(try stored().isEmpty)
        #expect(try sql("SELECT count(*) FROM \(schema).deletion") == [["\(samples.count)"]])
        _ = try test.store.samples.restore(samples.map(\.sample.identity), description: test.description(.restore))
        try test.finish(run)
        try expectStored()
        #expect(try sql("SELECT count(*) FROM \(schema).deletion") == [["0"]])
        let types = Set(samples.map(\.sample.origin.type))
        let repairID = try test.store.repairs.apply(
            RepairRequest(
                .shift(3_600_000_000), of: SampleConditions(types: types), takesAmbiguous: true, now: ExportedStore.received))
        try test.finish(run)
        try expectStored()
        let moved = try sql("SELECT count(*) FROM \(schema).deletion WHERE replaced_by IS NOT NULL")[0][0]
        #expect(moved.flatMap { Int($0) } ?? 0 > 0)
        let first = try sql("SELECT min(time) FROM \(schema).workout_route_point")
        #expect(first == [["2026-09-21 15:13:20+00"]])
        _ = try test.store.repairs.undo(repairID.repairID ?? 0, at: ExportedStore.received)
        try test.finish(run)
        try expectStored()
    }

    /// A later schema step keeps the rows, and a program that lacks the step refuses the database.
    @Test func aLaterStep() throws {
        _ = try exporter().create()
        try test.add([try test.sample(60, at: 0)])
        try test.finish(try test.run(exporter()))

        let later = DatabaseSchema(name: schema, later: ["ALTER TABLE \(schema).sample ADD COLUMN place text DEFAULT 'here'"])
        let connection = try PostgreSQLConnection(settings())
        #expect(try later.create(connection).found == 1)
        #expect(try later.found(connection) == 2)
        #expect(try later.create(connection).found == 2)
        #expect(try sql("SELECT value, place FROM \(schema).sample") == [["60", "here"]])

        let error = #expect(throws: DeliveryError.self) { try exporter().check() }
        #expect(error?.reason.contains("newer Vitalgate") == true)
    }

    /// A series with more numbers than a row can contain is set aside, and the others are delivered.
    @Test func setsAsideOversizedSeries() throws {
        _ = try exporter().create()
        var sample = try test.object(.heartbeatSeries, 0, at: 0)
        var writer = PointsWriter(columns: HeartbeatSeries.columns)
        for _ in 0..<4 { try writer.append([Numeral(coefficient: 1), nil, nil]) }
        var (points, content) = try writer.end()
        points.count = ObjectRows.maximumNumbers
        sample.sample.body = try SampleBody(encoding: HeartbeatSeries(points: points), content: content)
        // A sample whose content does not match its head is set aside, too.
        var damaged = try test.object(.workoutRoute, 0, at: 0)
        var bytes = try #require(damaged.sample.body?.bytes)
        bytes[bytes.count - 3] ^= 0xFF
        damaged.sample.body = SampleBody(bytes: bytes)
        try test.add([sample, damaged, try test.object(.workout, 0, at: 0), try test.sample(60, at: 0)])
        try test.finish(try test.run(exporter()))
        #expect(try test.store.targets.setAside(by: "other").count == 2)
        #expect(try stored().count == 2)
    }

    /// No two tables and views have one name.
    @Test func namesAreApart() {
        var names =
            [
                "sample", "hub", "deletion", "progress", "version", "self", "record", "superseded", "type", "daily_sum", "device",
                "coverage", "person_day", "study", "day", "day_due", "day_longest",
            ]
            + ObjectTable.all.map(\.name)
        names += ObjectTable.all.filter { !$0.points.isEmpty }.map { $0.name + "_point" }
        let several: Set<SampleKind> = [.quantity, .category, .correlation, .scoredAssessment, .clinicalRecord]
        names += SampleType.all.filter { several.contains($0.kind) }.map { DatabaseSchema.snake($0.id) }
        #expect(Set(names).count == names.count)
    }
}
