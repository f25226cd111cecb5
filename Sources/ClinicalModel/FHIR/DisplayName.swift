import HealthModel

/// The name of a record for people. The first of these that exists:
///
/// 1. the canonical name of a code, if its list is included (CVX)
/// 2. the display of the coding that the user selected
/// 3. the display of a coding, in the order of ``systems``, then in the order of the resource
/// 4. the concept's text
/// 5. for a medication in another resource, the reference's display or the name in the contained resource
/// 6. for a document its description, for coverage the plan or the payer
/// 7. the resource's type
struct DisplayName {
    let name: String
    let codes: [Coding]

    /// Code systems in order of preference: medications, vaccines, laboratory, conditions and procedures, then billing.
    static let systems: [String] = [
        "http://www.nlm.nih.gov/research/umls/rxnorm", "http://hl7.org/fhir/sid/cvx", "http://loinc.org",
        "http://snomed.info/sct",
        "http://hl7.org/fhir/sid/icd-10-cm", "http://hl7.org/fhir/sid/icd-10", "http://hl7.org/fhir/sid/icd-9-cm",
        "http://www.ama-assn.org/go/cpt", "http://hl7.org/fhir/sid/ndc",
    ]

    /// The maximum length of a name in characters, and the maximum number of codes.
    static let longest = 512
    static let mostCodes = 64

    init(of type: String, _ tape: borrowing JSONTape) {
        let concept = Self.concept(of: type, tape)
        var codings: [(coding: Coding, isSelected: Bool)] = []
        // In DSTU2, coverage has a coding instead of a concept.
        let isCoding = concept.map { tape.member("coding", of: $0) == nil && tape.member("code", of: $0) != nil } ?? false
        for node in isCoding ? tape.list(concept) : tape.list(tape.member("coding", of: concept)) {
            guard codings.count < Self.mostCodes else { break }
            let isSelected = tape.member("userSelected", of: node).map { tape.nodes[$0].kind == .yes } ?? false
            let coding = Coding(
                system: tape.text("system", of: node), code: tape.text("code", of: node), display: tape.text("display", of: node))
            codings.append((coding, isSelected))
        }
        codes = codings.map(\.coding)
        let text = tape.text("text", of: concept)
        let name = Self.name(codings) ?? Self.told(text) ?? Self.beside(type, tape) ?? type
        self.name = name.count > Self.longest ? String(name.prefix(Self.longest)) : name
    }

    private static func name(_ codings: [(coding: Coding, isSelected: Bool)]) -> String? {
        for (coding, _) in codings where coding.system == VaccineNames.system {
            if let name = coding.code.flatMap({ VaccineNames.names[$0] }) { return name }
        }
        for (coding, isSelected) in codings where isSelected {
            if let name = told(coding.display) { return name }
        }
        for system in systems {
            for (coding, _) in codings where coding.system == system {
                if let name = told(coding.display) { return name }
            }
        }
        return codings.lazy.compactMap { told($0.coding.display) }.first
    }

    /// Returns the text, or `nil` if it is blank.
    private static func told(_ text: String?) -> String? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        return text
    }

    /// The concept that the record describes.
    private static func concept(of type: String, _ tape: borrowing JSONTape) -> Int? {
        switch type {
        case "Immunization": tape.member("vaccineCode", of: 0)
        case "AllergyIntolerance": tape.member("code", of: 0) ?? tape.member("substance", of: 0)
        case "Coverage", "DocumentReference": tape.member("type", of: 0)
        case "MedicationStatement", "MedicationOrder", "MedicationRequest", "MedicationDispense":
            tape.member("medicationCodeableConcept", of: 0) ?? tape.member("code", of: containedMedication(tape))
        default: tape.member("code", of: 0)
        }
    }

    /// The contained resource that `medicationReference` refers to. References to other resources are not followed.
    private static func containedMedication(_ tape: borrowing JSONTape) -> Int? {
        guard let reference = tape.text("reference", of: tape.member("medicationReference", of: 0)), reference.hasPrefix("#")
        else {
            return nil
        }
        return tape.list(tape.member("contained", of: 0)).first { tape.text("id", of: $0) == String(reference.dropFirst()) }
    }

    private static func beside(_ type: String, _ tape: borrowing JSONTape) -> String? {
        switch type {
        case "DocumentReference": told(tape.text("description", of: 0))
        case "Coverage":
            told(tape.text("plan", of: 0)) ?? told(tape.text("display", of: tape.list(tape.member("payor", of: 0)).first))
        default: told(tape.text("display", of: tape.member("medicationReference", of: 0)))
        }
    }
}
