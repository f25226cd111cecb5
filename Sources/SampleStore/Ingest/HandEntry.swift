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
    /// The metadata key of numbers that a person typed (`HKMetadataKeyWasUserEntered`).
    static let enteredKey = "wasUserEntered"

    /// The person.
    public var person: String
    /// The amounts of one measurement.
    public var amounts: [Amount]
    /// The time of the measurement.
    public var time: Instant
    /// The person's time zone.
    public var zone: TimeZoneRules

    /// Creates an entry.
    public init(person: String, amounts: [Amount], time: Instant, zone: TimeZoneRules) {
        (self.person, self.amounts, self.time, self.zone) = (person, amounts, time, zone)
    }

    /// The samples of the entry, judged by the gate.
    fileprivate func samples(received: Instant) throws(Refusal) -> [GatedSample] {
        let readings = amounts.enumerated().map { index, amount in
            Reading(
                origin: Origin(person: person, type: amount.type, source: Self.source, device: nil), numeral: amount.numeral,
                unit: amount.unit, time: .instants(start: time, end: time, offset: zone.offset(at: time)),
                group: amounts.count > 1 ? .frame : .none, metadata: Metadata([(Self.enteredKey, .boolean(true))]),
                place: Place(.line, index + 1))
        }
        return try ReadingPath.samples(of: readings, zone: zone, received: received)
    }
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
        try add(
            entry.samples(received: received),
            as: IngestDescription(kind: .import, name: "add", received: received.microseconds, owner: owner))
    }

    /// Stores typed samples with a ledger entry of their own.
    func add(_ samples: [GatedSample], as description: IngestDescription) throws -> HandResult {
        let ingest = try store.beginIngest(description)
        let outcomes: [SampleOutcome]
        do {
            outcomes = try ingest.store(samples)
        } catch {
            _ = try? ingest.finish(at: description.received, state: "failed")
            throw error
        }
        return HandResult(
            samples: samples.map(\.sample), outcomes: outcomes, account: try ingest.finish(at: description.received))
    }
}
