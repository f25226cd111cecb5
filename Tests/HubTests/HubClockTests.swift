import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import Hub
@testable import SampleStore

/// The hub's own clock is set while it runs, or while it does not.
@Suite struct HubClockTests {
    /// A machine whose clock the test sets.
    private final class Ntp {
        var isSynchronised = false
        var handler: (() -> Void)?
        var questions: HubClock.Questions { questions(boot: "one") }

        func questions(boot: String) -> HubClock.Questions {
            HubClock.Questions(
                boot: boot, isSynchronised: { self.isSynchronised },
                watch: {
                    self.handler = $0
                    return self
                })
        }
    }

    private let bench: RadioBench
    private let ntp = Ntp()
    private let right: Instant

    init() throws {
        bench = try RadioBench()
        right = bench.clock.now
        try bench.adopt("sig-heart-rate", "sig-glucose")
    }

    /// Sets the clock to the correct time: this many seconds after the test began.
    private func sync(after seconds: Int64) throws {
        bench.clock.now = Instant(microseconds: right.microseconds + seconds * 1_000_000)
        ntp.isSynchronised = true
        let handler = try #require(ntp.handler)
        handler()
    }

    private func beats() throws -> [(value: Double, seconds: Double)] {
        try bench.samples().map { ($0.sample.value, Double($0.sample.start.microseconds - right.microseconds) / 1e6) }
    }

    @Test("from 1970: what was held is released at its time, what waits is moved, all in order") func fromTheBeginning() throws {
        bench.clock.now = Instant(seconds: 60)
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        for beat: UInt8 in 60..<64 { bench.receive("gatt:2A37", [0x00, beat], after: .seconds(1)) }
        bench.pass(.seconds(2))
        let quarantined = try bench.reader().quarantine.all()
        #expect(quarantined.map(\.rule) == Array(repeating: "clock-unknown", count: 4))
        // These wait for their commit.
        for beat: UInt8 in 64..<66 { bench.receive("gatt:2A37", [0x00, beat], after: .milliseconds(100)) }
        #expect(bench.live.waitingSamples > 0)
        try sync(after: 7)
        bench.receive("gatt:2A37", [0x00, 66], after: .seconds(1))
        bench.pass(.seconds(2))
        let beats = try beats()
        #expect(beats.map(\.value) == [60, 61, 62, 63, 64, 65, 66])
        for (beat, seconds) in zip(beats, [1.8, 2.8, 3.8, 4.8, 6.9, 7, 8]) {
            #expect(abs(beat.seconds - seconds) < 0.01, "\(beat)")
        }
        #expect(try bench.reader().quarantine.all().isEmpty)
        let samples = try bench.samples()
        // Their identity is that of the received data.
        #expect(Set(quarantined.map(\.stored.uuid)).isSubset(of: Set(samples.map(\.uuid))))
        #expect(samples.map(\.sample.timeOrigin) == Array(repeating: .deviceCorrected, count: 6) + [.receipt])
        #expect(samples.allSatisfy { $0.sample.received == $0.sample.start })
        #expect(try bench.store.clock.unset() == nil)
        try bench.stop()
        #expect(try bench.store.check() == [])
        #expect(bench.notices.contains { $0.component == "clock" })
    }

