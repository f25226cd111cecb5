import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The one door: a file, a device and a program are given one verdict on an object, and what entered is sound.
@Suite struct EntryTests {
    private static func sample(
        _ type: String = "heartRate", person: String = TestStore.person, source: SourceRevision? = nil, device: Device? = nil,
        value: Double = 61, start: Int64 = 1_790_000_000, end: Int64? = nil, metadata: Metadata? = nil, body: SampleBody? = nil
    ) throws -> GatedSample {
        let type = try #require(SampleType(type))
        let origin = Origin(
            person: person, type: type, source: source ?? SourceRevision(id: "s", name: "S"), device: device)
        let numeral = value.isFinite ? Numeral(shortest: value) : Numeral(coefficient: 0)
        let (first, last) = (Instant(seconds: start), Instant(seconds: end ?? start))
        let identity = SampleIdentity(
            series: origin.seriesKey, start: first.microseconds, end: last.microseconds, numeral: numeral,
            unit: type.canonicalUnit, ordinal: 0)
        return GatedSample(
            sample: Sample(
                origin: origin, identity: identity, nominalStart: first.microseconds, start: first, end: last, value: value,
                numeral: numeral, unit: type.canonicalUnit, zone: nil, timeOrigin: .device, received: TestStore.received,
                metadata: metadata, ordinal: 0, body: body),
            rule: nil, repeats: nil, place: Place(.line, 1))
    }

    private static func document(_ bytes: String?) throws -> SampleBody {
        try SampleBody(
            encoding: ClinicalDocument(title: "t", patient: "p", custodian: "c", author: "a", valid: true),
            content: bytes.map { try PackedContent($0.utf8) })
    }

    private static func record(_ bytes: String?) throws -> SampleBody {
        try SampleBody(
            encoding: ClinicalRecord(displayName: "x", resourceType: "Immunization", identifier: "1", version: "R4"),
            content: bytes.map { try PackedContent($0.utf8) })
    }

    /// The reason for a refusal on each path. `nil` if it is stored.
    private func verdicts(_ sample: GatedSample, _ test: TestStore) throws -> [String?] {
        var verdicts: [String?] = []
        for kind in [IngestKind.import, .live] {
            let ingest = try test.store.beginIngest(TestStore.description(kind))
            let outcome = try ingest.store([sample])
            let account = try ingest.finish(at: 0)
            #expect(account.read == 1)
            verdicts.append(outcome == [.refused] ? try test.store.ledger.refusals(of: account.id).first?.reason : nil)
        }
        do {
            _ = try test.store.samples.save([sample], as: TestStore.description(.save), within: 0..<Int64.max)
            verdicts.append(nil)
        } catch let error as RefusedObject {
            verdicts.append(error.fault.description)
        }
        return verdicts
    }

