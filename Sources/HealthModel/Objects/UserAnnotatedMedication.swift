/// A medication that a person takes or took, with the person's notes (`HKUserAnnotatedMedication` and its `HKMedicationConcept`). It is not
/// a sample. The doses are samples of the type `medicationDoseEvent` with its name.
///
///     UserAnnotatedMedication(name: "Ibuprofen 400 mg", generalForm: .tablet, nickname: "headache", hasSchedule: false)
public struct UserAnnotatedMedication: Hashable, Sendable, Codable {
    /// The medication's name, unique for each person (`displayText` of HealthKit's concept). Doses have exactly this name.
    public var name: String
    /// The form of the medication.
    public var generalForm: MedicationGeneralForm
    /// Its codes, such as RxNorm's (`relatedCodings`).
    public var codes: [Coding]
    /// The person's own name for it.
    public var nickname: String?
    /// Whether it is no longer taken.
    public var isArchived: Bool
    /// Whether it is taken on a schedule and not as needed.
    public var hasSchedule: Bool

    /// A medication with its parts.
    public init(
        name: String, generalForm: MedicationGeneralForm = .unknown, codes: [Coding] = [], nickname: String? = nil,
        isArchived: Bool = false, hasSchedule: Bool = false
    ) {
        (self.name, self.generalForm, self.codes) = (name, generalForm, codes)
        (self.nickname, self.isArchived, self.hasSchedule) = (nickname, isArchived, hasSchedule)
    }
}

/// The form of a medication: HealthKit's 18 `HKMedicationGeneralForm`s, named as in its header `HKMedicationConcept.h` of iOS 26.
public enum MedicationGeneralForm: String, Sendable, Codable, CaseIterable {
    case capsule, cream, device, drops, foam, gel, inhaler, injection, liquid, lotion, ointment, patch, powder, spray
    case suppository, tablet, topical, unknown
}