    @Test("three days behind: what is stored is corrected, each once") func clockThreeDaysSlow() throws {
        bench.clock.now.microseconds -= 3 * 86_400_000_000
        try bench.store.clock.save(nil)
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        for beat: UInt8 in 60..<63 { bench.receive("gatt:2A37", [0x00, beat], after: .seconds(1)) }
        bench.pass(.seconds(2))
        let before = try bench.samples()
        #expect(before.count == 3)
        try sync(after: 5)
        #expect(try beats().map { $0.seconds.rounded() } == [1, 2, 3])
        let after = try bench.samples()
        #expect(after.allSatisfy { $0.sample.received == $0.sample.start })
        var changes: [Bool] = []
        try bench.store.changes.read(after: before.map(\.seq).max() ?? 0, types: nil) { change in
            if case .added = change { changes.append(true) } else { changes.append(false) }
        }
        #expect(changes == [false, true, false, true, false, true])
        // Later readings have the correct time, and nothing is corrected again.
        bench.receive("gatt:2A37", [0x00, 63], after: .seconds(1))
        bench.pass(.seconds(2))
        try HubClock(hub: bench.hub, questions: ntp.questions).start()
        #expect(try beats().map { $0.seconds.rounded() } == [1, 2, 3, 6])
        try bench.stop()
        #expect(try bench.store.check() == [])
        // The correction can be undone like any other.
        let repairID = try #require(try bench.store.repairs.all().last)
        _ = try bench.store.repairs.undo(repairID.id, at: right, owner: nil)
        #expect(Set(try bench.samples().map(\.uuid)).isSuperset(of: before.map(\.uuid)))
    }

    @Test("set while no hub ran: the next one of the same run of the machine corrects", arguments: [true, false])
    func whileNoHubRan(isSameBoot: Bool) throws {
        bench.clock.now.microseconds -= 3_600_000_000
        try HubClock(hub: bench.hub, questions: ntp.questions).start()
        bench.receive("gatt:2A37", [0x00, 60], after: .seconds(1))
        bench.pass(.seconds(2))
        try bench.stop()
        bench.clock.now = Instant(microseconds: right.microseconds + 3_000_000)
        ntp.isSynchronised = true
        try HubClock(hub: bench.hub, questions: ntp.questions(boot: isSameBoot ? "one" : "two")).start()
        #expect(try beats().map { $0.seconds.rounded() } == [isSameBoot ? 1 : -3599])
        #expect(try bench.store.clock.unset() == nil)
        #expect(try bench.store.check() == [])
    }

