import HealthModel
import Pipeline
import SampleStore

/// Holds weighings against what the person weighed before: a scale that is shared gives a 100 kg person a child's 15 kg.
///
/// Such a weighing, with all that was measured in the same frame, is nobody's until a person assigns it: it goes to
/// ``Origin/unassigned``, not into quarantine, since it is a perfectly good weight. A weight in another unit than it says (a factor of
/// 2.2 or 6.35) is no other person: repairing units is for migration.
///
/// The subject is part of a reading's identity. A reading that is known under either subject therefore stays what it is, whatever the
/// history says by now.
struct PersonHistory {
    private let store: SampleStore
    /// By subject.
    private var weights: [String: EarlierWeights] = [:]
    /// By source: whether it has weighings of nobody's.
    private var sources: [String: Bool] = [:]

    /// Earlier weighings that count.
    static let depth = 9
    private static let least = 3
    /// A year and a bit.
    private static let reach: Int64 = 400 * 86_400_000_000
    /// Pounds and stones in kilograms, and the other way round.
    private static let units = [2.20462, 6.35029, 14.0]

    private init(store: SampleStore) { self.store = store }

    /// Gives weighings that are not the person's to nobody: all that was measured with them goes along. Called inside the transaction that
    /// keeps the batch, so that nobody else stores the same weighing as another's meanwhile.
    ///
    /// - Returns: which of the batch are nobody's now.
    static func assign(_ batch: inout [GatedSample], in store: SampleStore) throws -> [Int] {
        let weighings = batch.indices.filter {
            batch[$0].sample.origin.type == .bodyMass && batch[$0].rule == nil
                && batch[$0].sample.origin.subject != Origin.unassigned
        }
        guard !weighings.isEmpty else { return [] }
        var history = PersonHistory(store: store)
        var given: [Int] = []
        // In order of time, whichever way the file is sorted: what came earlier is what a weighing is held against.
        for index in weighings.sorted(by: { (batch[$0].sample.start, $0) < (batch[$1].sample.start, $1) })
        where try history.isNobodys(batch[index].sample) {
            for member in members(of: index, in: batch) {
                guard let other = reading(batch[member].sample, of: Origin.unassigned) else { continue }
                batch[member].sample = other
                given.append(member)
            }
        }
        return given
    }

    private mutating func isNobodys(_ sample: Sample) throws -> Bool {
        // Stored as the person's before there was a history: it stays that.
        if try isAnothers(sample) { return try !store.knows(sample) }
        if try hasUnassigned(like: sample.origin), let other = Self.reading(sample, of: Origin.unassigned), try store.knows(other)
        {
            return true
        }
        weights[sample.origin.subject]?.note(sample.value, at: sample.start.microseconds)
        return false
    }

    private mutating func hasUnassigned(like origin: Origin) throws -> Bool {
        if let known = sources[origin.source.id] { return known }
        let found = try store.hasUnassigned(like: origin)
        sources[origin.source.id] = found
        return found
    }

    private mutating func isAnothers(_ sample: Sample) throws -> Bool {
        let time = sample.start.microseconds
        var recent = try weights[sample.origin.subject, default: EarlierWeights(sample.origin.subject)]
            .before(time, since: time &- Self.reach, in: store)
        guard recent.count >= Self.least else { return false }
        recent.sort()
        let median = recent[recent.count / 2]
        // Who varies so much already is no measure.
        guard median > 0, recent[0] > median * 0.75, recent[recent.count - 1] < median * 1.25 else { return false }
        let ratio = sample.value / median
        guard ratio > 0, ratio < 0.5 || ratio > 2 else { return false }
        return !Self.units.contains { abs(ratio / $0 - 1) < 0.03 || abs(ratio * $0 - 1) < 0.03 }
    }

    /// All samples of one frame.
    static func members(of index: Int, in batch: [GatedSample]) -> [Int] {
        guard let group = batch[index].sample.group else { return [index] }
        // A frame's samples stand together.
        var low = index
        var high = index
        while low > 0, batch[low - 1].sample.group == group { low -= 1 }
        while high + 1 < batch.count, batch[high + 1].sample.group == group { high += 1 }
        return Array(low...high)
    }

    /// The same reading as another person's; nil where its identity cannot be told from its fields.
    static func reading(_ sample: Sample, of subject: String) -> Sample? {
        let origin = Origin(
            subject: subject, type: sample.origin.type, source: sample.origin.source, device: sample.origin.device)
        var other = sample
        other.origin = origin
        if let record = sample.record {
            other.identity = SampleIdentity(series: origin.seriesKey, start: sample.nominalStart, record: record)
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
