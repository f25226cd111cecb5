import HealthModel
import Pipeline
import PipelineTesting

/// Pairs of readings from two sources, each with the truth: one measurement, or two.
///
/// Every pair has its own day. A measurement has a true time and a true value. The first source reports it as a sensor does (to the
/// second, in its own unit, with its own clock or up to 4 s late on arrival), the second as the maker's file does. These are drawn at
/// random, evenly unless stated otherwise:
///
/// - the type, from ``kinds``, with its range of values and the units and digits used in files;
/// - the second source's times: truncated to the minute (`HH:mm`), truncated with `:00` written, or to the second;
/// - its values: rounded to its digits after conversion.
///
/// A quarter of the pairs is reported twice by one source, the second time in another unit (``repeats``): at the same time, or at the next
/// one.
///
/// Half of the pairs are one measurement. The others are two: the next one of the same person after the type's shortest pause (a minute
/// for weighings, half a minute for insulin if seconds are reported, two seconds for heart rates), with the same value in a third of the
/// cases; or another value at the same time; or the same value from another maker's device at the same time, which is kept as well.
struct LabelledPair {
    var first: GatedSample
    var second: GatedSample
    var isOne: Bool
    /// The situation of the pair, for a message.
    var kind: String
}

struct LabelledPairs {
    struct Kind {
        var type: SampleType
        var values: ClosedRange<Double>
        var unit: String
        var digits: Int
        /// Units and digits of files.
        var reported: [(unit: String, digits: Int)]
        /// Seconds between two measurements at least.
        var pause: Double
        var minutes: Bool
    }

    static func kinds() throws -> [Kind] {
        func type(_ id: String) throws -> SampleType {
            guard let type = SampleType(id) else { throw StoreErrorOfTest.noType }
            return type
        }
        return [
            Kind(
                type: .bodyMass, values: 40...120, unit: "kg", digits: 2,
                reported: [("kg", 1), ("kg", 2), ("[lb_av]", 1), ("[stone_av]", 2)], pause: 60, minutes: true),
            Kind(
                type: .bloodPressureSystolic, values: 95...180, unit: "mm[Hg]", digits: 0, reported: [("mm[Hg]", 0), ("kPa", 1)],
                pause: 60, minutes: true),
            Kind(
                type: .bodyTemperature, values: 35...40, unit: "Cel", digits: 2, reported: [("Cel", 1), ("[degF]", 1)], pause: 60,
                minutes: true),
            Kind(
                type: .bloodGlucose, values: 50...300, unit: "mg/dL", digits: 0, reported: [("mg/dL", 0), ("mmol/L", 1)],
                pause: 60,
                minutes: true),
            Kind(
                type: .heartRate, values: 50...170, unit: "/min", digits: 0, reported: [("/min", 0)], pause: 3, minutes: false),
            Kind(
                type: try type("insulinDelivery"), values: 0.5...12, unit: "[iU]", digits: 1, reported: [("[iU]", 1)], pause: 30,
                minutes: false),
            Kind(
                type: try type("bodyFatPercentage"), values: 8...40, unit: "%", digits: 2, reported: [("%", 1)], pause: 60,
                minutes: true),
        ]
    }

    /// The kinds that one source reports in either unit.
    static func repeats() throws -> [Kind] {
        func kind(_ id: String, _ values: ClosedRange<Double>, _ unit: String, _ digits: Int, _ other: String, _ others: Int)
            throws -> Kind
        {
            guard let type = SampleType(id) else { throw StoreErrorOfTest.noType }
            return Kind(
                type: type, values: values, unit: unit, digits: digits, reported: [(other, others)], pause: 60, minutes: false)
        }
        return try [
            kind("distanceWalkingRunning", 0.05...12, "km", 2, "[mi_i]", 2),
            kind("activeEnergyBurned", 1...900, "kcal", 0, "kJ", 1),
            kind("bodyMass", 40...120, "kg", 1, "[lb_av]", 1), kind("bloodGlucose", 3...16, "mmol/L", 1, "mg/dL", 0),
            kind("bodyTemperature", 35...40, "Cel", 1, "[degF]", 1),
        ]
    }

    /// One path's reading, and again, or another one, in the other unit.
    private static func unitRepeat(day: Int, _ kind: Kind, _ random: inout SeededGenerator) throws -> LabelledPair {
        let isOne = Bool.random(using: &random)
        let time = Double(day) * 86_400 + Double.random(in: 20_000..<70_000, using: &random).rounded(.down)
        let lasting = kind.type.aggregation == .cumulative ? 300.0 : 0
        let value = Double.random(in: kind.values, using: &random)
        let reported = kind.reported[0]
        var (otherTime, otherValue, name) = (time, value, "again")
        if !isOne {
            if Bool.random(using: &random) {
                otherTime += kind.pause
                name = "next"
            } else {
                // Further apart than both roundings together.
                var step = 1.0
                for _ in 0..<kind.digits { step /= 10 }
                otherValue += 1.1 * (step + (try Self.step(of: reported, kind))) * (Bool.random(using: &random) ? 1 : -1)
                name = "other value"
            }
        }
        func maker(_ unit: String) throws -> SampleMaker {
            try SampleMaker(kind.type, source: "com.apple.health", sourceName: "Phone", unit: unit)
        }
        let conversion = try Unit(ucum: kind.unit).conversion(to: Unit(ucum: reported.unit), molarMass: kind.type.molarMass)
        // Some convert the measured value, others the reported one.
        let source = Bool.random(using: &random) && isOne ? rounded(value, kind.digits) : otherValue
        return LabelledPair(
            first: try maker(kind.unit)(text(value, kind.digits), at: time, lasting: lasting),
            second: try maker(reported.unit)(text(conversion(max(0, source)), reported.digits), at: otherTime, lasting: lasting),
            isOne: isOne, kind: "\(name) \(kind.type.id), \(reported.unit)")
    }

