import HealthModel
import Pipeline
import SampleStore

/// Compares weighings with the person's earlier weights. A shared scale may assign a child's 15 kg to a 100 kg person.
///
/// A weighing of someone else, with everything measured in the same frame, goes to ``Origin/unassigned`` until the user assigns
/// it. It is not quarantined because the weight itself is valid. A weight in a wrong unit (a factor of 2.2 or 6.35) does not
/// indicate another person: units are corrected by repairs.
///
/// There are two rules, depending on the person's last nine weights:
///
/// - At least three, within 25 % of one another: a weight of less than half or more than twice their median belongs to someone
///   else. If the last is more than a month old, the limits are a quarter and four times.
/// - Fewer, or weights of two people: two weights within a week, one more than twice the other, belong to two people. The group
///   of at least three that is twice as large as the other is the person's. If neither is and each has at least two weighings, the
///   heavier one is. Otherwise nothing is decided, because a single weighing may be a guest or a mistake. ``EarlierMistakes``
///   takes earlier weights of the other group from the person.
///
/// A reading whose source names its person (``Origin/namesPerson``) is not compared.
///
/// A body does not halve or double its weight within a week, so real changes stay with the person.
///
/// The subject is part of a reading's identity, and only readings of one subject are compared. A reading that is already stored under
/// either subject therefore keeps it, even if the history has changed or a user has assigned it since, and so does a second report of a
/// measurement that another source reported.
struct PersonHistory {
    private let store: SampleStore
    private var weights: [String: EarlierWeights] = [:]
    /// Mistakes in the history of people that shows someone else.
    private var mistakes: [EarlierMistakes] = []
    private var hasUnassignedWeighings: Bool?
    private let comparesPaths: Bool

    /// The number of earlier weighings that count.
    static let depth = 9
    private static let least = 3
    /// A little more than a year, in microseconds.
    private static let reach: Int64 = 400 * 86_400_000_000
    private static let month = 30 * Calendar.day
    /// A time in microseconds within which a body does not double its weight.
    static let week = 7 * Calendar.day
    /// The ratios of pounds, stones and kilograms.
    private static let units = [2.20462, 6.35029, 14.0]

    private init(store: SampleStore, comparesPaths: Bool) {
        self.store = store
        self.comparesPaths = comparesPaths
    }

    /// Assigns weighings that are not the person's to ``Origin/unassigned``, with everything measured in the same frame. Called
    /// inside the transaction that stores the batch, so that no other process can store the same weighing for someone else at the
    /// same time.
    ///
    /// - Parameter comparesPaths: whether reports of other sources are compared.
    /// - Returns: the indices of readings that are now unassigned, and the earlier weighings to repair once the batch is stored.
    static func assign(
        _ batch: inout [GatedSample], in store: SampleStore, comparesPaths: Bool = true
    ) throws -> (unassigned: [Int], mistakes: [EarlierMistakes]) {
        let weighings = batch.indices.filter {
            batch[$0].sample.origin.type == .bodyMass && batch[$0].rule == nil
                && batch[$0].sample.origin.person != Origin.unassigned && !batch[$0].sample.origin.namesPerson
        }
        guard !weighings.isEmpty else { return ([], []) }
        var history = PersonHistory(store: store, comparesPaths: comparesPaths)
        var given: [Int] = []
        // Sorted by time, whatever the order of the file, because a weighing is compared with earlier ones.
        for index in weighings.sorted(by: { (batch[$0].sample.start, $0) < (batch[$1].sample.start, $1) })
        where try history.isUnassigned(batch[index].sample) {
            for member in members(of: index, in: batch) {
                guard let other = reading(batch[member].sample, of: Origin.unassigned) else { continue }
                batch[member].sample = other
                given.append(member)
            }
        }
        return (given, history.mistakes)
    }

    private mutating func isUnassigned(_ sample: Sample) throws -> Bool {
        // A weighing stored for the person before there was a history keeps its owner.
        if try isAnothers(sample) { return try !isKnown(sample) }
        if try hasUnassigned(), let other = Self.reading(sample, of: Origin.unassigned), try isKnown(other) { return true }
        weights[sample.origin.person]?.note(sample.value, at: sample.start.microseconds)
        return false
    }

