import HealthModel

/// What to repair, and how.
public struct MigrationRequest: Sendable {
    /// Which samples.
    public var conditions: SampleConditions
    public var repair: Repair
    /// Repairs also samples that could be right as they are: the conditions alone decide.
    public var takesAmbiguous: Bool
    /// By the hub's clock.
    public var now: Instant
    /// Only samples that came with one of these changes.
    public var changes: ClosedRange<Int64>?
    /// Only samples that were received in this stretch, microseconds since 1970.
    public var received: ClosedRange<Int64>?
    /// Whether a shift moves the time of receipt with it: it was our own clock that was wrong.
    public var movesReceipt = false
    /// What becomes of a sample whose reading stands outside the repair already, read rightly.
    public var merging = Merging.atMost(0)

    /// A merged sample makes way for the reading that is there, so that there is one reading fewer.
    public enum Merging: Sendable {
        /// So many are merged; where there would be more, nothing is done.
        case atMost(Int)
        /// None: it becomes a reading of its own.
        case never
    }

    /// Describes a repair.
    public init(_ repair: Repair, of conditions: SampleConditions, takesAmbiguous: Bool = false, now: Instant) {
        self.repair = repair
        self.conditions = conditions
        self.takesAmbiguous = takesAmbiguous
        self.now = now
    }
}

extension MigrationRequest {
    func allows(_ plan: MigrationPlan) -> Bool {
        if case .atMost(let limit) = merging { plan.merged <= limit } else { true }
    }
}

/// A repair would make fewer readings than it was allowed to. Nothing was changed.
public struct FewerReadings: Error, CustomStringConvertible {
    /// What it would do.
    public let plan: MigrationPlan

    /// What a person can do about it.
    public var description: String {
        "the same reading as \(plan.merged) of \(plan.matched) is there in the right form already, so that there would be \(plan.merged) fewer; "
            + "nothing is changed, and 'vitalgate migrate apply' with --merge goes on"
    }
}

/// What a repair would do, or did: counted, with examples.
public struct MigrationPlan: Sendable {
    /// One sample before and after.
    public struct Example: Sendable {
        public var before: Sample
        public var after: Sample
    }

    /// Samples that meet the conditions.
    public var matched = 0
    /// Samples that get a repaired one in their place.
    public var repaired = 0
    /// Samples whose reading stands outside the repair already, read rightly: that one takes their place, and there are so many fewer.
    public var merged = 0
    /// Samples that stay as they are, and why.
    public var left: [RepairReason: Int] = [:]
    /// The values of all that was matched, of each type apart, as they are and as they would be.
    public var before: [SampleType: Histogram] = [:]
    public var after: [SampleType: Histogram] = [:]
    /// The first few, and then some from further on.
    public var examples: [Example] = []

    /// How many are left for reasons of one kind.
    public func left(_ group: RepairReason.Group) -> Int {
        left.reduce(0) { $0 + ($1.key.group == group ? $1.value : 0) }
    }

    static let maximumExamples = 10

    /// Keeps ten that are spread over all: whenever the list is full, every second goes and half as many of what comes are looked at.
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

/// How many values lie where: bins of one width, a power of two, that doubles when there would be too many.
public struct Histogram: Hashable, Sendable {
    /// From a bin's number to how many values it holds; bin `n` goes from `n × width` on.
    public private(set) var bins: [Int: Int] = [:]
    /// How wide a bin is.
    public private(set) var width: Double
    public private(set) var count = 0

    static let maximumBins = 64

    /// Nothing yet, in narrow bins.
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

    /// At most so many neighbouring stretches from the lowest value to the highest: where each begins and ends, and how many of each of
    /// two collections it holds.
    public static func stretches(
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