    private enum StoreErrorOfTest: Error { case noType }

    /// - Parameter seed: the same seed gives the same pairs.
    static func made(_ count: Int, seed: UInt64) throws -> [LabelledPair] {
        var random = SeededGenerator(seed: seed)
        let kinds = try kinds()
        let repeats = try repeats()
        return try (0..<count).map { day in
            Int.random(in: 0..<4, using: &random) > 0
                ? try pair(day: day, kinds[Int.random(in: 0..<kinds.count, using: &random)], &random)
                : try unitRepeat(day: day, repeats[Int.random(in: 0..<repeats.count, using: &random)], &random)
        }
    }

    private static func pair(day: Int, _ kind: Kind, _ random: inout SeededGenerator) throws -> LabelledPair {
        let isOne = Bool.random(using: &random)
        let time = Double(day) * 86_400 + Double.random(in: 20_000..<70_000, using: &random).rounded(.down)
        let value = Double.random(in: kind.values, using: &random)
        var arrives = Bool.random(using: &random)
        if kind.pause < 60 { arrives = false }
        var ble = try SampleMaker(
            kind.type, source: "ble", sourceName: "Sensor", device: Device(key: "acme-1", manufacturer: "Acme Ltd"),
            unit: kind.unit)
        let first: GatedSample
        let stamped = time + (arrives ? Double.random(in: 0...4, using: &random) : 0)
        if arrives {
            ble.timeOrigin = .receipt
            ble.received = Instant(microseconds: 1_767_225_600_000_000 + Int64(stamped * 1e6))
        }
        let sensed = rounded(value, kind.digits)
        first = try ble(text(sensed, kind.digits), at: stamped)

        let reported = kind.reported[Int.random(in: 0..<kind.reported.count, using: &random)]
        var (otherTime, otherValue, name, maker) = (time, sensed, "one \(kind.type.id)", "Acme")
        if !isOne {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                otherTime = time + kind.pause + (kind.pause * Double.random(in: 0...3, using: &random)).rounded(.down)
                let differs = Int.random(in: 0..<3, using: &random) > 0
                if differs { otherValue += (kind.values.upperBound - kind.values.lowerBound) * 0.02 }
                name = "next \(kind.type.id)\(differs ? "" : ", equal")"
            case 2:
                // At least two steps of the value in the file.
                let step = try step(of: reported, kind)
                otherValue += step * 2 * (Bool.random(using: &random) ? 1 : -1)
                name = "other value \(kind.type.id)"
            default:
                maker = "Rival"
                name = "other device \(kind.type.id)"
            }
        }
        var file = try SampleMaker(
            kind.type, source: "file.\(maker)", sourceName: "\(maker) export",
            device: Device(key: "\(maker)-app", manufacturer: maker), unit: reported.unit)
        var cut = otherTime
        if kind.minutes {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: file.timeResolution = 60
            case 1: break
            default: file.timeResolution = 1
            }
            if file.timeResolution == 60 || Bool.random(using: &random) { cut = (otherTime / 60).rounded(.down) * 60 }
        }
        file.zone = ZoneOffset(seconds: Int32([0, 3600, -18_000, 19_800][Int.random(in: 0..<4, using: &random)]))
        let conversion = try Unit(ucum: kind.unit).conversion(to: Unit(ucum: reported.unit), molarMass: kind.type.molarMass)
        let second = try file(text(conversion(otherValue), reported.digits), at: cut)
        return LabelledPair(first: first, second: second, isOne: isOne, kind: "\(name), \(reported.unit), \(cut - stamped) s")
    }

    private static func step(of reported: (unit: String, digits: Int), _ kind: Kind) throws -> Double {
        let conversion = try Unit(ucum: reported.unit).conversion(to: Unit(ucum: kind.unit), molarMass: kind.type.molarMass)
        var step = 1.0
        for _ in 0..<reported.digits { step /= 10 }
        return abs(conversion(1 + step) - conversion(1))
    }

    private static func rounded(_ value: Double, _ digits: Int) -> Double {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        return (value * scale).rounded() / scale
    }

    /// With exactly this many decimals.
    private static func text(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = "\(Int((value * scale).rounded()))"
        guard digits > 0 else { return whole }
        let padded = String(repeating: "0", count: max(0, digits + 1 - whole.count)) + whole
        return "\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }
}
