import HealthModel
import Testing

/// The parts of a measurement that failed are quarantined with it. Frames made up for Vitalgate.
@Suite struct FailedMeasurementTests {
    /// Types that are stored and rules of the others, after one frame of a device.
    private func outcome(_ profile: String, _ channel: String, _ bytes: [UInt8]) throws -> (stored: [String], rules: [String]) {
        let bench = try RadioBench()
        try bench.adopt(profile)
        bench.receive(channel, bytes)
        bench.pass(.seconds(2))
        let stored = try bench.samples().map(\.sample.origin.type.id).sorted()
        let rules = try bench.reader().quarantine.all().map(\.rule).sorted()
        try bench.stop()
        #expect(try bench.store.check() == [])
        return (stored, rules)
    }

    private func cuff(_ systolic: Int, _ diastolic: Int, pulse: Int) throws -> (stored: [String], rules: [String]) {
        let bytes = [systolic, diastolic, 95, pulse].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return try outcome("sig-blood-pressure", "gatt:2A35", [0x04] + bytes)
    }

    @Test func goodMeasurement() throws {
        let found = try cuff(121, 79, pulse: 64)
        #expect(found.stored == ["bloodPressureDiastolic", "bloodPressureMean", "bloodPressureSystolic", "heartRate"])
        #expect(found.rules.isEmpty)
    }

    /// 1823 is impossible, 0x07FF is the NaN of an aborted measurement, and 85/120 is upside down.
    @Test(arguments: [(1823, 43), (0x07FF, 44), (85, 120)]) func abortedPressure(systolic: Int, diastolic: Int) throws {
        let found = try cuff(systolic, diastolic, pulse: 72)
        #expect(found.stored.isEmpty)
        #expect(found.rules.contains("failed-measurement"))
    }

    /// A missing pulse does not affect the pressure.
    @Test func missingPulse() throws {
        #expect(try cuff(121, 79, pulse: 1000).stored.contains("bloodPressureSystolic"))
    }

    /// 255 % with a pulse of 31.
    @Test func impossibleSaturation() throws {
        let found = try outcome("sig-pulse-oximeter", "gatt:2A5F", [0x00, 255, 0, 31, 0])
        #expect(found.stored.isEmpty && found.rules.count == 2)
    }
}
