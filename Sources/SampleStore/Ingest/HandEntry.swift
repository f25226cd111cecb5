import HealthModel
import Pipeline

/// A reading that a person types: one amount, or the two pressures of a blood pressure.
public struct HandEntry: Sendable {
    /// A number with its type and unit.
    public struct Amount: Sendable {
        /// The type.
        public var type: SampleType
        /// The number as typed.
        public var numeral: Numeral
        /// The unit of the number.
        public var unit: Unit

        /// Creates an amount.
        public init(type: SampleType, numeral: Numeral, unit: Unit) {
            (self.type, self.numeral, self.unit) = (type, numeral, unit)
        }
    }

    /// The source of readings by hand. It is part of their identity.
    public static let source = SourceRevision(id: "vitalgate.hand", name: "Entered by hand", version: nil)
    /// The metadata key of a correction. Its value is the UUID of the sample that was deleted for it.
    public static let correctsKey = "corrects"

    /// The person.
    public var subject: String
    /// The amounts of one measurement.
    public var amounts: [Amount]
    /// The time of the measurement.
    public var time: Instant
    /// The person's time zone.
    public var zone: TimeZoneRules

    /// Creates an entry.
    public init(subject: String, amounts: [Amount], time: Instant, zone: TimeZoneRules) {
        (self.subject, self.amounts, self.time, self.zone) = (subject, amounts, time, zone)
    }

    /// The samples of the entry, judged by the gate.
    ///
    /// - Parameter corrected: The samples that the amounts correct, in their order.
    fileprivate func samples(received: Instant, correcting corrected: [SampleIdentity]) throws(Refusal) -> [GatedSample] {
        let readings = amounts.enumerated().map { index, amount in
            var metadata: [(String, MetadataValue)] = [("wasUserEntered", .boolean(true))]
            if index < corrected.count { metadata.append((Self.correctsKey, .string(corrected[index].description))) }
            return Reading(
                origin: Origin(subject: subject, type: amount.type, source: Self.source, device: nil), numeral: amount.numeral,
                unit: amount.unit, time: .instants(start: time, end: time, offset: zone.offset(at: time)),
                group: amounts.count > 1 ? .frame : .none, metadata: Metadata(metadata), place: Place(.line, index + 1))
        }
        return try ReadingPath.samples(of: readings, zone: zone, received: received)
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
    /// The result of an entry.
    public struct HandResult: Sendable {
        /// The samples, one for each amount.
        public var samples: [Sample]
        /// The outcome of each sample.
        public var outcomes: [SampleOutcome]
        /// The ledger entry.
        public var account: IngestAccount
    }

    /// Stores a reading that a person typed. It is checked like any other reading.
    ///
    /// - Parameter owner: The process that stores it.
    /// - Throws: ``Refusal`` if the reading is invalid, and ``StoreError``.
    public func add(_ entry: HandEntry, received: Instant, owner: String? = nil) throws -> HandResult {
        try add(entry, correcting: [], received: received, owner: owner)
    }

    private func add(
        _ entry: HandEntry, correcting corrected: [SampleIdentity], received: Instant, owner: String?
    ) throws -> HandResult {
        let samples = try entry.samples(received: received, correcting: corrected)
        let ingest = try store.beginIngest(
            IngestDescription(
                kind: .import, name: corrected.isEmpty ? "add" : "correction", received: received.microseconds, owner: owner))
        let outcomes: [SampleOutcome]
        do {
            outcomes = try ingest.store(samples)
        } catch {
            _ = try? ingest.finish(at: received.microseconds, state: "failed")
            throw error
        }
        return HandResult(
            samples: samples.map(\.sample), outcomes: outcomes, account: try ingest.finish(at: received.microseconds))
    }

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

    /// Corrects samples in one transaction: stores what the person typed as new samples, each with the UUID of the old one in its
    /// metadata, and deletes the old ones.
    ///
    /// - Parameter uuids: The samples to correct, one for each amount of the entry.
    /// - Throws: ``CorrectionError``, ``Refusal``, or ``StoreError``. Then nothing is changed.
    public func correct(_ uuids: [SampleIdentity], with entry: HandEntry, received: Instant) throws -> HandResult {
        try store.resumePending()
        do {
            return try connection.transaction {
                let result = try add(entry, correcting: uuids, received: received, owner: nil)
                for outcome in result.outcomes {
                    switch outcome {
                    case .stored: continue
                    case .duplicate: throw CorrectionError.duplicate
                    case .quarantined: throw CorrectionError.quarantined
                    case .refused: throw CorrectionError.refused
                    }
                }
                try delete(
                    uuids, description: IngestDescription(kind: .delete, name: "correction", received: received.microseconds))
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
        where try !places(of: uuid, among: .tombstones).contains(where: { try connection.series.permits($0, by: rule) }) {
            throw Self.notRestorable(uuid)
        }
        func description(_ kind: IngestKind) -> IngestDescription {
            IngestDescription(kind: kind, name: "correction", received: received.microseconds)
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
        guard case .string(let text)? = metadata?[HandEntry.correctsKey] else { return nil }
        return SampleIdentity(text)
    }
}
