import FileSource
import FoundationEssentials
import HTTPServerTesting
import HealthModel
import HealthServing
import HealthServingTesting
import Ingestion
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HealthAPI

/// Records that phones write to their own stores.
@Suite struct WriteBackTests {
    private let served: ServedStore
    private let phone: Client
    private let token: String
    private let path = "/v1/changes/write-back"
    private let now = ServedStore.now

    init() throws {
        served = try ServedStore { settings in
            let intake = IntakeService(store: settings.store, zone: settings.zone, now: settings.now)
            settings.intake = { try intake.run($0.kind, file: $0.file, grouping: $0.grouping, by: $0.client) }
        }
        phone = try served.store.clients.add(named: "pixel", purpose: "Tests", app: PhoneApp.hcWebhook.id, at: now)
        token = try served.store.clients.makeToken(for: phone, at: now)
        try served.grant("bodyMass", reading: .all, to: phone)
    }

    private struct Page: Decodable {
        var items: [Item]
        var cursor: Int64
        var more: Bool
    }

    private struct Item: Decodable, Equatable {
        var key: String
        var version: Int64
        var op: String
        var record: String
        var type: String
        var value: Double?
        var diastolic: Double?
        var unit: String?
        var start: String
        var end: String?
        var zone: String?
    }

    private func items(after: Int64? = nil, limit: Int? = nil, _ token: String? = nil) throws -> Page {
        let query = [after.map { "after=\($0)" }, limit.map { "limit=\($0)" }].compactMap { $0 }.joined(separator: "&")
        let answer = try #require(
            try served.client().get(path + (query.isEmpty ? "" : "?" + query), "Authorization: Bearer \(token ?? self.token)\r\n")
        )
        try #require(answer.status == 200, "\(answer.text)")
        return try JSONDecoder().decode(Page.self, from: Data(answer.body))
    }

    @discardableResult
    private func report(_ items: [Item], _ outcome: String = "written", more: String = "") throws -> [String] {
        let results = items.map { #"{"key":"\#($0.key)","version":\#($0.version),"outcome":"\#(outcome)"\#(more)}"# }
        let answer = try served.post(path, #"{"results":[\#(results.joined(separator: ","))]}"#, token: token)
        try #require(answer.status == 200, "\(answer.text)")
        return answer.text.matches(of: #/"result":"([^"]*)"/#).map { String($0.output.1) }
    }

    private func delete(_ uuid: SampleIdentity) throws {
        try served.store.samples.delete([uuid], description: IngestDescription(kind: .delete, received: now.microseconds))
    }

    private func restore(_ uuid: SampleIdentity) throws {
        try served.store.samples.restore([uuid], description: IngestDescription(kind: .restore, received: now.microseconds))
    }

    @discardableResult
    private func scale(by factor: String) throws -> Int64 {
        let request = RepairRequest(
            .scale(try Numeral(factor)), of: SampleConditions(types: [.bodyMass]), takesAmbiguous: true, now: now)
        return try #require(try served.store.repairs.apply(request).repairID)
    }

    // MARK: Offers

    @Test func offersRecordsUntilReported() throws {
        try served.add(numerals: ["80.1", "80.25"], of: "bodyMass", every: 60)
        let first = try items()
        #expect(first.items.map(\.value) == [80.1, 80.25] && !first.more)
        #expect(first.items.allSatisfy { $0.op == "put" && $0.record == "WeightRecord" && $0.unit == "kg" })
        #expect(first.items[0].start == "2026-09-21T14:13:20Z" && first.items[0].key.hasPrefix("vitalgate-"))
        // A lost answer.
        #expect(try items().items == first.items)
        #expect(try report([first.items[0]]) == ["recorded"])
        #expect(try items().items == [first.items[1]])
        // The same report again, and reports of nothing.
        #expect(try report([first.items[0]]) == ["recorded"])
        var guessed = first.items[0]
        guessed.key = "vitalgate-guessed"
        #expect(try report([guessed]) == ["unknown"])
        #expect(try report([first.items[1]], "refused", more: #","reason":"not today""#) == ["recorded"])
        #expect(try items().items.isEmpty)
        let counts = try #require(try served.store.writeBack.counts(of: phone))
        #expect([counts.waiting, counts.written, counts.refused, counts.unknown] == [0, 1, 1, 0])
        #expect(counts.reasons == ["not today"])
        // Another clock does not matter: versions are numbers.
        #expect(first.items[0].version < first.items[1].version && first.cursor == first.items[1].version)
    }

    @Test func pagesAreBounded() throws {
        try served.add(numerals: (0..<7).map { "8\($0)" }, of: "bodyMass", every: 60)
        var seen: [Double?] = []
        for count in [3, 3, 1] {
            let page = try items(limit: 3)
            #expect(page.items.count == count && page.more == (count == 3 && seen.count < 4))
            seen += page.items.map(\.value)
            try report(page.items)
        }
        #expect(seen == (0..<7).map { Double(80 + $0) })
    }

    @Test func correctionsAndDeletionsKeepTheKey() throws {
        let uuid = try #require(try served.add(numerals: ["40"], of: "bodyMass", every: 60).first)
        var last = try #require(try items().items.first)
        func next(_ operation: String, _ value: Double?) throws {
            let item = try #require(try items().items.first)
            #expect(item.key == last.key && item.version > last.version && item.op == operation && item.value == value)
            #expect(try items().items == [item])
            try report([item])
            #expect(try items().items.isEmpty)
            last = item
        }
        try report([last])
        let repair = try scale(by: "2")
        try next("put", 80)
        try served.store.repairs.undo(repair, at: now)
        try next("put", 40)
        let again = try scale(by: "1.5")
        try next("put", 60)
        let other = try scale(by: "2.5")
        try next("put", 150)
        try served.store.repairs.undo(other, at: now)
        try served.store.repairs.undo(again, at: now)
        try next("put", 40)
        try delete(uuid)
        try next("delete", nil)
        try restore(uuid)
        try next("put", 40)
        // Only the last state is offered.
        try delete(uuid)
        try restore(uuid)
        #expect(try items().items.isEmpty)
        try scale(by: "3")
        try delete(#require(try live().first?.identity))
        try next("delete", nil)
    }

    @Test func neverOfferedRecordIsNotDeleted() throws {
        try served.add(numerals: ["40"], of: "bodyMass", every: 60)
        try report(try items().items)
        let uuid = try #require(try served.add(numerals: ["50"], of: "bodyMass", from: 1_790_000_600, every: 60).first)
        try delete(uuid)
        #expect(try items().items.isEmpty)
        // It was offered, and the report was lost.
        try restore(uuid)
        #expect(try items().items.map(\.op) == ["put"])
        try delete(uuid)
        #expect(try items().items.map(\.op) == ["delete"])
    }

    private func live(_ type: SampleType = .bodyMass) throws -> [Sample] {
        let cursor = try served.store.samples.cursor(matching: SampleQuery(types: [type]))
        defer { cursor.close() }
        var found: [Sample] = []
        while let next = try cursor.next() { found.append(next.sample) }
        return found
    }

    // MARK: Offered types and samples

    @Test func grantsDecideByTypeAndPerson() throws {
        let anna = "7f9c0000-0000-4000-8000-000000000001"
        try served.add(numerals: ["61"], of: "heartRate", every: 60)
        try served.add(numerals: ["80"], of: "bodyMass", every: 60)
        let theirs = Reading(
            origin: Origin(person: anna, type: .bodyMass, source: SourceRevision(id: "strap", name: "Strap"), device: nil),
            numeral: try Numeral("50"), unit: SampleType.bodyMass.canonicalUnit,
            time: .instants(start: Instant(seconds: 1_790_000_000), end: Instant(seconds: 1_790_000_000), offset: .utc),
            place: Place(.line, 1))
        try served.keep([theirs])
        #expect(try items().items.map(\.value) == [80])
        try report(try items().items)
        // Another person's data is not written to this phone, even with a grant.
        try served.store.clients.set(
            Grant(person: anna, type: ObjectType(.bodyMass), reading: .all, mayWrite: false), of: phone, at: now)
        #expect(try items().items.isEmpty)
        // A new grant.
        try served.grant("heartRate", reading: .all, to: phone)
        let rate = try items().items
        #expect(rate.map(\.value) == [61] && rate.map(\.record) == ["HeartRateRecord"])
        // It is withdrawn before the phone reports.
        try served.grant("heartRate", to: phone)
        #expect(try items().items.isEmpty)
        #expect(try served.client().get(path, "Authorization: Bearer \(served.token)\r\n")?.status == 403)
    }

    @Test func samplesThatThePhoneHasAreNotOffered() throws {
        let named = ["apple-health/Scale", "hc-webhook/com.scale", "file.health-connect.Scale"]
        let sources = PhoneStore.sources + named + [phone.source]
        for (index, source) in sources.enumerated() {
            try served.keep([try reading("8\(index)", source, at: 1_790_000_000 + Int64(index) * 600)])
        }
        // A statistic.
        var average = try reading("79", "gateway", at: 1_789_000_000)
        average.metadata = Metadata([("statistic", .string("average"))])
        try served.keep([average])
        // The phone's app has reported the same weighing.
        let start = Int64(1_791_000_000)
        try served.keep([try reading("77.7", "apple-health/Scale", at: start)])
        try served.keep([try reading("77.70", "ble.scale", at: start)])
        let known = try live().map(\.origin.source.id)
        let offered = try items().items
        #expect(offered.isEmpty, "\(known)")
        try served.keep([try reading("90", "ble.scale", at: 1_792_000_000)])
        #expect(try items().items.map(\.value) == [90])
    }

    private func reading(_ value: String, _ source: String, _ type: SampleType = .bodyMass, at second: Int64) throws -> Reading {
        Reading(
            origin: Origin(person: ServedStore.person, type: type, source: SourceRevision(id: source, name: source), device: nil),
            numeral: try Numeral(value), unit: type.canonicalUnit,
            time: .instants(start: Instant(seconds: second), end: Instant(seconds: second), offset: .utc), place: Place(.line, 1))
    }

    @Test func typesThatThePhoneCannotWriteAreNotOffered() throws {
        for type in ["heartRateVariabilitySDNN", "bodyMassIndex", "stepCount"] {
            try served.grant(type, reading: .all, to: phone)
        }
        try served.add(numerals: ["40"], of: "heartRateVariabilitySDNN", every: 60)
        try served.add(numerals: ["22"], of: "bodyMassIndex", every: 60)
        // A record of steps must last.
        try served.add(numerals: ["400"], of: "stepCount", every: 60)
        #expect(try items().items.isEmpty)
        let iPhone = try served.store.clients.add(named: "iPhone", purpose: "Tests", app: PhoneApp.healthAutoExport.id, at: now)
        let token = try served.store.clients.makeToken(for: iPhone, at: now)
        for type in ["heartRateVariabilitySDNN", "bodyMassIndex"] { try served.grant(type, reading: .all, to: iPhone) }
        #expect(
            try items(token).items.map(\.record)
                == ["HKQuantityTypeIdentifierHeartRateVariabilitySDNN", "HKQuantityTypeIdentifierBodyMassIndex"])
    }

    private func items(_ token: String) throws -> Page { try items(after: nil, limit: nil, token) }

    /// Every row of the table names a type, and each source that a reader of a phone's store gives is known as one.
    @Test func tableOfTypes() throws {
        #expect(Set(PhoneStore.healthConnect.types.map(\.id)).count == 19)
        #expect(Set(PhoneStore.appleHealth.types.map(\.id)).count == 23)
        for source in [
            HealthAutoExportInterpreter.source, HealthConnectPostInterpreter.source, SourceRevision.appleHealthPrefix + "x",
        ] {
            #expect(PhoneStore.contains(source: source), "\(source)")
        }
        #expect(!PhoneStore.contains(source: "apple-healthier") && !PhoneStore.contains(source: "ble.scale"))
    }

    @Test func bloodPressureIsOneRecord() throws {
        let types = try ["bloodPressureSystolic", "bloodPressureDiastolic"].map { try #require(SampleType($0)) }
        func pressure(_ values: [String], at second: Int64) throws -> [SampleIdentity] {
            try served.keep(
                zip(types, values).map { type, value in
                    var reading = try reading(value, "ble.cuff", type, at: second)
                    reading.group = .frame
                    return reading
                })
        }
        let samples = try pressure(["120", "80"], at: 1_790_000_000)
        try served.grant("bloodPressureSystolic", reading: .all, to: phone)
        #expect(try items().items.isEmpty)
        try served.grant("bloodPressureDiastolic", reading: .all, to: phone)
        let item = try #require(try items().items.first)
        #expect(item.type == "bloodPressure" && item.value == 120 && item.diastolic == 80 && item.record == "BloodPressureRecord")
        try report([item])
        // Only the second value changes.
        let request = RepairRequest(
            .scale(try Numeral("1.1")), of: SampleConditions(types: [types[1]]), takesAmbiguous: true, now: now)
        let repair = try #require(try served.store.repairs.apply(request).repairID)
        let changed = try #require(try items().items.first)
        #expect(changed.key == item.key && changed.version > item.version && changed.value == 120)
        #expect(abs((changed.diastolic ?? 0) - 88) < 1e-9)
        try served.store.repairs.undo(repair, at: now)
        let undone = try items().items
        #expect(undone.map(\.diastolic) == [80] && undone.map(\.key) == [item.key])
        try report(undone)
        try served.store.samples.delete(samples, description: IngestDescription(kind: .delete, received: 0))
        #expect(try items().items.map(\.op) == ["delete"])
    }

    // MARK: State

    /// After a backup was restored, versions rise, and everything is offered again.
    @Test func aCursorOfLostChangesStartsAgain() throws {
        try served.add(numerals: ["80", "81", "82"], of: "bodyMass", every: 60)
        let page = try items()
        try report(page.items)
        #expect(try items(after: page.cursor).items.isEmpty)
        let lost = page.cursor + 5_000_000
        let again = try items(after: lost)
        #expect(again.items.map(\.key) == page.items.map(\.key) && again.items.map(\.value) == page.items.map(\.value))
        #expect(again.items.allSatisfy { $0.version > lost } && again.cursor > lost)
        try report(again.items)
        #expect(try items(after: again.cursor).items.isEmpty)
        // A report of a version that was lost.
        var later = again.items[0]
        later.version += 60_000_000
        #expect(try report([later]) == ["outdated"])
        #expect(try items().items.allSatisfy { $0.version > later.version } && items().items.count == 3)
        // A new phone asks for everything.
        try report(try items().items)
        let all = try items(after: 0).items
        #expect(all.count == 3)
        // What waits is only listed again.
        try report([all[0]])
        let versions = try items(after: 0).items.map(\.version)
        #expect(Array(versions.prefix(2)) == all.dropFirst().map(\.version) && versions.count == 3)
        #expect(try items(after: 0).items.map(\.version) == versions)
    }

    @Test func refusesMalformedReports() throws {
        for body in [
            "", "[]", #"{"results":[{"key":"a","version":0,"outcome":"written"}]}"#,
            #"{"results":[{"key":"a","version":1,"outcome":"done"}]}"#,
            #"{"results":[{"key":"a","version":"x","outcome":"written"}]}"#, #"{"results":[],"sources":["a\nb"]}"#,
            #"{"results":[{"key":"a","version":9007199254740993,"outcome":"written"}]}"#,
        ] { #expect(try served.post(path, body, token: token).status == 400, "\(body)") }
        #expect(try served.post(path, #"{"results":[]}"#, token: served.token).status == 403)
        // Shortcuts may send a number as a text.
        try served.add(numerals: ["80"], of: "bodyMass", every: 60)
        let item = try #require(try items().items.first)
        let result = #"{"key":"\#(item.key)","version":"\#(item.version)","outcome":"exists"}"#
        let text = #"{"results":[\#(result)],"sources":["Shortcuts"]}"#
        #expect(try served.post(path, text, token: token).text.contains(#""result":"recorded""#))
        #expect(try items().items.isEmpty)
    }

    /// The rows of a phone are removed with its client or its samples.
    @Test func stateEndsWithClientAndRetention() throws {
        try served.add(numerals: ["80", "81"], of: "bodyMass", every: 86_400)
        try report(try items().items)
        let date = Instant(seconds: 1_790_000_000 + 3600)
        _ = try served.store.prune(
            [.bodyMass: date], description: IngestDescription(kind: .prune, received: now.microseconds))
        // The phone keeps its record.
        #expect(try items().items.isEmpty)
        #expect(try served.store.writeBack.counts(of: phone)?.written == 1)
        try served.store.clients.remove(phone)
        #expect(try served.store.writeBack.counts(of: phone) == nil)
    }

    // MARK: A phone

    /// Health Connect: one record for each id. A higher version replaces it, and others are ignored.
    private struct PhoneDouble {
        var records: [String: Item] = [:]
        var seen: [String: Item] = [:]
        var cursor: Int64?

        mutating func write(_ item: Item) {
            if let known = seen[item.key] {
                // The version never falls, and one version never has two contents.
                #expect(item.version > known.version || item == known, "\(known) \(item)")
            }
            seen[item.key] = item
            guard item.version > records[item.key]?.version ?? 0 else { return }
            records[item.key] = item.op == "put" ? item : nil
        }
    }

    /// Random changes, and a phone that loses answers and stops in the middle. It ends with the live samples.
    @Test(arguments: 0..<6) func randomChanges(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (phone, repairs, deleted): (PhoneDouble, [Int64], [SampleIdentity]) = (PhoneDouble(), [], [])
        var second = Int64(1_790_000_000)
        func synchronize(stopping: Bool) throws {
            while true {
                let (isSent, limit) = (Bool.random(using: &random), Int.random(in: 1...4, using: &random))
                let page = try items(after: isSent ? phone.cursor : nil, limit: limit)
                phone.cursor = page.cursor
                if stopping, Int.random(in: 0..<4, using: &random) == 0 { return }
                for item in page.items {
                    phone.write(item)
                    if stopping, Int.random(in: 0..<6, using: &random) == 0 { return }
                }
                if !stopping || Int.random(in: 0..<3, using: &random) > 0 { try report(page.items) }
                guard page.more else { return }
            }
        }
        for _ in 0..<60 {
            let samples = try live()
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                second += Int64.random(in: 1...3, using: &random) * 60
                try served.add(numerals: ["\(Int.random(in: 40...45, using: &random))"], of: "bodyMass", from: second, every: 60)
            case 3:
                guard let sample = samples.randomElement(using: &random) else { continue }
                try delete(sample.identity)
                deleted.append(sample.identity)
            case 4:
                guard let uuid = deleted.randomElement(using: &random) else { continue }
                try? restore(uuid)
            case 5:
                guard !samples.isEmpty, repairs.count < 3 else { continue }
                var conditions = SampleConditions(types: [.bodyMass])
                conditions.from = samples.randomElement(using: &random)?.start
                let request = RepairRequest(.scale(try Numeral("1.1")), of: conditions, takesAmbiguous: true, now: now)
                if let id = try? served.store.repairs.apply(request).repairID { repairs.append(id) }
            case 6:
                guard let last = repairs.popLast() else { continue }
                do { try served.store.repairs.undo(last, at: now) } catch { repairs.append(last) }
            default: try synchronize(stopping: true)
            }
        }
        try synchronize(stopping: false)
        #expect(try phone.records.values.compactMap(\.value).sorted() == live().map(\.value).sorted())
        #expect(Set(phone.records.values.map(\.start)).count == phone.records.count)
        #expect(phone.seen.count > 5)
        #expect(try items().items.isEmpty)
    }
}
