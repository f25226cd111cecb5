import ExportEngine
import ExportTesting
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import FHIRExport

/// Against an endpoint that keeps to FHIR's protocol and fails on purpose (fhir_server.py).
@Suite struct FHIRExporterTests {
    private let test: ExportedStore
    private let settings = TargetSettings(name: "clinic", batchSize: 7)

    init() throws { test = try ExportedStore() }

    private func exporter(_ url: String, _ ids: ObservationEncoder.IDs, token: Secret? = nil) throws -> FHIRExporter {
        var settings = FHIRSettings(url: url, patient: "Patient/7")
        (settings.ids, settings.token) = (ids, token)
        let present = PresentSamples(test.store, self.settings)
        return FHIRExporter(
            settings,
            context: try ExportContext(
                name: "clinic", store: test.store.identifier, me: test.store.owner, packet: present.packet,
                now: { ExportedStore.received }))
    }

    /// UUIDs with their values, once for each occurrence.
    private func contents(_ server: FHIRTestServer) throws -> [String: [Double]] {
        var contents: [String: [Double]] = [:]
        for resource in try server.live() {
            let uuids = (resource.identifier ?? []).compactMap(\.value).filter { $0.hasPrefix("urn:uuid:") }
            let values = resource.component?.compactMap(\.valueQuantity?.value) ?? [resource.valueQuantity?.value ?? .nan]
            #expect(uuids.count == values.count)
            for (uuid, value) in zip(uuids, values) { contents[String(uuid.dropFirst(9)), default: []].append(value) }
        }
        return contents
    }

    private func expectEqual(_ server: FHIRTestServer) throws {
        let stored = try test.contents().map { ($0.key.description, [$0.value]) }
        #expect(try contents(server) == Dictionary(uniqueKeysWithValues: stored))
    }

