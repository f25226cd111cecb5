import HealthModel

/// The system that a resource comes from. It is part of the identity, because two clinics may use the same id for two records.
///
/// 1. the name from its context (an export's `sourceName`)
/// 2. its `meta.source` without the part after `#`, which identifies a message
/// 3. the server in the address from its context (`fullUrl`)
/// 4. else a digest of the patient, so that two patients' records are never merged. The file's name is not used, because it differs
///    between downloads.
struct RecordSource: Hashable {
    var id: String
    var name: String

    static func of(_ tape: borrowing JSONTape, type: String, declared: String, address: String) -> RecordSource {
        if !declared.isEmpty { return RecordSource(id: "fhir/" + declared, name: declared) }
        if let source = tape.text("source", of: tape.member("meta", of: 0)) {
            let system = source.prefix { $0 != "#" }
            if !system.isEmpty { return RecordSource(id: "fhir/" + system, name: String(system)) }
        }
        if let server = server(of: address, type) { return RecordSource(id: "fhir/" + server, name: server) }
        for name in ["patient", "subject", "beneficiary", "subscriber"] as [StaticString] {
            guard let reference = tape.text("reference", of: tape.member(name, of: 0)) else { continue }
            let digest = Digest.sha256(Array(reference.utf8)).prefix(4).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return RecordSource(id: "fhir/" + digest.joined(), name: "FHIR")
        }
        return unknown
    }

    /// The source of a resource that names neither a system nor a patient.
    static let unknown = RecordSource(id: "fhir", name: "FHIR")

    /// `https://example.org/fhir` for `https://example.org/fhir/Immunization/94`, or `nil` if it is not an address of a resource of the
    /// type.
    private static func server(of address: String, _ type: String) -> String? {
        guard address.hasPrefix("http://") || address.hasPrefix("https://") else { return nil }
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = parts.lastIndex(where: { $0 == type }), place >= 3, place + 1 < parts.count else { return nil }
        return parts[..<place].joined(separator: "/")
    }
}
