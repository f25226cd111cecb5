import EventLoopKit
import Glibc
import HealthModel
import Hub
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// Local times follow the zone that the hub is set to.
@Suite struct ZoneTests {
    private static func thermometer(_ bench: RadioBench, hour: UInt8, minute: UInt8, after delay: Duration) {
        bench.receive("gatt:2A1C", [0x02, 0x6D, 0x01, 0x00, 0xFF, 0xEA, 0x07, 11, 20, hour, minute, 0], after: delay)
    }

    /// A reload reaches a device that is connected, and its source is left alone.
    @Test func aReloadReachesEachDevice() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        try bench.hub.start()
        Self.thermometer(bench, hour: 7, minute: 31, after: .zero)
        let adopted = bench.source.adopted.count
        var settings = try bench.settings()
        settings.zone = TimeZoneRules(fixed: ZoneOffset(seconds: -18_000))
        bench.hub.apply(settings)
        #expect(bench.source.adopted.count == adopted)
        #expect(bench.notices.contains { $0.component == "zone" && $0.text.contains("-05:00") })
        Self.thermometer(bench, hour: 1, minute: 32, after: .seconds(60))
        bench.pass(.seconds(2))
        try bench.stop()
        #expect(
            try bench.samples().map { "\($0.sample.start) \($0.sample.zone?.description ?? "")" } == [
                "2026-11-20T06:31:00.000000Z +01:00", "2026-11-20T06:32:00.000000Z -05:00",
            ])
    }

    /// A clock that was compared in the old zone is not known in the new one.
    @Test func clockComparisonAppliesToOneZone() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1, hour: 6))
        var settings = try bench.settings()
        settings.zone = TimeZoneRules(fixed: ZoneOffset(seconds: -18_000))
        bench.hub.apply(settings)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 2, hour: 6, minute: 5))
        bench.compareClocks(ahead: 21_600, zoneHours: -5)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 3, hour: 6, minute: 10))
        bench.pass(.seconds(2))
        try bench.stop()
        #expect(
            try bench.samples().map { "\($0.sample.start)" }
                == [0, 5, 10].map {
                    "2026-11-20T05:\($0 < 10 ? "0" : "")\($0):00.000000Z"
                })
        #expect(try bench.store.check() == [])
    }

    @Test func theMachinesZoneIsSet() throws {
        let folder = try TemporaryFolder()
        let bench = try RadioBench()
        var count = 0
        let watch = try #require(ZoneWatch(loop: bench.loop, folder: folder.path, name: "localtime") { count += 1 })
        try folder.write([], to: "other")
        bench.pass(.seconds(1))
        bench.pass(.seconds(1))
        #expect(count == 0)
        symlink("/usr/share/zoneinfo/America/New_York", folder.file("new"))
        rename(folder.file("new"), folder.file("localtime"))
        bench.pass(.zero)
        bench.pass(.seconds(1))
        #expect(count == 1)
        withExtendedLifetime(watch) {}
    }
}
