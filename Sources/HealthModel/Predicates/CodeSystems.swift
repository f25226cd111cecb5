/// The code systems of health records, by short names. `fhir.code.cvx = 94` matches a code of the vaccine list, not any code 94.
///
/// A system is identified by the URI that HL7 lists for FHIR, by the URIs in drafts of DSTU2, and by its OID as `urn:oid:…`, which servers
/// write when they translate older documents.
/// Sources: <https://terminology.hl7.org/5.2.0/external_terminologies.html>, <https://hl7.org/fhir/dstu2/terminologies-systems.html>,
/// <http://hl7.org/fhir/2015May/terminologies-systems.html>, <https://hl7.org/fhir/us/core/vsacname-fhiruri-map.html>,
/// <https://hl7.org/fhir/us/core/2018Jan/terminology.html>.
public enum CodeSystems {
    /// The systems by short name, each with all its URIs.
    public static let all: [(name: String, systems: [String])] = drugs + diagnoses + others

    private static let drugs: [(name: String, systems: [String])] = [
        ("cvx", cvx), ("ndc", ["http://hl7.org/fhir/sid/ndc"]),
        ("rxnorm", ["http://www.nlm.nih.gov/research/umls/rxnorm", "urn:oid:2.16.840.1.113883.6.88"]),
        ("ndfrt", ["http://hl7.org/fhir/ndfrt", "urn:oid:2.16.840.1.113883.6.209"]),
        ("unii", ["http://fdasis.nlm.nih.gov", "urn:oid:2.16.840.1.113883.4.9"]),
    ]

    private static let diagnoses: [(name: String, systems: [String])] = [
        ("snomed", ["http://snomed.info/sct", "urn:oid:2.16.840.1.113883.6.96"]), ("icd10", icd10), ("icd10cm", icd10cm),
        ("icd9", icd9),
    ]

    private static let others: [(name: String, systems: [String])] = [
        ("loinc", ["http://loinc.org", "urn:oid:2.16.840.1.113883.6.1"]),
        ("cpt", ["http://www.ama-assn.org/go/cpt", "urn:oid:2.16.840.1.113883.6.12"]), ("hcpcs", hcpcs),
        ("ucum", ["http://unitsofmeasure.org", "urn:oid:2.16.840.1.113883.6.8"]),
    ]

    private static let cvx = [
        "http://hl7.org/fhir/sid/cvx", "http://www2a.cdc.gov/vaccines/iis/iisstandards/vaccines.asp?rpt=cvx",
        "urn:oid:2.16.840.1.113883.12.292",
    ]

    /// The international list and its modification for the United States.
    private static let icd10 = [
        "http://hl7.org/fhir/sid/icd-10", "urn:oid:2.16.840.1.113883.6.3", "http://hl7.org/fhir/sid/icd-10-cm",
        "urn:oid:2.16.840.1.113883.6.90",
    ]

    private static let icd10cm = ["http://hl7.org/fhir/sid/icd-10-cm", "urn:oid:2.16.840.1.113883.6.90"]

    private static let icd9 = [
        "http://hl7.org/fhir/sid/icd-9-cm", "http://hl7.org/fhir/sid/icd-9", "urn:oid:2.16.840.1.113883.6.103",
        "urn:oid:2.16.840.1.113883.6.42",
    ]

    private static let hcpcs = [
        "https://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets", "http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets",
        "urn:oid:2.16.840.1.113883.6.285",
    ]

    private static let byName = Dictionary(all.map { ($0.name, $0.systems) }, uniquingKeysWith: { first, _ in first })

    /// All URIs of a system, or `nil` for an unknown name.
    public static func systems(named name: String) -> [String]? { byName[name] }

    /// The short name of a system, or `nil` if it has none.
    public static func name(of system: String) -> String? {
        // A name for a part of another system comes after it: `icd10cm`.
        all.last { $0.systems.contains(where: { isSame($0, system) }) }?.name
    }

    /// Whether a URI is LOINC's.
    static func isLOINC(_ system: String?) -> Bool {
        guard let system else { return false }
        return byName["loinc", default: []].contains { isSame($0, system) }
    }

    /// Whether two URIs are the same system. Some servers write a slash at the end.
    static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || (other.hasSuffix("/") && other.dropLast() == one)
    }
}
