import EventLoopKit
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import BlueZSource
@testable import Ingestion

/// Random clocks that start over, jump, or show a default date, on coarse grids, with a restart of the hub at each point.
///
/// Checked from outside: each measurement is in the store or in quarantine exactly once, with all of its values, and a restart changes
/// nothing.
@Suite struct UntrustedClockModelTests {
    /// Something that reaches the hub.
    private enum Event {
        /// After this time, a cuff sends a measurement. It may send it again.
        case measurement(after: Int64, shown: Int64, values: [UInt8], isAgain: Bool)
        /// So much later, a meter sends records of its memory, from number 0 on.
        case memory(after: Int64, records: [(shown: Int64, value: UInt8)], isCompared: Bool)
        /// So much later, a scale advertises a weight.
        case weight(after: Int64, value: UInt16, counter: UInt8)
    }

    private static let minute: Int64 = 60_000_000
    private static let hour = 60 * minute
    private static let start = FixedClock().now.microseconds
    private static let meter = BluetoothAddress("C0:01:02:03:04:02") ?? RadioBench.address
    private static let scale = BluetoothAddress("C0:01:02:03:04:03") ?? RadioBench.address

    private static func stamp(_ shown: Int64) -> [UInt8] {
        let (days, time) = shown.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        let date = Calendar.date(days: Int(days))
        let seconds = time / 1_000_000
        return [
            UInt8(date.year & 0xFF), UInt8(date.year >> 8), UInt8(date.month), UInt8(date.day), UInt8(seconds / 3600),
            UInt8(seconds / 60 % 60), 0,
        ]
    }

    private static func wall(_ year: Int, _ month: Int, _ day: Int, hour: Int64 = 0) -> Int64 {
        Int64(Calendar.days(year: year, month: month, day: day)) * Calendar.day + hour * Self.hour
    }

    private static let defaults = [wall(2021, 1, 1), wall(2026, 1, 1), wall(2026, 6, 15, hour: 8), wall(2000, 1, 1)]

