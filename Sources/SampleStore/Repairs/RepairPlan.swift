import HealthModel

/// A request for a repair.
public struct RepairRequest: Sendable {
    /// The conditions for the samples to repair.
    public var conditions: SampleConditions
    public var repair: Repair
    /// Whether to repair samples that could be right as they are, so that only the conditions decide.
    public var takesAmbiguous: Bool
    /// The current time of the hub's clock.
    public var now: Instant
    /// The change numbers of the samples to repair, or `nil` for all.
    public var changes: ClosedRange<Int64>?
    /// The receive times of the samples to repair, in microseconds since 1970, or `nil` for all.
    public var received: ClosedRange<Int64>?
    /// Whether a shift also moves the receive time, because the hub's own clock was wrong.
    public var movesReceipt = false
    /// What happens to a sample if the correct reading already exists outside the repair.
    public var merging = Merging.atMost(0)

    /// Whether samples are merged. A merged sample is replaced by the existing reading, so there is one reading fewer.
    public enum Merging: Sendable {
        /// At most this many samples are merged. If there would be more, nothing is changed.
        case atMost(Int)
        /// No samples are merged. Each becomes a reading of its own.
        case never
    }

    /// Creates a request.
    public init(_ repair: Repair, of conditions: SampleConditions, takesAmbiguous: Bool = false, now: Instant) {
        self.repair = repair
        self.conditions = conditions
        self.takesAmbiguous = takesAmbiguous
        self.now = now
    }
}

extension RepairRequest {
    func allows(_ plan: RepairPlan) -> Bool {
        if case .atMost(let limit) = merging { plan.merged <= limit } else { true }
    }
}

/// The error if a repair would merge more readings than allowed. Nothing was changed.
public struct FewerReadings: Error, CustomStringConvertible {
    /// The plan of the repair.
    public let plan: RepairPlan

    /// The message for the user, with a solution.
    public var description: String {
        "correct copies of \(plan.merged) of \(plan.matched) samples are already stored, so the repair would remove \(plan.merged): "
            + "nothing was changed, use 'vitalgate repair apply' with --merge to continue"
    }
}

/// The result or preview of a repair: counts and examples.
public struct RepairPlan: Sendable {
    /// A sample before and after the repair.
    public struct Example: Sendable {
        public var before: Sample
        public var after: Sample
    }

    /// The number of samples that match the conditions.
    public var matched = 0
    /// The number of samples that are replaced by a repaired one.
    public var repaired = 0
    /// The number of samples that are replaced by a correct reading that already exists. The total number of readings falls by this count.
    public var merged = 0
    /// The number of repaired samples that another path reported as well, so that both are one measurement now. Known once the repair is
    /// applied.
    public var joined = 0
    /// The number of samples that stay unchanged, by reason.
    public var left: [RepairReason: Int] = [:]
    /// The values of all matching samples before and after the repair, by type.
    public var before: [SampleType: Histogram] = [:]
    public var after: [SampleType: Histogram] = [:]
    /// The first few examples, and some from further on.
    public var examples: [Example] = []

    /// Returns the number of unchanged samples in a group of reasons.
    public func left(_ group: RepairReason.Group) -> Int {
        left.reduce(0) { $0 + ($1.key.group == group ? $1.value : 0) }
    }

    static let maximumExamples = 10

    /// Keeps up to ten examples that are spread over all samples. When the list is full, every second example is removed and the stride
    /// doubles.
    mutating func consider(_ example: @autoclosure () -> Example, stride: inout Int) {
        guard repaired % stride == 0 else { return }
        if examples.count == Self.maximumExamples {
            examples = examples.indices.filter { $0 % 2 == 0 }.map { examples[$0] }
            stride *= 2
            guard repaired % stride == 0 else { return }
        }
        examples.append(example())
    }
}

/// A histogram with bins of equal width. The width is a power of two and doubles when there would be too many bins.
public struct Histogram: Hashable, Sendable {
    /// The counts by bin number. Bin `n` begins at `n × width`.
    public private(set) var bins: [Int: Int] = [:]
    /// The width of a bin.
    public private(set) var width: Double
    public private(set) var count = 0

    static let maximumBins = 64

    /// Creates an empty histogram.
    public init(width: Double = 1.0 / 64) { self.width = width }

    /// Counts a value.
    public mutating func add(_ value: Double) {
        guard value.isFinite else { return }
        while (value / width).magnitude > 1e15 { widen() }
        bins[Int((value / width).rounded(.down)), default: 0] += 1
        count += 1
        while bins.count > Self.maximumBins { widen() }
    }

    private mutating func widen() {
        width *= 2
        var wider: [Int: Int] = [:]
        for (bin, count) in bins { wider[Int((Double(bin) / 2).rounded(.down)), default: 0] += count }
        bins = wider
    }

    /// Returns at most `limit` adjacent intervals from the lowest to the highest value, with the counts of two histograms.
    public static func commonBins(
        _ one: Histogram, _ other: Histogram, limit: Int
    ) -> [(from: Double, to: Double, one: Int, other: Int)] {
        var (one, other) = (one, other)
        while one.width < other.width { one.widen() }
        while other.width < one.width { other.widen() }
        func span() -> ClosedRange<Int>? {
            let bins = Array(one.bins.keys) + Array(other.bins.keys)
            guard let low = bins.min(), let high = bins.max() else { return nil }
            return low...high
        }
        while let bins = span(), bins.count > max(2, limit) {
            one.widen()
            other.widen()
        }
        return span()?.map { bin in
            (Double(bin) * one.width, Double(bin + 1) * one.width, one.bins[bin] ?? 0, other.bins[bin] ?? 0)
        } ?? []
    }
}
