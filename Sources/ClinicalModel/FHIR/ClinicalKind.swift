import HealthModel
import Pipeline

/// The HealthKit type of a resource.
enum ClinicalKind {
    case type(SampleType)
    /// No type. The resource is counted under this name.
    case none(SkipKind)

    /// Chooses by the resource's type, and for an observation by its category. HealthKit does not publish how it distinguishes lab
    /// results and vital signs. US Core and Argonaut require the categories `laboratory` and `vital-signs` of HL7's list.
    init(_ type: String, _ tape: borrowing JSONTape) {
        switch type {
        case "AllergyIntolerance": self.init(Self.allergy)
        case "Condition": self.init(Self.condition)
        case "Immunization": self.init(Self.immunization)
        case "Procedure": self.init(Self.procedure)
        case "Coverage": self.init(Self.coverage)
        case "MedicationStatement", "MedicationOrder", "MedicationRequest", "MedicationDispense": self.init(Self.medication)
        case "DiagnosticReport": self.init(Self.labResult)
        case "DocumentReference": self.init(Self.clinicalNote)
        case "Observation":
            switch Self.category(tape) {
            case "vital-signs": self.init(Self.vitalSign)
            case "laboratory": self.init(Self.labResult)
            case let category?: self = .none(SkipKind("fhir.Observation.\(category)"))
            case nil: self = .none(SkipKind("fhir.Observation.no-category"))
            }
        case _ where ClinicalRecord.referencedResources.contains(type): self.init(Self.referenced)
        default: self = .none(SkipKind("fhir.\(type)"))
        }
    }

    private init(_ type: SampleType?) { self = type.map { .type($0) } ?? .none(SkipKind("fhir")) }

    private static let allergy = SampleType("allergyRecord")
    private static let condition = SampleType("conditionRecord")
    private static let immunization = SampleType("immunizationRecord")
    private static let procedure = SampleType("procedureRecord")
    private static let coverage = SampleType("coverageRecord")
    private static let medication = SampleType("medicationRecord")
    private static let labResult = SampleType("labResultRecord")
    private static let vitalSign = SampleType("vitalSignRecord")
    private static let referenced = SampleType("referencedRecord")
    private static let clinicalNote = SampleType("clinicalNoteRecord")

    /// https://hl7.org/fhir/R4/valueset-observation-category.html. DSTU2 has the same codes except `activity`.
    private static let categories: Set<String> = [
        "social-history", "vital-signs", "imaging", "laboratory", "procedure", "survey", "exam", "therapy", "activity",
    ]

    /// Returns the first code of HL7's list, `other` if there are only other codes, or `nil` if there are none.
    private static func category(_ tape: borrowing JSONTape) -> String? {
        var hasOther = false
        for concept in tape.list(tape.member("category", of: 0)) {
            for coding in tape.list(tape.member("coding", of: concept)) {
                let code = tape.text("code", of: coding) ?? ""
                let system = tape.text("system", of: coding)
                if system.map({ $0.hasSuffix("/observation-category") }) ?? true, categories.contains(code) { return code }
                hasOther = true
            }
            if tape.member("text", of: concept) != nil { hasOther = true }
        }
        return hasOther ? "other" : nil
    }
}
