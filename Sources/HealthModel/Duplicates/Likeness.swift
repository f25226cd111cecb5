/// What of a reading is compared with another path's: when it was, how much, and how exactly either was told.
public struct ReadingTrace: Hashable, Sendable {
    /// Microseconds since 1970.
    public var start: Int64
    /// Microseconds from start to end.
    public var duration: Int64
    /// What the time was cut to, in seconds: 1 or finer, 60 where minutes were told, 3600 where hours were.
    public var timeResolution: Int32
    /// Whether the time is that of an arrival.
    public var isArrival: Bool
    /// In the type's canonical unit.
    public var value: Double
    /// What one step of the numeral's last digit is in the canonical unit.
    public var valueResolution: Double
    /// What a step of 1 in the numeral's unit is in the canonical unit.
    public var scale: Double
    /// What 0 in the numeral's unit is in the canonical unit.
    public var zero: Double
    /// How the value was measured.
    public var method: MeasuringMethod

    /// Puts together what is compared.
    public init(
        start: Int64, duration: Int64, timeResolution: Int32, isArrival: Bool, value: Double, valueResolution: Double,
        scale: Double, zero: Double, method: MeasuringMethod = .unknown
    ) {
        self.start = start
        self.duration = duration
        self.timeResolution = timeResolution
        self.isArrival = isArrival
        self.value = value
        self.valueResolution = valueResolution
        self.scale = scale
        self.zero = zero
        self.method = method
    }

    /// Whether the numeral of another reading has another unit, so that one of them may have been rounded twice.
    @inlinable func isConverted(to other: ReadingTrace) -> Bool { scale != other.scale || zero != other.zero }
}

/// How well two readings of two paths agree, at the coarser resolution of the two.
///
/// - A time told to the minute is that of any second within it: makers write `06:31` for 06:31:59, and the slack of two clocks comes on
///   top. Two times of one resolution agree where they are equal but for that slack; two different minutes never do.
/// - A value told with fewer digits agrees with what rounds to it. Where the units differ, the other side's own rounding may come on
///   top. Two values of one resolution and unit must be equal.
public struct Likeness: Hashable, Comparable, Sendable {
    /// 0: within the resolution; 1: within the slack of two clocks; 2: the second hand may have been cut off unsaid.
    public let certainty: Int
    /// By how much the values differ, in steps of the coarser one.
    public let steps: Double
    /// By how much the times differ, in microseconds.
    public let apart: Int64

    /// Less is more alike.
    public static func < (one: Likeness, other: Likeness) -> Bool {
        (one.certainty, one.steps, one.apart) < (other.certainty, other.steps, other.apart)
    }

    /// Compares; nil where the two are different measurements.
    public init?(_ one: ReadingTrace, _ other: ReadingTrace, rule: DuplicateRule) {
        guard !one.method.conflicts(with: other.method, onOnePath: rule == .unit) else { return nil }
        guard let steps = Self.steps(one, other) else { return nil }
        let slack = Self.slack(one, other, rule)
        guard let start = Self.agreement(one, other, one.start, other.start, rule, slack) else { return nil }
        guard one.duration != other.duration || one.timeResolution != other.timeResolution else {
            (certainty, apart, self.steps) = (start.certainty, start.apart, steps)
            return
        }
        guard
            let end = Self.agreement(one, other, one.start &+ one.duration, other.start &+ other.duration, rule, slack)
        else { return nil }
        certainty = max(start.certainty, end.certainty)
        apart = max(start.apart, end.apart)
        self.steps = steps
    }

    /// How far around a reading its like may lie, in microseconds.
    public static func radius(_ rule: DuplicateRule, timeResolution: Int32) -> Int64 {
        let unsaid: Int64 = rule == .spot ? 60_000_000 : 0
        return max(Int64(min(timeResolution, coarsest)) * 1_000_000, unsaid) + rule.slack(onArrival: true)
    }

    /// Times that only tell the day have no like.
    public static let coarsest: Int32 = 3600

