/// A dose of a medication (`HKMedicationDoseEvent`). Its status (taken, skipped) is the sample's number.
public struct MedicationDoseEvent: Hashable, Sendable, Codable {
    /// The person's name of the medication.
    public var medication: String
    /// Its codes, such as RxNorm's.
    public var codes: [Coding]
    /// `asNeeded` or `schedule` (``ObjectValues/medicationScheduleType``).
    public var scheduleType: String?
    /// The scheduled time, in microseconds after the sample's start.
    public var scheduled: Int64?
    /// The amount taken. A count has no unit here, since ``doseUnit`` contains it.
    public var dose: Amount?
    /// The scheduled amount.
    public var scheduledDose: Amount?
    /// The counted object, for a dose without a unit: `tablet`.
    public var doseUnit: String?

    /// A dose with its parts.
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
    /// The system's URI, as received.
    public var system: String?
    /// The code in it.
    public var code: String?
    /// The system's name of the code.
    public var display: String?

    /// A code with its parts.
    public init(system: String? = nil, code: String? = nil, display: String? = nil) {
        (self.system, self.code, self.display) = (system, code, display)
    }
}

extension MedicationDoseEvent: ObjectBody {
    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        guard !medication.isEmpty else { throw InvalidObject("medication", "it is empty") }
        guard medication.isFitName else { throw InvalidObject("medication", Sample.badName) }
        try InvalidObject.checkName(scheduleType, in: ObjectValues.medicationScheduleType, "scheduleType")
        try InvalidObject.checkTimes([scheduled], "scheduled")
    }
}
