import HealthModel

/// The name of a record for people. The first of these that exists:
///
/// 1. the canonical name of a code, if its list is included (CVX)
/// 2. the display of the coding that the user selected
/// 3. the display of a coding, in the order of ``systems``, then in the order of the resource
/// 4. the concept's text
/// 5. the name of a LOINC code, if the list here has it (``LOINCNames``)
/// 6. for a medication in another resource, the reference's display or the name in the contained resource
/// 7. for a document its description, for coverage the plan or the payer, for a person or an organization its name
/// 8. the resource's type
struct DisplayName {
    let name: String
    /// The name, or `nil` if only the type of the resource is known.
    let own: String?
    let codes: [Coding]

    /// Code systems in order of preference: medications, vaccines, laboratory, conditions and procedures, then billing.
    static let systems: [String] = [
        "http://www.nlm.nih.gov/research/umls/rxnorm", "http://hl7.org/fhir/sid/cvx", "http://loinc.org",
        "http://snomed.info/sct",
        "http://hl7.org/fhir/sid/icd-10-cm", "http://hl7.org/fhir/sid/icd-10", "http://hl7.org/fhir/sid/icd-9-cm",
        "http://www.ama-assn.org/go/cpt", "http://hl7.org/fhir/sid/ndc",
    ]

    /// The maximum length of a name in characters, and the maximum number of codes.
    static let maximumLength = 512
    static let maximumCodes = 64

    /// Reads the name of a resource.
    ///
    /// - Parameter resource: The node of the resource, for one that another contains.
    init(of type: String, _ tape: borrowing JSONTape, at resource: Int = 0) {
        let concept = Self.concept(of: type, resource, tape)
        codes = Self.codings(concept, tape)
        let name = Self.name(codes, concept, tape) ?? Self.siblingText(type, resource, tape)
        own = name.map { $0.count > Self.maximumLength ? String($0.prefix(Self.maximumLength)) : $0 }
        self.name = own ?? type
    }

    /// The codings of a concept. In DSTU2, coverage has a coding instead of a concept.
    static func codings(_ concept: Int?, _ tape: borrowing JSONTape) -> [Coding] {
        codingNodes(concept, tape).map { node in
            Coding(
                system: tape.text("system", of: node), code: tape.text("code", of: node), display: tape.text("display", of: node))
        }
    }

    private static func codingNodes(_ concept: Int?, _ tape: borrowing JSONTape) -> [Int] {
        let isCoding = concept.map { tape.member("coding", of: $0) == nil && tape.member("code", of: $0) != nil } ?? false
        return Array((isCoding ? tape.list(concept) : tape.list(tape.member("coding", of: concept))).prefix(maximumCodes))
    }

    /// The name of a concept with these codings, or `nil` if it has none.
    static func name(_ codings: [Coding], _ concept: Int?, _ tape: borrowing JSONTape) -> String? {
        let nodes = codingNodes(concept, tape)
        let selected = zip(codings, nodes).map { coding, node in
            (coding: coding, isSelected: tape.member("userSelected", of: node).map { tape.nodes[$0].kind == .yes } ?? false)
        }
        return name(selected) ?? nonBlank(tape.text("text", of: concept))
            ?? codings.lazy.compactMap { coding in
                coding.system.flatMap(CodeSystems.name) == "loinc" ? coding.code.flatMap { LOINCNames.names[$0] } : nil
            }.first
    }

    private static func name(_ codings: [(coding: Coding, isSelected: Bool)]) -> String? {
        for (coding, _) in codings where coding.system == VaccineNames.system {
            if let name = coding.code.flatMap({ VaccineNames.names[$0] }) { return name }
        }
        for (coding, isSelected) in codings where isSelected {
            if let name = nonBlank(coding.display) { return name }
        }
        for system in systems {
            for (coding, _) in codings where coding.system == system {
                if let name = nonBlank(coding.display) { return name }
            }
        }
        return codings.lazy.compactMap { nonBlank($0.coding.display) }.first
    }

    /// Returns the text, or `nil` if it is blank.
    private static func nonBlank(_ text: String?) -> String? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        return text
    }

    private static func concept(of type: String, _ resource: Int, _ tape: borrowing JSONTape) -> Int? {
        switch type {
        case "Immunization": tape.member("vaccineCode", of: resource)
        case "AllergyIntolerance": tape.member("code", of: resource) ?? tape.member("substance", of: resource)
        case "Coverage", "DocumentReference": tape.member("type", of: resource)
        case "Encounter": tape.list(tape.member("type", of: resource)).first
        case "MedicationStatement", "MedicationOrder", "MedicationRequest", "MedicationDispense":
            tape.member("medicationCodeableConcept", of: resource) ?? tape.member("code", of: containedMedication(tape))
        default: tape.member("code", of: resource)
        }
    }

    /// The contained resource that `medicationReference` refers to. References to other resources are not followed.
    private static func containedMedication(_ tape: borrowing JSONTape) -> Int? {
        tape.text("reference", of: tape.member("medicationReference", of: 0)).flatMap { RecordReferences.contained($0, tape) }
    }

    private static func siblingText(_ type: String, _ resource: Int, _ tape: borrowing JSONTape) -> String? {
        switch type {
        case "DocumentReference": nonBlank(tape.text("description", of: resource))
        case "Coverage":
            nonBlank(tape.text("plan", of: resource))
                ?? nonBlank(tape.text("display", of: tape.list(tape.member("payor", of: resource)).first))
        case "Practitioner", "Organization", "Location":
            nonBlank(tape.text("name", of: resource)) ?? person(tape.list(tape.member("name", of: resource)).first, tape)
        case "PractitionerRole": nonBlank(tape.text("display", of: tape.member("practitioner", of: resource)))
        // DSTU2 has a code here, and R4 a coding.
        case "Encounter":
            nonBlank(tape.text("display", of: tape.member("class", of: resource)))
                ?? nonBlank(tape.text("code", of: tape.member("class", of: resource)))
                ?? nonBlank(tape.text("class", of: resource))
        default: nonBlank(tape.text("display", of: tape.member("medicationReference", of: resource)))
        }
    }

    /// A person's name: its text, or the prefix, the given names and the family name.
    private static func person(_ name: Int?, _ tape: borrowing JSONTape) -> String? {
        if let text = nonBlank(tape.text("text", of: name)) { return text }
        // DSTU2 has a list of family names.
        let parts = (["prefix", "given", "family"] as [StaticString]).flatMap { part in
            tape.list(tape.member(part, of: name)).map { tape.text($0) }
        }
        return nonBlank(parts.filter { !$0.isEmpty }.joined(separator: " "))
    }
}