    @Test("a clock that was right and is set, as after a machine's sleep, corrects nothing") func wasRight() throws {
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        bench.receive("gatt:2A37", [0x00, 60], after: .seconds(1))
        // NTP finds it right.
        ntp.isSynchronised = true
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unset() == nil)
        try sync(after: 3600)
        bench.pass(.seconds(2))
        #expect(try beats().map { $0.seconds.rounded() } == [1])
    }

    /// The error of the first boot's clock is unknown.
    @Test("the power fails before the clock is set: what came is withdrawn once the time is known", arguments: [3 * 86_400, 0])
    func powerCut(slowBy: Int64) throws {
        bench.clock.now.microseconds -= slowBy * 1_000_000
        var clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        bench.receive("gatt:2A37", [0x00, 60], after: .seconds(1))
        bench.pass(.seconds(2))
        try bench.travel(to: .berlin)
        clock = HubClock(hub: bench.hub, questions: ntp.questions(boot: "two"))
        try clock.start()
        bench.receive("gatt:2A37", [0x00, 61], after: .seconds(1))
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unconfirmed().map(\.boot) == ["one"])
        #expect(try bench.samples().count == 2, "a hub without a network does not lose them")
        try sync(after: 8)
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unconfirmed().isEmpty)
        let isWrong = slowBy > 0
        #expect(try bench.samples().map(\.sample.value).sorted() == (isWrong ? [61] : [60, 61]))
        let quarantined = try bench.reader().quarantine.all()
        #expect(quarantined.map(\.rule) == (isWrong ? ["clock-unknown"] : []))
        // A person may know better.
        if let one = quarantined.first {
            #expect(one.stored.sample.metadata?[ClockDoubt.key] == .string("hub-clock"))
            try bench.store.quarantine.accept([one.id], description: IngestDescription(kind: .accept, received: 0))
            #expect(try bench.samples().count == 2)
        }
        try bench.stop()
        #expect(try bench.store.check(deep: true) == [])
    }

    @Test("a device's right time that disagreed with the wrong clock is released") func rightDevice() throws {
        try bench.adopt("sig-health-thermometer")
        bench.clock.now.microseconds -= 3 * 86_400_000_000
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        // 07:31 in Berlin, when it is.
        bench.receive("gatt:2A1C", [0x02, 0x6D, 0x01, 0x00, 0xFF, 0xEA, 0x07, 11, 20, 7, 31, 0])
        bench.pass(.seconds(2))
        #expect(try bench.samples().isEmpty)
        // This one waits for its commit.
        bench.receive("gatt:2A37", [0x00, 60])
        try sync(after: 3)
        bench.pass(.seconds(2))
        let temperature = try #require(try bench.samples().first { $0.sample.origin.type.id == "bodyTemperature" }).sample
        #expect(temperature.start.description == "2026-11-20T06:31:00.000000Z" && temperature.timeOrigin == .device)
        #expect(temperature.metadata?[ClockDoubt.key] == nil)
        #expect(try bench.reader().quarantine.all().isEmpty)
        try bench.stop()
        #expect(try bench.store.check(deep: true) == [])
    }

    @Test("a device's records are corrected by what was compared with the wrong clock, less its error") func records() throws {
        bench.clock.now.microseconds -= 86_400_000_000
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        // The device shows the right time: a day ahead of the hub's.
        bench.compareClocks(ahead: 86_400)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1))
        bench.pass(.seconds(2))
        let wrong = try #require(try bench.samples().first).sample.start
        try sync(after: 2)
        let corrected = try #require(try bench.samples().first).sample.start
        #expect(corrected.microseconds - wrong.microseconds == 86_400_000_000)
        // The same record again is the same.
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1))
        bench.receive("gatt:2A18", RadioBench.glucose(number: 2, minute: 1))
        bench.pass(.seconds(2))
        #expect(try bench.samples().map { ($0.sample.start.microseconds - corrected.microseconds) / 1_000_000 } == [0, 60])
        try bench.stop()
        #expect(try bench.store.check() == [])
    }
    /// Data received before the machine was switched on has its time from a correct clock.
    @Test("what somebody repairs or restores meanwhile stays where it was") func repairDuringCorrection() throws {
        for beat: UInt8 in 50..<52 { bench.receive("gatt:2A37", [0x00, beat], after: .seconds(1)) }
        bench.pass(.seconds(2))
        let old = try bench.samples()
        #expect(old.count == 2)
        bench.clock.uptime = .seconds(30)
        bench.clock.now.microseconds -= 3 * 86_400_000_000
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        bench.receive("gatt:2A37", [0x00, 60], after: .seconds(1))
        bench.pass(.seconds(2))
        let other = try SampleStore(path: bench.store.path, access: .write)
        try other.samples.delete([old[0].uuid], description: IngestDescription(kind: .delete, received: 0))
        try other.samples.restore([old[0].uuid], description: IngestDescription(kind: .restore, received: 0))
        var conditions = SampleConditions(types: [try #require(SampleType("heartRate"))])
        conditions.to = Instant(microseconds: right.microseconds + 2_500_000)
        conditions.from = Instant(microseconds: right.microseconds + 1_500_000)
        let repair = RepairRequest(
            .scale(try Numeral("2")), of: conditions, takesAmbiguous: true, now: bench.clock.now)
        #expect(try other.repairs.apply(repair).plan.repaired == 1)
        try sync(after: 10)
        bench.pass(.seconds(2))
        let beats = try beats()
        #expect(beats.map(\.value) == [50, 102, 60])
        #expect(beats.map { $0.seconds.rounded() } == [1, 2, 8])
        try bench.stop()
        #expect(try bench.store.check(deep: true) == [])
    }

    @Test("set while another program holds the store: what has to be done is kept until it is") func setWhileInUse() throws {
        bench.clock.now.microseconds -= 86_400_000_000
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1))
        bench.receive("gatt:2A37", [0x00, 60], after: .seconds(1))
        bench.pass(.seconds(2))
        #expect(try bench.samples().count == 1, "the record waits for its device's clock")
        let other = try SampleStore(path: bench.store.path, access: .write)
        try other.connection.execute("BEGIN IMMEDIATE")
        // The device shows the right time: a day ahead of the hub's.
        bench.compareClocks(ahead: 86_400)
        try sync(after: 3)
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unset() != nil, "a power cut now must not forget it")
        try other.connection.execute("COMMIT")
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unset() == nil)
        let samples = try bench.samples()
        #expect(samples.count == 2)
        let beat = try #require(samples.first { $0.sample.origin.type.id == "heartRate" }).sample.start
        #expect(abs(beat.microseconds - right.microseconds - 1_000_000) < 10_000)
        let glucose = try #require(samples.first { $0.sample.origin.type.id == "bloodGlucose" }).sample.start
        #expect(glucose.description == "2026-11-20T05:00:00.000000Z")
        #expect(
            try bench.store.devices.clockComparisons(of: RadioBench.device.key).allSatisfy { $0.received > right.microseconds })
        try bench.stop()
        #expect(try bench.store.check() == [])
    }

    @Test("found right while another program holds the store: that is kept as well") func foundRightWhileInUse() throws {
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        let other = try SampleStore(path: bench.store.path, access: .write)
        try other.connection.execute("BEGIN IMMEDIATE")
        ntp.isSynchronised = true
        let handler = try #require(ntp.handler)
        handler()
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unset() != nil)
        try other.connection.execute("COMMIT")
        bench.pass(.seconds(2))
        #expect(try bench.store.clock.unset() == nil)
        #expect(bench.loop.load.timers == 0, "idle means idle")
        try bench.stop()
    }

    /// A device that is an hour slow, as the hub is.
    @Test func aDeviceThatAgreesWithTheWrongClock() throws {
        bench.clock.now.microseconds -= 3_600_000_000
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1))
        bench.compareClocks()
        bench.pass(.seconds(2))
        #expect(try bench.samples().map { $0.sample.start.description } == ["2026-11-20T05:00:00.000000Z"])
        try sync(after: 2)
        #expect(try bench.samples().map { $0.sample.start.description } == ["2026-11-20T06:00:00.000000Z"])
        // The comparison is corrected as well: the device shows the time of UTC.
        #expect(try bench.store.devices.clockComparisons(of: RadioBench.device.key).map(\.ahead) == [0])
        try bench.stop()
        #expect(try bench.store.check() == [])
        withExtendedLifetime(clock) {}
    }

    /// The device's clock was right all the time. The hub's was two hours slow, so that the device seemed to be in another zone.
    @Test func recordsFromBeforeAChangeOfTheClocks() throws {
        bench.clock.now.microseconds -= 7_200_000_000
        let clock = HubClock(hub: bench.hub, questions: ntp.questions)
        try clock.start()
        bench.compareClocks(ahead: 7200)
        var record = RadioBench.glucose(number: 1)
        // In October, before the clocks went back.
        record[5] = 10
        bench.receive("gatt:2A18", record)
        bench.pass(.seconds(2))
        #expect(try bench.samples().isEmpty)
        try sync(after: 2)
        bench.compareClocks()
        bench.pass(.seconds(2))
        #expect(try bench.samples().map { $0.sample.start.description } == ["2026-10-20T04:00:00.000000Z"])
        #expect(try bench.reader().quarantine.all().isEmpty)
        try bench.stop()
        #expect(try bench.store.check() == [])
        withExtendedLifetime(clock) {}
    }

    @Test func comparisonsOfABootWhoseClockWasNeverSet() throws {
        bench.clock.now.microseconds -= 86_400_000_000
        let first = HubClock(hub: bench.hub, questions: ntp.questions)
        try first.start()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1))
        bench.compareClocks(ahead: 86_400)
        bench.pass(.seconds(2))
        #expect(try bench.store.devices.clockComparisons(of: RadioBench.device.key).count == 1)
        try bench.travel(to: .berlin)
        let second = HubClock(hub: bench.hub, questions: ntp.questions(boot: "two"))
        try second.start()
        try sync(after: 8)
        bench.pass(.seconds(2))
        #expect(try bench.store.devices.clockComparisons(of: RadioBench.device.key) == [])
        try bench.stop()
        withExtendedLifetime((first, second)) {}
    }
}
