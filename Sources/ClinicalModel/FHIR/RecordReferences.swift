import HealthModel

/// Reads the references of a resource to others: the drug of a prescription, the reason, the performer, the encounter, the place.
///
/// References to the person are omitted. A reference to a resource within this one gets that resource's name.
enum RecordReferences {
    private static let maximum = 64
    private static let maximumLength = 2048
    private static let persons: Set<String> = ["subject", "patient", "beneficiary", "subscriber", "policyHolder"]
    private static let others: Set<String> = ["contained", "text", "meta", "extension", "modifierExtension"]

    static func references(of tape: borrowing JSONTape) -> [ClinicalReference]? {
        var found: [ClinicalReference] = []
        collect(of: 0, "", tape, &found)
        return found.isEmpty ? nil : found
    }

    private static func collect(
        of object: Int, _ path: String, _ tape: borrowing JSONTape, _ found: inout [ClinicalReference]
    ) {
        tape.forEachChild(of: object) { child in
            guard tape.nodes[child].kind == .object || tape.nodes[child].kind == .array else { return }
            let name = String(decoding: tape.name(of: child), as: UTF8.self)
            guard !others.contains(name), !(path.isEmpty && persons.contains(name)) else { return }
            for node in tape.list(child) where tape.nodes[node].kind == .object && found.count < maximum {
                if let reference = reference(node, path + name, tape) {
                    found.append(reference)
                } else if path.isEmpty {
                    collect(of: node, name + ".", tape, &found)
                }
            }
        }
    }

    private static func reference(_ node: Int, _ element: String, _ tape: borrowing JSONTape) -> ClinicalReference? {
        let address = tape.text("reference", of: node).map { String($0.prefix(maximumLength)) }
        var display = tape.text("display", of: node).map { String($0.prefix(DisplayName.maximumLength)) }
        // A code has a name, too.
        guard address != nil || (display != nil && tape.member("code", of: node) == nil && tape.member("system", of: node) == nil)
        else { return nil }
        if display == nil, let address, let resource = contained(address, tape),
            let type = tape.text("resourceType", of: resource)
        {
            display = DisplayName(of: type, tape, at: resource).own
        }
        return ClinicalReference(element: element, reference: address, display: display)
    }

    /// The contained resource with an address such as `#m1`.
    static func contained(_ address: String, _ tape: borrowing JSONTape) -> Int? {
        guard address.hasPrefix("#") else { return nil }
        return tape.list(tape.member("contained", of: 0)).first { tape.text("id", of: $0) == String(address.dropFirst()) }
    }
}