    /// By how much the values of two readings differ at most, where they are alike; more where a resolution is only known to be no coarser.
    @inlinable public static func tolerance(_ one: ReadingTrace, _ other: ReadingTrace) -> Double {
        let coarse = max(one.valueResolution, other.valueResolution)
        let allowed =
            one.isConverted(to: other) ? (coarse + min(one.valueResolution, other.valueResolution)) / 2 : coarse / 2
        return allowed * (1 + 1e-9) + noise(one, other)
    }

    /// The last bits that a conversion leaves.
    @inlinable static func noise(_ one: ReadingTrace, _ other: ReadingTrace) -> Double {
        max(abs(one.value), abs(other.value)) * 1e-12
    }

    private static func steps(_ one: ReadingTrace, _ other: ReadingTrace) -> Double? {
        let difference = abs(one.value - other.value)
        guard difference <= tolerance(one, other) else { return nil }
        if difference <= noise(one, other) { return 0 }
        let coarse = max(one.valueResolution, other.valueResolution)
        let fine = min(one.valueResolution, other.valueResolution)
        guard coarse > 0, fine > 0 else { return nil }
        // Equal steps of one unit: other digits are another value.
        if !one.isConverted(to: other), coarse < fine * 1.5 { return nil }
        return difference / coarse
    }

    /// A glucose sensor has one reading in a minute at most, most one in five; two programs that upload it write times some seconds apart.
    private static let uploads: Int64 = 30_000_000

    private static func slack(_ one: ReadingTrace, _ other: ReadingTrace, _ rule: DuplicateRule) -> Int64 {
        let usual = rule.slack(onArrival: one.isArrival || other.isArrival)
        return rule == .spot && one.method.isSensor && other.method.isSensor ? max(usual, uploads) : usual
    }

    private static func agreement(
        _ one: ReadingTrace, _ other: ReadingTrace, _ first: Int64, _ second: Int64, _ rule: DuplicateRule,
        _ slack: Int64
    ) -> (certainty: Int, apart: Int64)? {
        let difference = first &- second
        guard max(one.timeResolution, other.timeResolution) <= coarsest else { return nil }
        if one.timeResolution == other.timeResolution {
            if one.timeResolution > 1 { return difference == 0 ? (0, 0) : nil }
            if abs(difference) <= slack { return (0, abs(difference)) }
            return rule == .spot ? unsaid(first, second) : nil
        }
        let (coarse, fine, resolution) =
            one.timeResolution > other.timeResolution
            ? (first, second, Int64(one.timeResolution)) : (second, first, Int64(other.timeResolution))
        let behind = fine &- coarse
        let step = resolution * 1_000_000
        if behind >= 0, behind < step { return (0, behind) }
        if behind >= step, behind < step + slack { return (1, behind) }
        return behind < 0 && -behind <= slack ? (1, -behind) : nil
    }

    /// Some makers write `06:31:00` for any second of the minute.
    private static func unsaid(_ first: Int64, _ second: Int64) -> (certainty: Int, apart: Int64)? {
        let minute: Int64 = 60_000_000
        func isWhole(_ time: Int64) -> Bool { time % minute == 0 }
        guard isWhole(first) != isWhole(second) else { return nil }
        let behind = isWhole(first) ? second &- first : first &- second
        return behind >= 0 && behind < minute ? (2, behind) : nil
    }
}

extension Numeral {
    /// One step of the last digit written: 0.01 for `98.60`, 1 for `72`.
    public var step: Double {
        // Of a form such as `9.86e1` the canonical digits are what counts.
        let power = isPlain ? Int(exponent) : Self.lastPower(of: canonicalText)
        return power <= 0 && power >= -22 ? 1 / Numeral.powersOfTen[-power] : power > 0 ? 1 : 1e-22
    }

    private static func lastPower(of text: String) -> Int {
        guard let point = text.firstIndex(of: ".") else { return 0 }
        return -text.distance(from: text.index(after: point), to: text.endIndex)
    }
}
