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
    /// By subject: earlier weights in order of time.
    private var weights: [String: [(time: Int64, value: Double)]] = [:]

    /// Earlier weighings that count.
    private static let depth = 9
    private static let least = 3
    /// A year and a bit.
    private static let reach: Int64 = 400 * 86_400_000_000
    /// Pounds and stones in kilograms, and the other way round.
    private static let units = [2.20462, 6.35029, 14.0]

    init(store: SampleStore) { self.store = store }

    /// Gives weighings that are not the person's to nobody.
    mutating func assign(_ batch: inout [GatedSample], from first: Int = 0) throws {
        for index in first..<batch.count where batch[index].sample.origin.type == .bodyMass {
            guard batch[index].rule == nil, batch[index].sample.origin.subject != Origin.unassigned else { continue }
            let sample = batch[index].sample
            let members = Self.members(of: index, in: batch)
            if try isAnothers(sample) {
                // Stored as the person's before there was a history: it stays that.
                if try store.knows(sample) { continue }
                for member in members { Self.unassign(&batch[member].sample) }
            } else {
                if try store.hasUnassigned(like: sample.origin), let other = Self.unassigned(sample),
                    try store.knows(other)
                {
                    for member in members { Self.unassign(&batch[member].sample) }
                    continue
                }
                note(sample)
            }
        }
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

    private mutating func isAnothers(_ sample: QuantitySample) throws -> Bool {
        let time = sample.start.microseconds
        let known = try earlier(sample.origin.subject)
        var recent: [Double] = []
        for weight in known.reversed() where weight.time < time && weight.time > time - Self.reach {
            recent.append(weight.value)
            if recent.count == Self.depth { break }
        }
        guard recent.count >= Self.least else { return false }
        recent.sort()
        let median = recent[recent.count / 2]
        // Who varies so much already is no measure.
        guard median > 0, recent[0] > median * 0.75, recent[recent.count - 1] < median * 1.25 else { return false }
        let ratio = sample.value / median
        guard ratio > 0, ratio < 0.5 || ratio > 2 else { return false }
        return !Self.units.contains { abs(ratio / $0 - 1) < 0.03 || abs(ratio * $0 - 1) < 0.03 }
    }

    /// What the store has, and what came since.
    private mutating func earlier(_ subject: String) throws -> [(time: Int64, value: Double)] {
        if let known = weights[subject] { return known }
        let cursor = try store.samples(matching: SampleQuery(types: [.bodyMass], subject: subject))
        defer { cursor.close() }
        var found: [(time: Int64, value: Double)] = []
        while let next = try cursor.next() { found.append((next.sample.start.microseconds, next.sample.value)) }
        weights[subject] = found
        return found
    }

    private mutating func note(_ sample: QuantitySample) {
        let time = sample.start.microseconds
        guard var known = weights[sample.origin.subject] else { return }
        // Files are mostly in order.
        let place = known.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        known.insert((time, sample.value), at: place)
        weights[sample.origin.subject] = known
    }

    private static func unassign(_ sample: inout QuantitySample) {
        guard let other = unassigned(sample) else { return }
        sample = other
    }

    private static func unassigned(_ sample: QuantitySample) -> QuantitySample? { reading(sample, of: Origin.unassigned) }

    /// The same reading as another person's; nil where its identity cannot be told from its fields.
    static func reading(_ sample: QuantitySample, of subject: String) -> QuantitySample? {
        let origin = Origin(
            subject: subject, type: sample.origin.type, source: sample.origin.source, device: sample.origin.device)
        let end = sample.nominalStart + (sample.end.microseconds - sample.start.microseconds)
        func identity(_ origin: Origin, _ ordinal: UInt32) -> SampleIdentity {
            if let record = sample.record {
                return SampleIdentity(series: origin.seriesKey, start: sample.nominalStart, record: record)
            }
            return SampleIdentity(
                series: origin.seriesKey, start: sample.nominalStart, end: end, numeral: sample.numeral, unit: sample.unit,
                ordinal: ordinal)
        }
        // The ordinal is not kept with a sample; it is found by the identity that it gave.
        let ordinals = (0..<16).flatMap { [UInt32($0), UInt32($0) | 0x8000_0000] }
        guard let ordinal = ordinals.first(where: { identity(sample.origin, $0) == sample.identity }) else { return nil }
        var other = sample
        other.origin = origin
        other.identity = identity(origin, ordinal)
        return other
    }
}