    /// The events of a seed, and the number of measurements by type.
    private static func events(_ seed: UInt64) -> (events: [Event], cuff: Int, meter: Int) {
        var random = SeededGenerator(seed: seed)
        var events: [Event] = []
        // Berlin, in winter.
        let zone = hour
        var now = start
        var offset: Int64 = 0
        var sent: Set<[Int64]> = []
        var last: [Int64] = []
        var (cuff, records) = (0, [(shown: Int64, value: UInt8)]())
        var meterOffset: Int64 = 0
        for _ in 0..<14 {
            // Measurements are at least ten minutes apart. The clock's errors are not multiples of that.
            let pause = [10, 20, 60, 1440].randomElement(using: &random).map { Int64($0) * minute } ?? minute
            now += pause
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                switch Int.random(in: 0..<4, using: &random) {
                case 0: offset = (defaults.randomElement(using: &random) ?? 0) + minute - now - zone
                case 1: offset = Int64.random(in: -40...40, using: &random) * 10 * minute + 5 * minute
                case 2: offset = 0
                default: break
                }
                let shown = (now + zone + offset) / minute * minute
                // The same values of the same minute are the same measurement, unless the clock shows its default date and another
                // measurement came in between.
                var values: [UInt8]
                var content: [Int64]
                let isDefault = StampTrust.isDefaultDate(WallTime(microseconds: shown))
                repeat {
                    values = (0..<3).map { _ in UInt8.random(in: 100...102, using: &random) }
                    content = [shown] + values.map { Int64($0) }
                } while !sent.insert(content).inserted && (!isDefault || content == last)
                last = content
                events.append(.measurement(after: pause, shown: shown, values: values, isAgain: false))
                cuff += 1
                if Bool.random(using: &random) {
                    events.append(.measurement(after: minute / 2, shown: shown, values: values, isAgain: true))
                    now += minute / 2
                }
            case 5..<8:
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    if Int.random(in: 0..<3, using: &random) == 0 {
                        meterOffset = (defaults.randomElement(using: &random) ?? 0) + minute - now - zone
                    }
                    let record = ((now + zone + meterOffset) / minute * minute, UInt8.random(in: 100...101, using: &random))
                    // The same value of the same minute is the same measurement, whatever its number is, unless the clock shows that it is wrong.
                    let isDefault = StampTrust.isDefaultDate(WallTime(microseconds: record.0))
                    guard isDefault || !records.contains(where: { $0 == record }) else { continue }
                    records.append(record)
                }
                events.append(.memory(after: pause, records: records, isCompared: Bool.random(using: &random)))
            default:
                let value = UInt16.random(in: 7000...7001, using: &random)
                events.append(.weight(after: pause, value: value, counter: 1))
                for counter in 2..<4 as Range<UInt8> {
                    events.append(.weight(after: 2_000_000, value: value, counter: counter))
                    now += 2_000_000
                }
            }
        }
        return (events, cuff, records.count)
    }

    private static func send(_ event: Event, _ bench: RadioBench) {
        switch event {
        case .measurement(let after, let shown, let values, _):
            let pressures = values.flatMap { [$0, 0] as [UInt8] }
            bench.receive("gatt:2A35", [0x02] + pressures + stamp(shown), after: .microseconds(after))
        case .memory(let after, let records, let isCompared):
            bench.pass(.microseconds(after))
            if isCompared { bench.compareClocks(of: meter) }
            for (number, record) in records.enumerated() {
                bench.receive(
                    "gatt:2A18", [0x02, UInt8(number), 0] + stamp(record.shown) + [record.value, 0xB0, 0x11],
                    after: .milliseconds(10), of: meter)
            }
        case .weight(let after, let value, let counter):
            let grams = Int(value) * 10
            bench.receive(
                "advert:manufacturer:06D0",
                [
                    1, 3, 4, 3, 2, 1, 0xC0, 0, 0, 0, UInt8(grams & 0xFF), UInt8(grams >> 8 & 0xFF), UInt8(grams >> 16), 0, 0,
                    1, 0, 0, 0, counter,
                ], after: .microseconds(after), of: scale)
        }
    }

    /// The stored and quarantined readings at the end, as lines.
    private static func outcome(_ events: [Event], restartsBefore restarts: Set<Int>) throws -> [String] {
        let bench = try RadioBench()
        try bench.adopt("sig-blood-pressure")
        try bench.adopt("sig-glucose", at: meter)
        try bench.adopt("etekcity-fit-8s", at: scale)
        for (index, event) in events.enumerated() {
            if restarts.contains(index) { try bench.travel(to: .berlin) }
            send(event, bench)
        }
        bench.pass(.seconds(2))
        try bench.stop()
        #expect(try bench.store.check() == [])
        func line(_ sample: Sample, _ state: String) -> String {
            "\(state) \(sample.origin.type.id) \(sample.numeral.text) \(sample.start) \(sample.identity) \(sample.group ?? 0)"
        }
        return try
            (bench.samples().map { line($0.sample, "stored") }
            + bench.store.quarantine.all().map { line($0.stored.sample, "held") }).sorted()
    }

    private static func count(_ lines: [String], _ type: String) -> Int { lines.count { $0.split(separator: " ")[1] == type } }

    @Test(arguments: 0..<12 as Range<UInt64>) func eachMeasurementOnceAndWhole(seed: UInt64) throws {
        let (events, cuff, meter) = Self.events(seed)
        let lines = try Self.outcome(events, restartsBefore: [])
        for type in ["bloodPressureSystolic", "bloodPressureDiastolic", "bloodPressureMean"] {
            #expect(Self.count(lines, type) == cuff, "seed \(seed): \(type)")
        }
        #expect(Self.count(lines, "bloodGlucose") == meter, "seed \(seed)")
        // A measurement is stored or held, never in parts.
        let pressures = lines.filter { $0.contains("bloodPressure") }.map { $0.split(separator: " ") }
        for (group, members) in Dictionary(grouping: pressures, by: { $0[5] }) {
            #expect(members.count == 3 && Set(members.map { $0[0] }).count == 1, "seed \(seed): group \(group)")
        }
        // Midnight in Berlin.
        #expect(!lines.contains { $0.hasPrefix("stored") && $0.contains("-12-31T23:0") }, "seed \(seed)")
        // A restart at each point, and at all of them.
        for point in events.indices {
            #expect(try Self.outcome(events, restartsBefore: [point]) == lines, "seed \(seed), restarted before event \(point)")
        }
        #expect(try Self.outcome(events, restartsBefore: Set(events.indices)) == lines, "seed \(seed)")
    }
}