    @Test func oneVerdictForEachWay() throws {
        let source = { (id: String, name: String) in SourceRevision(id: id, name: name) }
        let long = Metadata([("note", .string(String(repeating: "a", count: 70_000)))])
        let bad: [(GatedSample, String)] = [
            (try Self.sample("cda", value: 0, body: Self.document(nil)), "octets: they are missing"),
            (try Self.sample("cda", value: 0, body: Self.document("not xml")), "octets"),
            (try Self.sample("cda", value: 0, body: Self.document("<ClinicalDocument>")), "octets"),
            (try Self.sample("cda", value: 0, body: Self.document("<html/>")), "octets"),
            (try Self.sample("cda", value: 0), "body: it is missing"),
            (try Self.sample("heartRate", body: Self.document("<ClinicalDocument/>")), "body"),
            (try Self.sample("workout", value: 37, body: Self.document("<ClinicalDocument/>")), "body"),
            (
                try Self.sample("bloodPressure", value: 0, body: SampleBody(bytes: Array("{\"objects\":[\"x\"]}".utf8))),
                "objects"
            ),
            (try Self.sample(person: "not-a-uuid"), "subject"), (try Self.sample(person: ""), "subject"),
            (try Self.sample(source: source("", "S")), "source: id"),
            (try Self.sample(source: source("s\0", "S")), "source: id"),
            (try Self.sample(source: source("s", "S\nT")), "source: name"),
            (try Self.sample(device: Device(key: "")), "device: key"),
            (try Self.sample(device: Device(key: "k", name: "a\0b")), "device: name"),
            (try Self.sample(metadata: long), "metadata"),
            (try Self.sample(metadata: Metadata([("", .boolean(true))])), "metadata"),
            (try Self.sample(value: .nan), "value"), (try Self.sample(value: .infinity), "value"),
            (try Self.sample(end: 1_789_999_999), "end"), (try Self.sample(end: 1_790_000_000 + 200 * 366 * 86_400), "end"),
            (try Self.sample(start: -5), "start"),
        ]
        try TestStore.with { test in
            for (sample, field) in bad {
                let verdicts = try verdicts(sample, test)
                #expect(verdicts.allSatisfy { $0?.hasPrefix(field) == true }, "\(field): \(verdicts)")
                #expect(Set(verdicts).count == 1, "\(verdicts)")
            }
            let good = try Self.sample("cda", value: 0, body: Self.document("<?xml version='1.0'?><x:ClinicalDocument a=\"1\"/>"))
            #expect(try verdicts(good, test) == [nil, nil, nil])
            #expect(try verdicts(Self.sample(), test) == [nil, nil, nil])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Clinical records are imported, and no program saves them.
    @Test func clinicalRecords() throws {
        try TestStore.with { test in
            for bytes in [
                nil, "{\"a\":1}", "{", "{\"resourceType\":\"Condition\"}", "<a/>", "{\"resourceType\":\"Immunization\"} x",
            ] {
                let sample = try Self.sample("immunizationRecord", value: 0, body: Self.record(bytes))
                #expect(try verdicts(sample, test).allSatisfy { $0 != nil }, "\(bytes ?? "")")
            }
            let sample = try Self.sample(
                "immunizationRecord", value: 0,
                body: Self.record("{\"id\":\"\\\"\",\"resourceType\":\"Immunization\",\"a\":[1,{}]}"))
            let verdicts = try verdicts(sample, test)
            #expect(verdicts[0] == nil && verdicts[1] == nil && verdicts[2]?.hasPrefix("type") == true)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Random bodies of every kind: a stored one can be read, whichever path it came by.
    @Test func randomBodies() throws {
        var random = SeededGenerator(seed: 37)
        let pieces = [
            "{", "}", "[]", "\"objects\"", ":", ",", "\"points\"", "{\"columns\":[],\"count\":0}", "\"title\"", "\"x\"", "1",
            "null",
            "\"date\":\"2026-11-20\"", "\"answers\":[0]", "\"kind\":\"dailyMood\"", "\"medication\":\"\"", "\0", "\u{1}é",
        ]
        let types = SampleKind.allCases.compactMap { kind in SampleType.all.first { $0.kind == kind } }
        let test = try TestStore()
        var stored = 0
        for round in 0..<40 {
            let batch = try (0..<250).map { number in
                let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    pieces[Int.random(in: 0..<pieces.count, using: &random)]
                }.joined()
                let type = types[Int.random(in: 0..<types.count, using: &random)]
                return try Self.sample(
                    type.id, value: 0, start: 1_790_000_000 + Int64(round * 250 + number),
                    body: SampleBody(bytes: Array(text.utf8)))
            }
            let ingest = try test.store.beginIngest(TestStore.description(round % 2 == 0 ? .import : .live))
            let outcomes = try ingest.store(batch)
            stored += outcomes.count { $0 == .stored }
            _ = try ingest.finish(at: 0)
            for (gated, outcome) in zip(batch, outcomes).prefix(25) where outcome == .refused {
                #expect(throws: RefusedObject.self) {
                    try test.store.samples.save([gated], as: TestStore.description(.save), within: 0..<Int64.max)
                }
            }
        }
        #expect(try test.store.check(deep: true) == [])
        try test.close()
    }
}
