/// The parts of a reading that are compared with those of another path: time, value, and their precision.
public struct ReadingTrace: Hashable, Sendable {
    /// The start in microseconds since 1970.
    public var start: Int64
    /// The time from start to end in microseconds.
    public var duration: Int64
    /// The resolution of the time in seconds: 1 or finer, 60 for minutes, 3600 for hours.
    public var timeResolution: Int32
    /// Whether the time is a time of arrival.
    public var isArrival: Bool
    /// The value in the type's canonical unit.
    public var value: Double
    /// One step of the numeral's last digit, in the canonical unit.
    public var valueResolution: Double
    /// A step of 1 in the numeral's unit, in the canonical unit.
    public var scale: Double
    /// The value of 0 in the numeral's unit, in the canonical unit.
    public var zero: Double
    /// The measuring method.
    public var method: MeasuringMethod

    /// A trace with its parts.
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

    /// How precise the report is.
    public var precision: ReportPrecision.Measure {
        ReportPrecision.Measure(
            start: start, timeResolution: timeResolution, isArrival: isArrival, value: value, valueResolution: valueResolution)
    }

    /// Whether the numerals have different units, so that one of them may have been rounded twice.
    @inlinable func isConverted(to other: ReadingTrace) -> Bool { scale != other.scale || zero != other.zero }
}

/// The agreement of two readings from two paths, at the coarser resolution of the two.
///
/// - A time with minute resolution matches any second of that minute, since makers write `06:31` for 06:31:59. The slack between two clocks
///   is added. Two times of the same resolution agree if they are equal within the slack. Two different minutes never agree.
/// - A value with fewer digits agrees with values that round to it. If the units differ, the rounding of the other side is added. Two
///   values of the same resolution and unit must be equal.
public struct Agreement: Hashable, Comparable, Sendable {
    /// 0 within the resolution, 1 within the slack of two clocks, 2 if the seconds may have been dropped silently.
    public let certainty: Int
    /// The difference of the values, in steps of the coarser one.
    public let steps: Double
    /// The difference of the times, in microseconds.
    public let apart: Int64

    /// Smaller means more alike.
    public static func < (one: Agreement, other: Agreement) -> Bool {
        (one.certainty, one.steps, one.apart) < (other.certainty, other.steps, other.apart)
    }

    /// Compares two readings. Returns `nil` if they are different measurements.
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

    /// The range around a reading in which an equal one may be, in microseconds.
    public static func radius(_ rule: DuplicateRule, timeResolution: Int32) -> Int64 {
        let unsaid: Int64 = rule == .spot ? 60_000_000 : 0
        return max(Int64(min(timeResolution, coarsest)) * 1_000_000, unsaid) + rule.slack(onArrival: true)
    }

    /// The coarsest resolution that is compared, in seconds. Times with only a date match nothing.
    public static let coarsest: Int32 = 3600

    /// The maximum difference of the values of two equal readings. It is larger if a resolution is only known to be no coarser.
    @inlinable public static func tolerance(_ one: ReadingTrace, _ other: ReadingTrace) -> Double {
        let coarse = max(one.valueResolution, other.valueResolution)
        let allowed =
            one.isConverted(to: other) ? (coarse + min(one.valueResolution, other.valueResolution)) / 2 : coarse / 2
        return allowed * (1 + 1e-9) + noise(one, other)
    }

    /// The rounding error of a conversion.
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
        // With equal steps of one unit, different digits are a different value.
        if !one.isConverted(to: other), coarse < fine * 1.5 { return nil }
        return difference / coarse
    }

    /// The maximum difference, in microseconds, of the times of two programs that upload the same glucose sensor. A sensor has at most one
    /// reading a minute, and most have one in five.
    private static let uploads: Int64 = 30_000_000

    private static func slack(_ one: ReadingTrace, _ other: ReadingTrace, _ rule: DuplicateRule) -> Int64 {
        let reference = rule.slack(onArrival: one.isArrival || other.isArrival)
        return rule == .spot && one.method.isSensor && other.method.isSensor ? max(reference, uploads) : reference
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
        let trailing = fine &- coarse
        let step = resolution * 1_000_000
        if trailing >= 0, trailing < step { return (0, trailing) }
        if trailing >= step, trailing < step + slack { return (1, trailing) }
        return trailing < 0 && -trailing <= slack ? (1, -trailing) : nil
    }

    /// Some makers write `06:31:00` for any second of the minute.
    private static func unsaid(_ first: Int64, _ second: Int64) -> (certainty: Int, apart: Int64)? {
        let minute: Int64 = 60_000_000
        func isWhole(_ time: Int64) -> Bool { time % minute == 0 }
        guard isWhole(first) != isWhole(second) else { return nil }
        let trailing = isWhole(first) ? second &- first : first &- second
        return trailing >= 0 && trailing < minute ? (2, trailing) : nil
    }
}

extension Numeral {
    /// One step of the last written digit: 0.01 for `98.60`, 1 for `72`.
    public var step: Double {
        // For a form such as `9.86e1`, the canonical digits count.
        let power = isPlain ? Int(exponent) : Self.lastPower(of: canonicalText)
        return power <= 0 && power >= -22 ? 1 / Numeral.powersOfTen[-power] : power > 0 ? 1 : 1e-22
    }

    private static func lastPower(of text: String) -> Int {
        guard let point = text.firstIndex(of: ".") else { return 0 }
        return -text.distance(from: text.index(after: point), to: text.endIndex)
    }
}

extension ReadingTrace {
    /// The compared parts of a sample, as it was received.
    public init(_ sample: Sample) {
        let conversion = (try? sample.origin.type.conversion(from: sample.unit)) ?? .identity
        let zero = conversion(0)
        let scale = conversion.isIdentity ? 1 : abs(conversion(1) - zero)
        self.init(
            start: sample.start.microseconds, duration: sample.end.microseconds - sample.start.microseconds,
            timeResolution: sample.timeResolution, isArrival: sample.timeOrigin == .receipt, value: sample.value,
            valueResolution: sample.numeral.step * scale, scale: scale, zero: zero, method: MeasuringMethod(sample.metadata))
    }
}