    @Test(arguments: ObservationEncoder.IDs.allCases) func anObservationForEachSample(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        let samples = try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) }
        try test.add(samples)
        let exporter = try exporter(server.url, ids)
        #expect(try exporter.check().allSatisfy { $0.weight == .good })
        let run = try test.run(exporter, settings)
        try test.finish(run)
        try expectEqual(server)
        try test.delete(samples[3])
        try test.finish(run)
        try expectEqual(server)
        _ = try test.store.samples.restore([samples[3].sample.identity], description: test.description(.restore))
        try test.finish(run)
        try expectEqual(server)
        #expect(try server.resources("Observation").count == 50)
        // Pages of three, and nothing but what counts.
        let comparison = TargetComparison(settings, exporter: exporter, store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: 50))
    }

    /// Samples of every kind with a code or a place arrive once, whatever fails. The others are counted and not missed.
    @Test(arguments: ObservationEncoder.IDs.allCases, 0..<3 as Range<UInt64>)
    func deliversObjectsOnceDespiteFailures(_ ids: ObservationEncoder.IDs, seed: UInt64) throws {
        let server = try FHIRTestServer(ids)
        var random = SeededGenerator(seed: seed)
        let proof = try ExportProof(test, settings, objects: SampleKind.allCases.filter { $0 != .quantity }) {
            try exporter(server.url, ids)
        }
        let faults = ["cut before", "cut after", "half", "500", "409", "race", "double"]
        try proof.suffer(40, using: &random) { random in
            guard let fault = faults.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 else { return }
            try server.respond(#"{"faults": ["\#(fault)"]}"#)
        }
        try server.respond(#"{"faults": []}"#)
        try proof.finish()
        let last = try exporter(server.url, ids)
        var expected: Set<String> = []
        let cursor = try test.store.samples.cursor(matching: SampleQuery())
        while let stored = try cursor.next() {
            if last.accepts(stored.sample) { expected.insert("urn:uuid:\(stored.uuid)") }
        }
        cursor.close()
        let all = try server.resources("Observation") + server.resources("DocumentReference")
        let contents = all.filter { $0.status != "entered-in-error" }.compactMap { $0.identifier?.first?.value }
        #expect(Set(contents).count == contents.count)
        #expect(Set(contents) == expected)
        let comparison = TargetComparison(settings, exporter: last, store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: contents.count))
    }

    /// Records and documents arrive with their original bytes, which are removed after a deletion.
    @Test(arguments: ObservationEncoder.IDs.allCases) func recordsKeepOriginalBytes(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        let samples = try [SampleKind.clinicalRecord, .document].map { try test.object($0, 1, at: 0) }
        try test.add(samples + [try test.object(.workout, 0, at: 0), try test.object(.audiogram, 0, at: 0)])
        let run = try test.run(exporter(server.url, ids), settings)
        try test.finish(run)
        #expect(try test.store.targets.target("clinic")?.leftOut == 1)
        #expect(try server.live().count == 1)
        let contents = try server.resources("DocumentReference").compactMap { $0.content?.first?.attachment }
        #expect(Set(contents.map(\.contentType)) == ["application/fhir+json; fhirVersion=4.0", "text/xml"])
        let bytes = contents.compactMap { $0.data.flatMap { Data(base64Encoded: $0) } }.map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(Set(bytes) == [ExportedStore.resource, ExportedStore.document])
        #expect(
            contents.compactMap(\.size).sorted() == [ExportedStore.resource, ExportedStore.document].map(\.utf8.count).sorted())
        for sample in samples { try test.delete(sample) }
        try test.finish(run)
        let deleted = try server.resources("DocumentReference")
        #expect(deleted.map(\.status) == ["entered-in-error", "entered-in-error"])
        #expect(deleted.allSatisfy { $0.content?.first?.attachment.data == nil })
    }

    /// An account that may not write DocumentReferences gets the rest. One that may write nothing is stopped, although it may read.
    @Test(arguments: ObservationEncoder.IDs.allCases) func aForbiddenType(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        try server.respond(#"{"forbidden": ["DocumentReference"]}"#)
        let documents = try [SampleKind.clinicalRecord, .document].map { try test.object($0, 1, at: 0) }
        try test.add(documents + (0..<10).map { try test.sample(60, at: $0) })
        let run = try test.run(exporter(server.url, ids), settings)
        try test.finish(run)
        #expect(try server.live().count == 10)
        #expect(try test.store.targets.setAsideSummary(of: "clinic").count == 2)
        #expect(try test.store.targets.target("clinic")?.state == .delivering)
        try server.respond(#"{"forbidden": ["Bundle"]}"#)
        try test.add([try test.sample(61, at: 100)])
        guard case .wait = try run.step() else {
            Issue.record("an answer to a target that has worked is an outage first")
            return
        }
        #expect(try test.store.targets.setAsideSummary(of: "clinic").count == 2)
    }

    @Test func tenThousandRepaired() throws {
        let server = try FHIRTestServer(.client)
        var counts: [Int] = []
        try test.repair(delivering: test.run(exporter(server.url, .client))) {
            try expectEqual(server)
            counts.append(try server.live().count)
        }
        #expect(counts == [10_000, 10_000, 10_000, 9000, 0])
    }

    /// The result of a repair arrives, and the previous resource refers to it.
    @Test(arguments: ObservationEncoder.IDs.allCases) func repairsAndDeletions(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        try test.add(try (0..<1000).map { try test.sample(60 + $0 % 3, at: $0) })
        let run = try test.run(exporter(server.url, ids), TargetSettings(name: "clinic"))
        try test.finish(run)
        let outcome = try test.store.repairs.apply(
            RepairRequest(
                .shift(3_600_000_000), of: SampleConditions(types: [.heartRate]), takesAmbiguous: true,
                now: ExportedStore.received))
        try test.finish(run)
        try expectEqual(server)
        let deleted = try server.resources("Observation").filter { $0.status == "entered-in-error" }
        #expect(deleted.count == 1000)
        #expect(deleted.allSatisfy { $0.extension?.first?.valueReference?.identifier?.value.hasPrefix("urn:uuid:") == true })
        _ = outcome
        // A sample that the server never had is not created just to be marked as entered in error.
        try test.add([try test.sample(77, at: 9999)])
        try test.delete(try test.sample(77, at: 9999))
        try test.finish(run)
        #expect(try server.resources("Observation").count == 2000)
    }

    /// Each way to lose an answer or to be overtaken: once, all the same.
    @Test(
        arguments: ObservationEncoder.IDs.allCases,
        ["cut before", "cut after", "half", "500", "503", "429", "409", "412", "race", "double"])
    func deliversOnceDespiteLostAnswers(_ ids: ObservationEncoder.IDs, _ fault: String) throws {
        let server = try FHIRTestServer(ids)
        try test.add(try (0..<5).map { try test.sample(60 + $0 % 3, at: $0) })
        try server.respond(#"{"faults": ["\#(fault)"]}"#)
        let run = try test.run(exporter(server.url, ids), settings)
        try test.finish(run)
        try expectEqual(server)
        try server.respond(#"{"faults": ["\#(fault)"]}"#)
        try test.delete(try test.sample(60, at: 0))
        try test.add([try test.sample(64, at: 1)])
        try test.finish(try test.run(exporter(server.url, ids), settings))
        try expectEqual(server)
    }

    @Test(arguments: ObservationEncoder.IDs.allCases, 0..<4 as Range<UInt64>)
    func survivesRandomFailures(_ ids: ObservationEncoder.IDs, seed: UInt64) throws {
        let server = try FHIRTestServer(ids)
        let proof = try ExportProof(test, settings) { try exporter(server.url, ids) }
        var random = SeededGenerator(seed: seed)
        // A server that gives names has more ways to have a reading twice.
        let faults =
            ["cut before", "cut after", "half", "500", "503", "429", "409", "race", "double"]
            + (ids == .server ? ["double", "double", "cut after", "half", "race"] : [])
        try proof.suffer(120, using: &random) { random in
            guard Bool.random(using: &random), let fault = faults.randomElement(using: &random) else { return }
            try server.respond(#"{"faults": ["\#(fault)"]}"#)
        }
        try server.respond(#"{"faults": []}"#)
        try proof.finish()
        try expectEqual(server)
    }

    /// Each answer arrives a few bytes at a time.
    @Test(arguments: ObservationEncoder.IDs.allCases) func answersSlowly(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        let relay = CuttingRelay(.tcp(0), server: .tcp(server.port))
        defer { relay.close() }
        relay.slow(to: 40)
        let proof = try ExportProof(test, settings) { try exporter("http://127.0.0.1:\(relay.port)", ids) }
        var random = SeededGenerator(seed: 3)
        try proof.suffer(20, using: &random) { _ in }
        try proof.finish()
        #expect(relay.slowLots > 100)
        try expectEqual(server)
    }

    /// Only refused records are set aside, and the stored message contains no value.
    @Test(arguments: ObservationEncoder.IDs.allCases) func setsAsideOnlyRejectedRecords(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        let reading = Reading(
            origin: test.origin, numeral: try Numeral("66.6"), unit: try Unit(ucum: "/min"),
            time: .instants(start: Instant(seconds: 1_790_000_500), end: Instant(seconds: 1_790_000_500), offset: .utc),
            place: Place(.line, 1))
        let bad = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
        try test.add(try (0..<20).map { try test.sample(60, at: $0) })
        try test.add(bad)
        try test.finish(try test.run(exporter(server.url, ids), settings))
        let aside = try test.store.targets.setAside(by: "clinic")
        #expect(aside.map(\.uuid) == bad.map(\.sample.identity))
        #expect(aside.first?.words == "HTTP 422: value at Bundle.entry[0].resource.value")
        #expect(try server.live().count == 20)
    }

    @Test func retriesAfterTokenIsCorrected() throws {
        let server = try FHIRTestServer(.client)
        try server.respond(#"{"token": "Bearer right"}"#)
        let file = test.folder.file("token")
        try Data("wrong\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(exporter(server.url, .client, token: .file(file)), settings)
        #expect(try run.step() == .stopped)
        #expect(run.target.words == "HTTP 401: login")
        try Data("right\n".utf8).write(to: URL(filePath: file))
        try test.finish(try test.run(exporter(server.url, .client, token: .file(file)), settings))
        try expectEqual(server)
    }

    /// A server that chooses ids itself declares this before anything is sent.
    @Test func refusesServerThatChoosesIds() throws {
        let named = try FHIRTestServer(.server)
        #expect(try exporter(named.url, .client).check().filter { $0.weight == .broken }.map(\.component) == ["ids"])
        let open = try FHIRTestServer(.client)
        #expect(try exporter(open.url, .server).check().filter { $0.weight == .warning }.map(\.component) == ["ids"])
        #expect(throws: DeliveryError.self) { try exporter("http://127.0.0.1:\(open.port)/nothing", .client).check() }
        var settings = FHIRSettings(url: open.url, patient: "Patient/8")
        settings.patients = ["22222222-2222-4333-8444-555555555555": "Patient/7"]
        let context = try ExportContext(name: "clinic", me: test.store.owner, now: { ExportedStore.received })
        let findings = try FHIRExporter(settings, context: context).check()
        #expect(findings.filter { $0.weight == .broken }.map(\.component) == ["Patient/8"])
    }

    // MARK: The mark

    /// A server that was emptied, or restored from a copy, stops the target. A comparison fills it.
    @Test(arguments: ObservationEncoder.IDs.allCases) func stopsForRestoredServer(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        try server.respond(#"{"copy": true}"#)
        try test.add(try (0..<20).map { try test.sample(60, at: $0) })
        try test.finish(try test.run(exporter(server.url, ids), settings))
        try server.respond(#"{"putBack": true}"#)
        try test.add([try test.sample(61, at: 100)])
        let emptied = try test.run(exporter(server.url, ids), settings)
        #expect(try emptied.step() == .stopped)
        #expect(emptied.target.words?.contains("not the target that was filled") == true)
        try fill(server, ids)

        try server.respond(#"{"copy": true}"#)
        try test.add([try test.sample(62, at: 200)])
        try test.finish(try test.run(exporter(server.url, ids), settings))
        try server.respond(#"{"putBack": true}"#)
        let older = try test.run(exporter(server.url, ids), settings)
        #expect(try older.step() == .stopped)
        #expect(older.target.words?.contains("older than the last delivery") == true)
        try fill(server, ids)
    }

    private func fill(_ server: FHIRTestServer, _ ids: ObservationEncoder.IDs) throws {
        let comparison = TargetComparison(
            settings, exporter: try exporter(server.url, ids), store: test.store, now: { ExportedStore.received })
        _ = try comparison.repair()
        try test.finish(try test.run(exporter(server.url, ids), settings))
        try expectEqual(server)
        #expect(try server.resources("Device").filter(isMark).count == 1)
    }

    private func isMark(_ device: FHIRTestServer.Resource) -> Bool {
        device.identifier?.first?.value?.hasPrefix("mark-") == true
    }

    /// A server without Devices keeps no mark, whether it says so or refuses them. Its address identifies it.
    @Test(
        arguments: ObservationEncoder.IDs.allCases,
        [
            #"{"kinds": ["Observation"], "forbidden": ["Device"]}"#, #"{"forbidden": ["Device"]}"#,
        ])
    func aServerWithoutDevices(_ ids: ObservationEncoder.IDs, _ lack: String) throws {
        let server = try FHIRTestServer(ids)
        try server.respond(lack)
        try test.add(try (0..<10).map { try test.sample(60, at: $0) })
        try test.finish(try test.run(exporter(server.url, ids), settings))
        #expect(try server.live().count == 10)
        try test.add([try test.sample(61, at: 100)])
        let next = try test.run(exporter(server.url, ids), settings)
        try test.finish(next)
        #expect(try server.live().count == 11)
        #expect(next.target.identity?.hasPrefix("address-") == true)
        #expect(try test.store.targets.setAsideSummary(of: "clinic").count == 0)
    }

    /// A server that refuses Devices after it kept a mark loses no reading. When it accepts them again, it keeps a mark again.
    @Test(arguments: ObservationEncoder.IDs.allCases) func devicesAreForbiddenLater(_ ids: ObservationEncoder.IDs) throws {
        let server = try FHIRTestServer(ids)
        try test.add(try (0..<10).map { try test.sample(60, at: $0) })
        let first = try test.run(exporter(server.url, ids), settings)
        try test.finish(first)
        #expect(first.target.identity?.hasPrefix("address-") == false)
        try server.respond(#"{"forbidden": ["Device"]}"#)
        try test.add(try (0..<20).map { try test.sample(61, at: 100 + $0) })
        try test.finish(first)
        #expect(first.target.identity?.hasPrefix("address-") == true)
        try test.add([try test.sample(62, at: 200)])
        try test.finish(try test.run(exporter(server.url, ids), settings))
        try expectEqual(server)
        #expect(try test.store.targets.setAsideSummary(of: "clinic").count == 0)
        try server.respond(#"{"forbidden": []}"#)
        try test.add([try test.sample(63, at: 300)])
        let last = try test.run(exporter(server.url, ids), settings)
        try test.finish(last)
        try expectEqual(server)
        #expect(last.target.identity?.hasPrefix("address-") == false)
        try server.respond(#"{"forbidden": ["Bundle"]}"#)
        try test.add([try test.sample(64, at: 400)])
        guard case .wait = try last.step() else {
            Issue.record("an answer to a target that has worked is an outage first")
            return
        }
    }

    // MARK: Blood pressure

    private func pressure(_ type: SampleType, _ value: String, group: UInt64?, person: String? = nil) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000)
        let reading = Reading(
            origin: Origin(
                person: person ?? test.origin.person, type: type,
                source: SourceRevision(id: "ble.blood-pressure", name: "Cuff"),
                device: Device(key: "A&D/1", name: "Cuff", manufacturer: "A&D", serial: "1")),
            numeral: try Numeral(value), unit: try Unit(ucum: "mm[Hg]"),
            time: .instants(start: start, end: start, offset: .utc), group: group.map { Reading.Group.shared($0) } ?? .none,
            place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
    }

    private func panels(_ server: FHIRTestServer) throws -> [[Double?]] {
        try server.live().map { $0.component?.map(\.valueQuantity?.value) ?? [] }
    }

    /// Two values, together or one after the other. One is deleted and added again, then both are deleted.
    @Test(arguments: ObservationEncoder.IDs.allCases, [0, 1, 2]) func bloodPressure(_ ids: ObservationEncoder.IDs, _ order: Int)
        throws
    {
        let server = try FHIRTestServer(ids)
        let halves = [
            try pressure(.bloodPressureSystolic, "120.0", group: 9), try pressure(.bloodPressureDiastolic, "80", group: 9),
        ]
        let run = try test.run(exporter(server.url, ids), settings)
        let parts = order == 0 ? [halves] : (order == 1 ? halves : halves.reversed()).map { [$0] }
        for part in parts {
            try test.add(part)
            try test.finish(run)
        }
        #expect(try panels(server) == [[120, 80]])
        try expectEqual(server)
        try test.delete(halves[1])
        try test.finish(run)
        #expect(try panels(server) == [[120, nil]])
        _ = try test.store.samples.restore([halves[1].sample.identity], description: test.description(.restore))
        try test.finish(run)
        #expect(try panels(server) == [[120, 80]])
        for half in halves { try test.delete(half) }
        try test.finish(run)
        #expect(try panels(server).isEmpty)
        #expect(try server.resources("Observation").count == 1)
        #expect(try server.resources("Device").filter { !isMark($0) }.count == 1)
        // Another packet of the same minute, and halves that came alone.
        try test.add([
            try pressure(.bloodPressureSystolic, "121", group: 10), try pressure(.bloodPressureDiastolic, "81", group: nil),
        ])
        try test.finish(run)
        #expect(Set(try panels(server)) == [[121, nil], [nil, 81]])
        try expectEqual(server)
    }

    /// Two of one kind in a packet are two readings, and an Observation has a place for one: neither goes silently.
    @Test func aPacketWithTwoOfAKind() throws {
        let server = try FHIRTestServer(.client)
        let twice = [
            try pressure(.bloodPressureSystolic, "120", group: 9), try pressure(.bloodPressureSystolic, "121", group: 9),
        ]
        try test.add(twice + [try pressure(.bloodPressureDiastolic, "80", group: 10)])
        let run = try test.run(exporter(server.url, .client), settings)
        try test.finish(run)
        #expect(try Set(test.store.targets.setAside(by: "clinic").map(\.uuid)) == Set(twice.map(\.sample.identity)))
        #expect(try panels(server) == [[nil, 80]])
        // Once a person has deleted one, the other has its place.
        try test.delete(twice[0])
        _ = try test.store.targets.retry([], of: "clinic")
        try test.finish(run)
        #expect(Set(try panels(server)) == [[121, nil], [nil, 80]])
        #expect(try test.store.targets.setAside(by: "clinic").isEmpty)
    }

    /// Readings of a person without a patient on the server are not sent.
    @Test func omitsPeopleWithoutPatient() throws {
        let server = try FHIRTestServer(.client)
        try test.add([
            try pressure(.bloodPressureSystolic, "120", group: 9, person: "22222222-2222-4333-8444-555555555555"),
            try pressure(.bloodPressureSystolic, "121", group: 9, person: Origin.unassigned),
        ])
        let run = try test.run(exporter(server.url, .client), settings)
        try test.finish(run)
        #expect(run.target.leftOut == 2)
        #expect(try server.resources("Observation").isEmpty)
    }
}
