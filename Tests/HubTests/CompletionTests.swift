import HealthModel
import Ingestion
import Pipeline
import PipelineTesting
import Testing

@testable import BlueZSource
@testable import SampleStore

/// A meter's record arrived without its context, and is completed later.
@Suite struct CompletionTests {
    /// Of the record 7: after the meal.
    static let context: [UInt8] = [0x02, 7, 0, 2]

    private func bench() throws -> RadioBench {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks()
        return bench
    }

    private func sendCompleteRecord(_ bench: RadioBench, commitsFirst: Bool = true) {
        bench.receive("gatt:2A34", Self.context, commitsFirst: commitsFirst)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7), continues: true, commitsFirst: commitsFirst)
    }

    @Test func completesRecordLater() throws {
        let bench = try bench()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7))
        bench.pass(.seconds(2))
        let before = try #require(try bench.samples().first).sample
        #expect(before.metadata?.json.contains("bloodGlucoseMealTime") != true)
        for _ in 0..<2 {
            sendCompleteRecord(bench)
            bench.pass(.seconds(2))
            let samples = try bench.samples().map(\.sample)
            #expect(samples.count == 1)
            let after = try #require(samples.first)
            #expect(after.metadata?.json.contains("\"bloodGlucoseMealTime\":\"postprandial\"") == true)
            #expect((after.value, after.start, after.received) == (before.value, before.start, before.received))
            #expect(after.identity != before.identity)
        }
        // Once, as a repair that can be undone and is not repeated afterwards.
        let repairID = try #require(try bench.store.repairs.all().first)
        #expect(try bench.store.repairs.all().count == 1 && repairID.repair == "complete metadata" && repairID.repaired == 1)
        _ = try bench.store.repairs.undo(repairID.id, at: bench.clock.now)
        sendCompleteRecord(bench)
        bench.pass(.seconds(2))
        #expect(try bench.samples().map(\.sample.identity) == [before.identity])
        try bench.stop()
    }

    /// Both before anything was stored: one reading, with all that is known.
    @Test func bothInOneCommit() throws {
        let bench = try bench()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7))
        sendCompleteRecord(bench, commitsFirst: false)
        bench.pass(.seconds(2))
        let samples = try bench.samples().map(\.sample)
        #expect(samples.count == 1)
        #expect(samples.first?.metadata?.json.contains("bloodGlucoseMealTime") == true)
        #expect(try bench.store.repairs.all().isEmpty)
        try bench.stop()
        let account = try #require(try bench.store.ledger.accounts().first { $0.kind == .live })
        #expect((account.stored, account.duplicate) == (1, 1))
    }

    /// A deleted reading stays deleted, even if more is known about it later.
    @Test func deletedReadingIsNotCompleted() throws {
        let bench = try bench()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7))
        bench.pass(.seconds(2))
        let identity = try #require(try bench.samples().first).sample.identity
        let deletion = IngestDescription(kind: .delete, received: bench.clock.now.microseconds)
        _ = try bench.store.samples.delete([identity], description: deletion)
        sendCompleteRecord(bench)
        bench.pass(.seconds(2))
        #expect(try bench.samples().isEmpty)
        try bench.stop()
    }

    /// A value that arrived before the services were known, and may belong to another characteristic, is quarantined with its bytes. A
    /// value that no profile can read is refused with them.
    @Test func quarantinesUnattributedValues() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        bench.receive("gatt:2A37?", [0x00, 61])
        bench.receive("gatt:?", [0xAB, 0xCD])
        bench.receive("gatt:2A37", [0x00, 62])
        try bench.stop()
        #expect(try bench.samples().map(\.sample.value) == [62])
        let quarantined = try bench.store.quarantine.all()
        #expect(quarantined.map(\.rule) == ["unattributed"] && quarantined.first?.frame?.contains("003D") == true)
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect((account.stored, account.quarantined, account.refused) == (1, 1, 1))
    }

    /// A battery is read on a device that does not advertise it, and its readings are its own.
    @Test func readsUnadvertisedBattery() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        let description = try #require(bench.source.adopted.last?.description)
        #expect(description.accompaniments == [CharacteristicName(0x180F, 0x2A19)])
        #expect(description.descriptions == [CharacteristicName(0x180D, 0x2A38)])
        #expect(description.allSubscriptions == [CharacteristicName(0x180D, 0x2A37)])
        bench.receive("gatt:2A19", [0x57])
        bench.receive("gatt:2A37", [0x00, 62])
        bench.pass(.seconds(2))
        #expect(Set(try bench.samples().map(\.sample.origin.type.id)) == ["batteryLevel", "heartRate"])
        try bench.stop()
    }
}