    /// Whether the store has the reading, or another report of its measurement.
    private func isKnown(_ sample: Sample) throws -> Bool {
        try store.samples.knows(sample) || comparesPaths && store.duplicates.hasReport(of: sample)
    }

    private mutating func hasUnassigned() throws -> Bool {
        if let known = hasUnassignedWeighings { return known }
        let found = try store.samples.hasUnassigned(.bodyMass)
        hasUnassignedWeighings = found
        return found
    }

    private mutating func isAnothers(_ sample: Sample) throws -> Bool {
        let time = sample.start.microseconds
        let recent = try weights[sample.origin.person, default: EarlierWeights(sample.origin.person)]
            .before(time, since: time &- Self.reach, in: store)
        guard let last = recent.last else { return false }
        let sorted = recent.map(\.value).sorted()
        let median = sorted[sorted.count / 2]
        if recent.count >= Self.least, sorted[0] > median * 0.75, sorted[sorted.count - 1] < median * 1.25 {
            return Self.areIncompatible(sample.value, median, by: time &- last.time <= Self.month ? 2 : 4)
        }
        let rivals = recent.filter { time &- $0.time <= Self.week && Self.areIncompatible(sample.value, $0.value) }.map(\.value)
            .sorted()
        guard !rivals.isEmpty else { return false }
        let others = recent.count { Self.areIncompatible(sample.value, $0.value) }
        guard let isRivals = Self.isRivals(others, own: recent.count - others + 1, rivals[rivals.count / 2] > sample.value)
        else { return false }
        guard !isRivals else { return true }
        mistakes.removeAll { $0.person == sample.origin.person }
        mistakes.append(EarlierMistakes(person: sample.origin.person, weight: sample.value, time: time))
        return false
    }

    /// Whether a weight is not the person's, of two groups of weights that cannot be of one body. `nil` if nobody can know.
    private static func isRivals(_ others: Int, own: Int, _ isLighter: Bool) -> Bool? {
        if others >= max(least, 2 * own) { return true }
        if own >= max(least, 2 * others) { return false }
        return min(others, own) < 2 ? nil : isLighter
    }

    /// Whether two weights at near times cannot be of one body.
    static func areIncompatible(_ one: Double, _ other: Double, by factor: Double = 2) -> Bool {
        guard one > 0, other > 0 else { return false }
        let ratio = one / other
        guard ratio < 1 / factor || ratio > factor else { return false }
        return !units.contains { abs(ratio / $0 - 1) < 0.03 || abs(ratio * $0 - 1) < 0.03 }
    }

    /// Returns the indices of all samples of one frame.
    static func members(of index: Int, in batch: [GatedSample]) -> [Int] {
        guard let group = batch[index].sample.group else { return [index] }
        // The samples of a frame are adjacent.
        var low = index
        var high = index
        while low > 0, batch[low - 1].sample.group == group { low -= 1 }
        while high + 1 < batch.count, batch[high + 1].sample.group == group { high += 1 }
        return Array(low...high)
    }

    /// Returns the same reading for another person, or `nil` if its identity cannot be computed from its fields.
    static func reading(_ sample: Sample, of person: String) -> Sample? {
        let origin = Origin(
            person: person, type: sample.origin.type, source: sample.origin.source, device: sample.origin.device)
        var other = sample
        other.origin = origin
        if let record = sample.record {
            other.identity = SampleIdentity(
                series: origin.seriesKey, start: sample.nominalStart, record: record, numeral: sample.numeral, unit: sample.unit)
        } else {
            guard let ordinal = sample.identityOrdinal() else { return nil }
            let end = sample.nominalStart + (sample.end.microseconds - sample.start.microseconds)
            other.identity = SampleIdentity(
                series: origin.seriesKey, start: sample.nominalStart, end: end, numeral: sample.numeral, unit: sample.unit,
                ordinal: ordinal, method: sample.method)
        }
        return other
    }
}
