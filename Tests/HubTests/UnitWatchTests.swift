import EventLoopKit
import HealthModel
import Ingestion
import Testing

@testable import Hub
@testable import SampleStore

/// Warnings of a hub about units while readings arrive.
@Suite struct UnitWatchTests {
    /// A Temperature Measurement of 2A1C without a time, in tenths. The first bit of the flags means °F.
    private func temperature(_ tenths: UInt16, isFahrenheit: Bool) -> [UInt8] {
        [isFahrenheit ? 1 : 0, UInt8(tenths & 0xFF), UInt8(tenths >> 8), 0x00, 0xFF]
    }

    private func actions(_ bench: RadioBench) -> [String] { bench.notices.filter { $0.weight == .action }.map(\.description) }

    /// As of a file: held with its rule and its frame, never stored, never refused without a trace.
    @Test func aThermometerBelowAbsoluteZero() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        // In tenths a mantissa of -3000, FFF448.
        bench.receive("gatt:2A1C", [0x00, 0x48, 0xF4, 0xFF, 0xFF], after: .seconds(600))
        bench.pass(.seconds(2))
        try bench.stop()
        #expect(try bench.samples().isEmpty)
        let quarantined = try bench.store.quarantine.all()
        #expect(quarantined.map(\.rule) == ["impossible-value"])
        #expect(quarantined.first?.stored.sample.value == -300)
        #expect(quarantined.first?.frame != nil)
    }

    @Test func reportsThermometerInWrongUnit() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for tenths in [980, 984, 979] as [UInt16] {
            #expect(actions(bench).isEmpty)
            bench.receive("gatt:2A1C", temperature(tenths, isFahrenheit: false), after: .seconds(600))
            bench.pass(.seconds(2))
        }
        let reported = try #require(actions(bench).first)
        #expect(
            reported == "Maker/Meter/42: 3 of its bodyTemperature readings would fit far better in [degF] than in Cel: "
                + "see 'vitalgate repair suggest'")
        // Once is enough, and nothing is left to do.
        for tenths in 980...1000 as ClosedRange<UInt16> {
            bench.receive("gatt:2A1C", temperature(tenths, isFahrenheit: false), after: .seconds(600))
            bench.pass(.seconds(2))
        }
        #expect(actions(bench).count == 1)
        #expect(bench.loop.load.timers == 0, "idle means idle")
        try bench.stop()
        #expect(try #require(try bench.store.ledger.account(of: 1)).notes == [reported], "the ledger remembers it")
        // The reported suspicion is also suggested as a repair, and nothing was changed.
        #expect(try bench.store.repairs.suspicions().map(\.range.fits.code) == ["[degF]"])
        #expect(try bench.samples().allSatisfy { $0.sample.unit.code == "Cel" })
    }

    @Test func aFeverIsNoAlarm() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for tenths in [366, 367, 394, 401, 406, 402, 395, 369] as [UInt16] {
            bench.receive("gatt:2A1C", temperature(tenths, isFahrenheit: false), after: .seconds(7200))
            bench.pass(.seconds(2))
        }
        for tenths in [979, 1040, 1031, 985] as [UInt16] {
            bench.receive("gatt:2A1C", temperature(tenths, isFahrenheit: true), after: .seconds(7200))
            bench.pass(.seconds(2))
        }
        #expect(actions(bench).isEmpty)
        try bench.stop()
        #expect(try bench.store.repairs.suspicions().isEmpty)
    }

    /// Other devices of the same person show the level. Wrong readings from before the hub's start are not reported.
    @Test func ignoresReadingsBeforeStart() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for tenths in [980, 984, 979] as [UInt16] {
            bench.receive("gatt:2A1C", temperature(tenths, isFahrenheit: false), after: .seconds(600))
        }
        bench.pass(.seconds(2))
        #expect(actions(bench).count == 1)
        bench.notices.removeAll()
        try bench.travel(to: try .berlin)
        for tenths in [980, 984, 979, 981] as [UInt16] {
            bench.receive("gatt:2A1C", temperature(tenths, isFahrenheit: true), after: .seconds(600))
            bench.pass(.seconds(2))
        }
        #expect(actions(bench).isEmpty)
        try bench.stop()
    }
}
