import HealthModel
import Pipeline

/// A person's correction of one measurement. Everything that the correction does not name stays as it is: the end of an interval, the
/// source, the device, the seconds, and the metadata. Only the source of a client is replaced, because a client can read and delete the
/// samples of its source, and the correction is the person's.
public struct Correction: Sendable {
    /// A corrected number with its unit.
    public struct Amount: Sendable {
        /// The number as typed.
        public var numeral: Numeral
        /// The unit of the number.
        public var unit: Unit

        /// Creates an amount.
        public init(numeral: Numeral, unit: Unit) { (self.numeral, self.unit) = (numeral, unit) }
    }

    /// The metadata key of a corrected sample. Its value is the UUID of the sample that was deleted for it.
    public static let key = ReadableReferences.corrects

    /// The name of the ledger entries of a correction and of its undo.
    static let entryName = "correction"

    /// The new number of each sample. `nil` if the number stays.
    public var amounts: [Amount?]
    /// The new start with the person's offset from UTC then. `nil` if the time stays. The end moves with the start.
    public var start: (time: Instant, offset: ZoneOffset)?

    /// Creates a correction.
    public init(amounts: [Amount?], start: (time: Instant, offset: ZoneOffset)? = nil) {
        (self.amounts, self.start) = (amounts, start)
    }

    /// The corrected samples, judged by the gate.
    ///
    /// - Parameter old: The samples to correct, in the order of the amounts.
    func samples(instead old: [Sample], received: Instant) throws(Refusal) -> [GatedSample] {
        let readings = old.enumerated().map { index, sample in
            reading(instead: sample, index < amounts.count ? amounts[index] : nil, Place(.line, index + 1), received)
        }
        return try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: received)
    }

    private func reading(instead old: Sample, _ amount: Amount?, _ place: Place, _ received: Instant) -> Reading {
        let begin = start?.time ?? old.start
        let end = Instant(microseconds: begin.microseconds &+ (old.end.microseconds &- old.start.microseconds))
        let time = CompleteTime(
            start: begin, end: max(begin, end), zone: start?.offset ?? old.zone,
            nominal: begin.microseconds...max(begin, end).microseconds,
            origin: start == nil ? old.timeOrigin : .device)
        let metadata =
            (old.metadata?.entries ?? []).map { ($0.key, $0.value) } + [
                (HandEntry.enteredKey, .boolean(true)), (Self.key, .string(old.identity.description)),
            ]
        // A correction is an event of its own, so the number that did not change is not the old reading again.
        let own = UInt32(truncatingIfNeeded: old.identity.low ^ UInt64(bitPattern: received.microseconds))
        var origin = old.origin
        if ClientSource.contains(origin.source.id) {
            origin = Origin(person: origin.person, type: origin.type, source: HandEntry.source, device: origin.device)
        }
        return Reading(
            origin: origin, numeral: amount?.numeral ?? old.numeral, unit: amount?.unit ?? old.unit, time: .complete(time),
            ordinal: own & 0x3FFF_FFFF | 0x4000_0000, group: old.group.map { .shared($0) } ?? .none,
            metadata: Metadata(metadata), body: old.body, timeResolution: old.timeResolution, place: place)
    }
}

/// The reason why a correction was not made. Nothing was stored or deleted.
public enum CorrectionError: Error, Hashable, Sendable {
    /// The gate would quarantine the new value.
    case quarantined
    /// The new value is already stored, or was deleted.
    case duplicate
    /// The store does not accept the reading.
    case refused
}

extension SampleStore.Samples {
    /// Returns the samples that a person corrects together: both pressures of one measurement, or else the sample alone.
    public func correctable(with sample: Sample) throws -> [Sample] {
        let pressures = [SampleType.bloodPressureSystolic, .bloodPressureDiastolic]
        guard pressures.contains(sample.origin.type) else { return [sample] }
        let members = try store.people.together(with: sample)
        let found = pressures.compactMap { type in
            members.first { $0.origin.type == type && $0.origin.source.id == sample.origin.source.id }
        }
        return found.count == 2 ? found : [sample]
    }

    /// Corrects samples in one transaction: deletes them, and stores corrected copies, each with the UUID of the old one in its metadata.
    ///
    /// - Parameter uuids: The samples to correct, one for each amount of the correction.
    /// - Throws: ``CorrectionError``, ``Refusal``, or ``StoreError``. Then nothing is changed.
    public func correct(_ uuids: [SampleIdentity], with correction: Correction, received: Instant) throws -> HandResult {
        try store.resumePending()
        let old = try uuids.map { uuid -> Sample in
            guard let sample = try sample(uuid)?.sample else { throw StoreError(.invalid, "there is no sample \(uuid)") }
            return sample
        }
        let samples = try correction.samples(instead: old, received: received)
        do {
            return try connection.transaction {
                // The old samples are deleted first, so that the new ones are not compared with them.
                try delete(
                    uuids,
                    description: IngestDescription(kind: .delete, name: Correction.entryName, received: received.microseconds))
                // A person decided on the value, so no other reading replaces it.
                var description = IngestDescription(
                    kind: .import, name: Correction.entryName, received: received.microseconds, comparesPaths: false)
                description.linksCopies = true
                let result = try add(samples, as: description)
                for outcome in result.outcomes {
                    switch outcome {
                    case .stored: continue
                    case .duplicate: throw CorrectionError.duplicate
                    case .quarantined: throw CorrectionError.quarantined
                    case .refused: throw CorrectionError.refused
                    }
                }
                return result
            }
        } catch {
            // The shared rows that the transaction created were rolled back too.
            store.interner.forget()
            throw error
        }
    }

    /// Undoes a correction in one transaction: deletes the new samples and restores the old ones.
    ///
    /// - Parameter uuid: A sample that a correction stored.
    /// - Returns: The restored samples.
    /// - Throws: ``StoreError`` if the sample is not a correction. Then nothing is changed.
    @discardableResult
    public func undoCorrection(_ uuid: SampleIdentity, received: Instant) throws -> [SampleIdentity] {
        guard let sample = try sample(uuid)?.sample, sample.corrected != nil else {
            throw StoreError(.invalid, "this sample is not a correction")
        }
        let new = try correctable(with: sample).filter { $0.corrected != nil }
        let old = new.compactMap(\.corrected)
        let rule = ReferenceRule(of: sample.origin)
        // The UUID is metadata, which a file can contain as well. It leads to the person's own samples only.
        for uuid in old
        where try !keys(of: uuid, among: .tombstones).contains(where: { try connection.series.permits($0, by: rule) }) {
            throw Self.notRestorable(uuid)
        }
        func description(_ kind: IngestKind) -> IngestDescription {
            IngestDescription(kind: kind, name: Correction.entryName, received: received.microseconds)
        }
        try store.resumePending()
        do {
            try connection.transaction {
                try delete(new.map(\.identity), description: description(.delete))
                try restore(old, description: description(.restore))
            }
        } catch {
            store.interner.forget()
            throw error
        }
        return old
    }
}

extension Sample {
    /// The sample that was deleted for this one, if this one is a correction.
    public var corrected: SampleIdentity? {
        guard case .string(let text)? = metadata?[Correction.key] else { return nil }
        return SampleIdentity(text)
    }
}
