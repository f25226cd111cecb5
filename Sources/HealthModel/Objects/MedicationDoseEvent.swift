/// A dose of a medication (`HKMedicationDoseEvent`); what became of it (taken, skipped) is the sample's number.
public struct MedicationDoseEvent: Hashable, Sendable, Codable {
    /// Which medication, as the person calls it.
    public var medication: String
    /// Its codes, such as RxNorm's.
    public var codes: [Coding]
    /// `asNeeded` or `schedule` (``ObjectValues/medicationScheduleType``).
    public var scheduleType: String?
    /// When it was to be taken, in microseconds after the sample's start.
    public var scheduled: Int64?
    /// How much was taken; a count has no unit here, what is counted stands in ``doseUnit``.
    public var dose: Amount?
    /// How much was to be taken.
    public var scheduledDose: Amount?
    /// What a dose without a unit counts: `tablet`.
    public var doseUnit: String?

    /// A dose of its parts.
    public init(
        medication: String, codes: [Coding] = [], scheduleType: String? = nil, scheduled: Int64? = nil, dose: Amount? = nil,
        scheduledDose: Amount? = nil, doseUnit: String? = nil
    ) {
        (self.medication, self.codes, self.scheduleType, self.scheduled) = (medication, codes, scheduleType, scheduled)
        (self.dose, self.scheduledDose, self.doseUnit) = (dose, scheduledDose, doseUnit)
    }
}

/// One code of a code system (FHIR's Coding).
public struct Coding: Hashable, Sendable, Codable {
    /// The system's URI, as told.
    public var system: String?
    /// The code in it.
    public var code: String?
    /// What the system calls it.
    public var display: String?

    /// A code of its parts.
    public init(system: String? = nil, code: String? = nil, display: String? = nil) {
        (self.system, self.code, self.display) = (system, code, display)
    }
}
