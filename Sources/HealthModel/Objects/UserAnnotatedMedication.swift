/// A medication that a person takes or took, with what they note of it (`HKUserAnnotatedMedication` and its `HKMedicationConcept`). It is no sample: what was
/// taken of it when are the samples of the type `medicationDoseEvent` that name it.
///
///     UserAnnotatedMedication(name: "Ibuprofen 400 mg", generalForm: .tablet, nickname: "headache", hasSchedule: false)
public struct UserAnnotatedMedication: Hashable, Sendable, Codable {
    /// The medication's name, once for each person (`displayText` of HealthKit's concept); doses name it so, to the letter.
    public var name: String
    /// What it comes as.
    public var generalForm: MedicationGeneralForm
    /// Its codes, such as RxNorm's (`relatedCodings`).
    public var codes: [Coding]
    /// What the person calls it.
    public var nickname: String?
    /// Whether it is taken no more.
    public var isArchived: Bool
    /// Whether it is taken by a schedule; else as needed.
    public var hasSchedule: Bool

    /// A medication of its parts.
    public init(
        name: String, generalForm: MedicationGeneralForm = .unknown, codes: [Coding] = [], nickname: String? = nil,
        isArchived: Bool = false, hasSchedule: Bool = false
    ) {
        (self.name, self.generalForm, self.codes) = (name, generalForm, codes)
        (self.nickname, self.isArchived, self.hasSchedule) = (nickname, isArchived, hasSchedule)
    }
}

/// What a medication comes as: HealthKit's 18 `HKMedicationGeneralForm`s, as its header `HKMedicationConcept.h` of iOS 26 names them.
public enum MedicationGeneralForm: String, Sendable, Codable, CaseIterable {
    case capsule, cream, device, drops, foam, gel, inhaler, injection, liquid, lotion, ointment, patch, powder, spray
    case suppository, tablet, topical, unknown
}
