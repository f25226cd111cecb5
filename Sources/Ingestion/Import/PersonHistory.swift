import HealthModel
import Pipeline
import SampleStore

/// Compares weighings with what the person weighed before: a scale that is shared gives a 100 kg person a child's 15 kg.
///
/// A weighing of somebody else, with all that was measured in the same frame, is nobody's until a person assigns it: it goes to
/// ``Origin/unassigned``, not into quarantine, since it is a perfectly good weight. A weight in another unit than it says (a factor of
/// 2.2 or 6.35) is no other person: repairing units is for migration.
///
/// Two rules, by what the person's last nine weights are:
///
/// - Three at least, within 25 % of one another: a weight of less than half or more than twice their median is somebody else's; of less than a quarter or more
///   than four times if the last is more than a month old.
/// - Fewer, or those of two people: two weights within a week, one more than twice the other, are of two people. The group of at least three that is twice as
///   large as the other is the person's, else the heavier one. ``EarlierMistakes`` takes earlier weights of the other from the person.
///
/// No body halves or doubles its weight in a week, so that no real change is taken from a person.
///
/// The subject is part of a reading's identity. A reading that is known under either subject therefore stays what it is, whatever the
/// history says by now.
struct PersonHistory {
    private let store: SampleStore
    /// By subject.
    private var weights: [String: EarlierWeights] = [:]
    /// Of people whose history shows somebody else.
    private var mistakes: [EarlierMistakes] = []
    /// By source: whether it has weighings of nobody's.
    private var sources: [String: Bool] = [:]

    /// Earlier weighings that count.
    static let depth = 9
    private static let least = 3
    /// A year and a bit.
    private static let reach: Int64 = 400 * 86_400_000_000
    private static let month = 30 * Calendar.day
    /// Within it no body doubles its weight.
    static let week = 7 * Calendar.day
    /// Pounds and stones in kilograms, and the other way round.
    private static let units = [2.20462, 6.35029, 14.0]

    private init(store: SampleStore) { self.store = store }

    /// Gives weighings that are not the person's to nobody: all that was measured with them goes along. Called inside the transaction that
    /// keeps the batch, so that nobody else stores the same weighing as another's meanwhile.
    ///
    /// - Returns: which of the batch are nobody's now, and what is to be repaired of earlier weighings once the batch is stored.
    static func assign(
        _ batch: inout [GatedSample], in store: SampleStore
    ) throws -> (nobodys: [Int], mistakes: [EarlierMistakes]) {
        let weighings = batch.indices.filter {
            batch[$0].sample.origin.type == .bodyMass && batch[$0].rule == nil
                && batch[$0].sample.origin.subject != Origin.unassigned
        }
        guard !weighings.isEmpty else { return ([], []) }
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
        return (given, history.mistakes)
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
        let recent = try weights[sample.origin.subject, default: EarlierWeights(sample.origin.subject)]
            .before(time, since: time &- Self.reach, in: store)
        guard let last = recent.last else { return false }
        let sorted = recent.map(\.value).sorted()
        let median = sorted[sorted.count / 2]
        if recent.count >= Self.least, sorted[0] > median * 0.75, sorted[sorted.count - 1] < median * 1.25 {
            return Self.isApart(sample.value, median, by: time &- last.time <= Self.month ? 2 : 4)
        }
        let rivals = recent.filter { time &- $0.time <= Self.week && Self.isApart(sample.value, $0.value) }.map(\.value).sorted()
        guard !rivals.isEmpty else { return false }
        let others = recent.count { Self.isApart(sample.value, $0.value) }
        let isRivals =
            if others >= max(Self.least, 2 * (recent.count - others)) {
                true
            } else if recent.count - others >= max(Self.least, 2 * others) {
                false
            } else {
                rivals[rivals.count / 2] > sample.value
            }
        guard !isRivals else { return true }
        mistakes.removeAll { $0.subject == sample.origin.subject }
        mistakes.append(EarlierMistakes(subject: sample.origin.subject, weight: sample.value, time: time))
        return false
    }

    /// Whether two weights are not one body's, at times that are near enough.
    static func isApart(_ one: Double, _ other: Double, by factor: Double = 2) -> Bool {
        guard one > 0, other > 0 else { return false }
        let ratio = one / other
        guard ratio < 1 / factor || ratio > factor else { return false }
        return !units.contains { abs(ratio / $0 - 1) < 0.03 || abs(ratio * $0 - 1) < 0.03 }
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
