import HealthModel
import Pipeline
import SampleStore

/// Decides what identifies each measurement of a batch: its timestamp, or what stands in for a timestamp that is not trusted.
///
/// | clock | the device numbers its records | it has no numbers |
/// |---|---|---|
/// | trusted | the timestamp | the timestamp |
/// | trusted, but other values have the timestamp | the number | the values, or the receipt if the clock was corrected |
/// | not trusted | the number | the receipt; the timestamp for a record of a memory that may be read again |
///
/// A measurement that the store has under another of these keeps that one: a quarantined record has the identity it was quarantined with. All
/// values of a measurement have the same kind of identity, so that it is stored, quarantined, or a duplicate as a whole.
///
/// Called inside the transaction that stores the batch.
struct MeasurementIdentity {
    private struct Known {
        var number: Int64?
        var start: Instant
        var received: Instant
        var group: UInt64?
        var isDevices: Bool

        init(_ sample: Sample) {
            number = MeasurementIdentity.number(of: sample)
            (start, received, group) = (sample.start, sample.received, sample.group)
            isDevices = sample.timeOrigin == .device
        }
    }

    private let store: SampleStore
    /// The batch's measurements before they are stored.
    private var assigned: [SampleIdentity: Known] = [:]
    private var types: [UInt64: Set<SampleType>] = [:]

    private init(store: SampleStore) { self.store = store }

    /// Gives each measurement with a device's timestamp its identity.
    static func resolve(_ batch: inout [GatedSample], in store: SampleStore) throws {
        var identity = MeasurementIdentity(store: store)
        var index = 0
        while index < batch.count {
            let members = members(from: index, in: batch)
            index = members.upperBound
            guard let evidence = batch[members.lowerBound].stamp else { continue }
            if let substitute = try identity.substitute(for: batch[members], evidence) {
                rename(&batch, members, substitute)
            }
            for member in members {
                let sample = batch[member].sample
                identity.assigned[sample.identity] = Known(sample)
                if let group = sample.group { identity.types[group, default: []].insert(sample.origin.type) }
            }
        }
    }

    /// The number that a device gave the record, if it gave one.
    static func number(of sample: borrowing Sample) -> Int64? {
        guard case .number(let numeral)? = sample.metadata?["sequenceNumber"] else { return nil }
        return Int64(numeral.canonicalText)
    }

    /// What stands in for the timestamp; `nil` if the timestamp is the identity.
    private func substitute(
        for frame: ArraySlice<GatedSample>, _ evidence: StampEvidence
    ) throws -> IdentitySubstitute? {
        guard frame.allSatisfy({ $0.sample.record == nil }) else { return nil }
        if let number = evidence.number {
            if evidence.isTrusted {
                let known = try known(frame, as: nil)
                // The device has all its values at that moment, because some devices number their records again.
                if known.count == frame.count, known.allSatisfy({ $0.group == known.first?.group }) { return nil }
            }
            let order: [IdentitySubstitute?] = evidence.isTrusted ? [nil, .record(number)] : [.record(number), nil]
            for candidate in order {
                let known = try known(frame, as: candidate)
                if let one = known.first, one.number ?? number == number { return candidate }
            }
            for candidate in order where try known(frame, as: candidate).isEmpty { return candidate }
            return .record(number)
        }
        // It keeps the identity of the first time, also if its clock is known now.
        if let first = evidence.first, try !known(frame, as: .receipt(first)).isEmpty { return .receipt(first) }
        let known = try known(frame, as: nil)
        guard let one = known.first else {
            return evidence.isTrusted ? nil : evidence.receipt.map { .receipt($0) }
        }
        if let receipt = evidence.receipt {
            let apart = (receipt.microseconds &- one.received.microseconds).magnitude
            if !evidence.isTrusted {
                // The same values with the same timestamp are a repetition, whenever they are sent.
                let isSame = known.count == frame.count && known.allSatisfy { $0.isDevices && $0.group == one.group }
                return isSame ? nil : .receipt(receipt)
            }
            // It arrived when it was taken, and the clock showed the same time before.
            let isCorrected = frame.first?.sample.timeOrigin == .deviceCorrected
            if evidence.isFresh, isCorrected, apart >= UInt64(StampTrust.fresh) { return .receipt(receipt) }
        }
        return try isAnother(frame, known) ? .content(Self.content(of: frame.lazy.map(\.sample))) : nil
    }

    /// Whether the store has another measurement of the same timestamp, with some of the values.
    private func isAnother(_ frame: ArraySlice<GatedSample>, _ known: [Known]) throws -> Bool {
        guard frame.count > 1, let one = known.first, let group = one.group else { return false }
        if known.count == frame.count { return known.contains { $0.group != group } }
        for gated in frame where try self.known(gated.sample) == nil {
            if types[group]?.contains(gated.sample.origin.type) == true { return true }
            if try store.samples.hasOther(than: gated.sample, at: one.start, group: group) { return true }
        }
        return false
    }

    private func known(_ frame: ArraySlice<GatedSample>, as substitute: IdentitySubstitute?) throws -> [Known] {
        try frame.compactMap { try known(Self.renamed($0.sample, substitute)) }
    }

    private func known(_ sample: Sample) throws -> Known? {
        if let known = assigned[sample.identity] { return known }
        return try store.samples.taken(as: sample).map { Known($0) }
    }

    /// A digest of all values of a measurement, whatever their order.
    static func content(of samples: some Sequence<Sample>) -> UInt64 {
        StableHash.hash(
            samples.map { "\($0.origin.type.id) \($0.numeral.canonicalText) \($0.unit.code)\n" }.sorted().joined())
    }

    static func renamed(_ sample: Sample, _ substitute: IdentitySubstitute?) -> Sample {
        guard let substitute else { return sample }
        var other = sample
        let ordinal = substitute.ordinal(sample.ordinal ?? 0)
        other.ordinal = ordinal
        other.identity = SampleIdentity(
            series: sample.origin.seriesKey, start: sample.nominalStart,
            end: sample.nominalStart &+ (sample.end.microseconds &- sample.start.microseconds), numeral: sample.numeral,
            unit: sample.unit, ordinal: ordinal, method: sample.method)
        return other
    }

    private static func rename(_ batch: inout [GatedSample], _ members: Range<Int>, _ substitute: IdentitySubstitute) {
        var group: UInt64 = 0
        for member in members {
            batch[member].sample = renamed(batch[member].sample, substitute)
            group ^= batch[member].sample.identity.low
        }
        for member in members where batch[member].sample.group != nil { batch[member].sample.group = max(group, 1) }
    }

    /// The samples of one frame: those that follow one another with one place and one group.
    private static func members(from index: Int, in batch: [GatedSample]) -> Range<Int> {
        guard let group = batch[index].sample.group else { return index..<index + 1 }
        var end = index + 1
        while end < batch.count, batch[end].sample.group == group, batch[end].place == batch[index].place { end += 1 }
        return index..<end
    }
}
