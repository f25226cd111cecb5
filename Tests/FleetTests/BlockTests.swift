import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import FleetProtocol

/// Blocks of changes: a collector reads the changes that a hub wrote.
@Suite struct BlockTests {
    private let test: ExportedStore

    init() throws { test = try ExportedStore() }

    /// The changes in the store's log.
    private func changes() throws -> [SampleChange] {
        var all: [SampleChange] = []
        try test.store.changes.read(after: .beginning, types: nil) { change, _ in all.append(change) }
        return all
    }

    private func words(_ change: SampleChange) -> String {
        let sample = change.sample
        let device = sample.origin.device.map { "\($0)" } ?? ""
        var deletion = ""
        if case .deleted(let deleted) = change { deletion = "deleted \(deleted.replacedBy ?? "")" }
        return [
            deletion, "\(sample.identity)", "\(sample.origin.type.id)", sample.origin.person, "\(sample.origin.source)", device,
            "\(sample.start)", "\(sample.end)", "\(sample.nominalStart)", "\(sample.value.bitPattern)", sample.numeral.text,
            sample.unit.code, "\(sample.unit.molarMass ?? 0)", "\(sample.zone?.seconds ?? -1)", "\(sample.timeOrigin)",
            "\(sample.timeResolution)", "\(sample.received)",
            "\(sample.group ?? 0)", sample.metadata?.json ?? "", "\(sample.record.map { "\($0)" } ?? "")",
            "\(sample.ordinal.map { "\($0)" } ?? "")", sample.body.map { "\($0.bytes)" } ?? "",
        ].joined(separator: "|")
    }

    /// Fills the store with samples of every kind, deletions, and a repair.
    private func fill() throws {
        try test.add(try (0..<30).map { try test.sample(60 + $0 % 3, at: $0) })
        for kind in SampleKind.allCases where kind != .quantity {
            try test.add(try (0..<3).map { try test.object(kind, $0, at: 100 * $0) })
        }
        try test.delete(try test.sample(60, at: 0))
        _ = try test.store.repairs.apply(
            RepairRequest(
                .shift(1_000_000), of: SampleConditions(types: [.heartRate]), takesAmbiguous: true, now: ExportedStore.received))
        let device = Device(key: "a:b", name: "Meter", manufacturer: "Maker", model: nil, serial: "7", firmware: "1.2", udi: "u")
        let glucose = try #require(SampleType("bloodGlucose"))
        let origin = Origin(
            person: Origin.unassigned, type: glucose, source: SourceRevision(id: "s", name: "Ünï", version: "3"), device: device)
        let readings = try ["5.60", "1e1", "+7.0"].enumerated().map { index, text in
            Reading(
                origin: origin, numeral: try Numeral(text), unit: try Unit(ucum: "mmol/L"),
                time: .instants(
                    start: Instant(microseconds: 1_790_000_000_000_001 + Int64(index)), end: Instant(seconds: 1_790_000_060),
                    offset: nil),
                metadata: Metadata([("HKWasUserEntered", .string("yes")), ("note", .string("é"))]),
                record: index == 1 ? RecordIdentifier(id: "r", version: -2) : nil, place: Place(.line, 1))
        }
        try test.add(try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received))
    }

    @Test func everyKindOfChangeRoundTrips() throws {
        try fill()
        let changes = try changes()
        #expect(Set(changes.map(\.sample.origin.kind)).count == SampleKind.allCases.count)
        #expect(changes.contains { if case .deleted(let deletion) = $0 { deletion.replacedBy != nil } else { false } })
        let back = try BlockReader.changes(of: BlockWriter.block(of: changes)[...])
        #expect(back.map(words) == changes.map(words))
    }

    /// Heart rates once a second need at most 8 bytes each.
    @Test func heartRatesAreShort() throws {
        var random = SeededGenerator(seed: 7)
        var rate = 70
        try test.add(
            try (0..<BlockReader.maximumChanges).map {
                rate = min(180, max(45, rate + Int.random(in: -2...2, using: &random)))
                return try test.sample(rate, at: $0)
            })
        let block = BlockWriter.block(of: try changes())
        #expect(block.count <= 8 * BlockReader.maximumChanges, "\(block.count)")
    }

    /// A block that is cut anywhere is refused, and so is one with more bytes after it.
    @Test func aCutBlockIsRefused() throws {
        try fill()
        let request = FleetRequest(target: "center", me: "me", task: .deliver(ExportBatch(changes: try changes()))).bytes
        for length in stride(from: 0, to: request.count, by: max(1, request.count / 600)) {
            #expect(throws: BlockFault.self) { try FleetRequest(bytes: Array(request.prefix(length))) }
        }
        #expect(throws: BlockFault.self) { try FleetRequest(bytes: request + [0]) }
        #expect(throws: Never.self) { try FleetRequest(bytes: request) }
    }

    /// Orders of sources arrive as they are. One for an unknown type is left out, and names that no store accepts are refused.
    @Test func ordersOfSources() throws {
        func arrived(_ orders: [SourceOrder]) throws -> [SourceOrder] {
            let request = try FleetRequest(bytes: FleetRequest(target: "center", me: "me", task: .order(orders)).bytes)
            guard case .order(let orders) = request.task else { return [] }
            return orders
        }
        let orders = [
            SourceOrder(person: "a", type: .heartRate, names: ["Watch", "Ring"]), SourceOrder(type: .stepCount, names: []),
            SourceOrder(names: ["Gerät 1"]),
        ]
        #expect(try arrived(orders) == orders)
        for names in [[""], ["a\nb"], [String(repeating: "x", count: 401)], Array(repeating: "a", count: 65)] {
            #expect(throws: BlockFault.self) { try arrived([SourceOrder(names: names)]) }
        }
        let bytes = FleetRequest(target: "center", me: "me", task: .order(orders)).bytes
        for length in bytes.indices {
            #expect(throws: BlockFault.self) { try FleetRequest(bytes: Array(bytes.prefix(length))) }
        }
    }

    /// Bytes that a stranger has changed are read or refused. Behind the compression, every byte is tried.
    @Test func changedBytesDoNoHarm() throws {
        try fill()
        var random = SeededGenerator(seed: 5)
        let plain = BlockWriter.plain(of: Array(try changes().prefix(60)))
        var (read, refused) = (0, 0)
        for index in plain.indices {
            var bytes = plain
            bytes[index] = UInt8.random(in: 0...255, using: &random)
            do {
                let changes = try BlockReader.changes(ofPlain: bytes)
                for change in changes where change.sample.origin.kind == .quantity {
                    // In any case the value agrees with its numeral and unit.
                    let converted = try #require(change.sample.convertedValue)
                    #expect(abs(change.sample.value - converted) <= 1e-9 * abs(converted))
                }
                read += 1
            } catch is BlockFault {
                refused += 1
            }
        }
        #expect(read > 0 && refused > 0)
    }

    /// A small message that would become huge is refused before it is.
    @Test func aBombIsRefused() {
        let bomb = BlockWriter.compressed([UInt8](repeating: 0, count: BlockReader.maximumLength + 1))
        #expect(throws: BlockFault.self) { try BlockReader.changes(of: bomb[...]) }
    }
}
