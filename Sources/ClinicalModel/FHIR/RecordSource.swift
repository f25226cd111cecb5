import HealthModel

/// Which system a resource comes from. Part of its identity: two clinics may give the same id to two records.
///
/// 1. the name that its surroundings give (an export's `sourceName`);
/// 2. its own `meta.source`, without what stands behind `#`, which is one message's;
/// 3. the server in the address that its surroundings give (`fullUrl`);
/// 4. else the person whom the resource names, by a digest: two persons' records are never one, and a file's name, which changes from
///    download to download, has no part.
struct RecordSource: Hashable {
    var id: String
    var name: String

    static func of(_ tape: borrowing JSONTape, type: String, told: String, address: String) -> RecordSource {
        if !told.isEmpty { return RecordSource(id: "fhir/" + told, name: told) }
        if let source = tape.text("source", of: tape.member("meta", of: 0)) {
            let system = source.prefix { $0 != "#" }
            if !system.isEmpty { return RecordSource(id: "fhir/" + system, name: String(system)) }
        }
        if let server = server(of: address, type) { return RecordSource(id: "fhir/" + server, name: server) }
        for name in ["patient", "subject", "beneficiary", "subscriber"] as [StaticString] {
            guard let reference = tape.text("reference", of: tape.member(name, of: 0)) else { continue }
            let digest = Digest.sha256(Array(reference.utf8)).prefix(4).map { octet in
                (octet < 16 ? "0" : "") + String(octet, radix: 16)
            }
            return RecordSource(id: "fhir/" + digest.joined(), name: "FHIR")
        }
        return RecordSource(id: "fhir", name: "FHIR")
    }

    /// `https://example.org/fhir` of `https://example.org/fhir/Immunization/94`; `nil` for what is no address of a resource of the type.
    private static func server(of address: String, _ type: String) -> String? {
        guard address.hasPrefix("http://") || address.hasPrefix("https://") else { return nil }
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = parts.lastIndex(where: { $0 == type }), place >= 3, place + 1 < parts.count else { return nil }
        return parts[..<place].joined(separator: "/")
    }
}
