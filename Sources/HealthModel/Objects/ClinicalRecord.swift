/// The parsed fields of a FHIR resource (`HKClinicalRecord`, `HKFHIRResource`). The resource itself is the body's content, byte for byte.
public struct ClinicalRecord: Hashable, Sendable, Codable {
    /// The display name.
    public var displayName: String
    /// The resource's type: `Immunization`.
    public var resourceType: String
    /// Its id at its source.
    public var identifier: String
    /// `DSTU2` or `R4`.
    public var version: String
    /// The URL of its source.
    public var sourceURL: String?
    /// The time of the last change, according to the resource.
    public var lastUpdated: String?
    /// The resource's dates as written: `recorded`, `onset`, `abatement`, `occurrence`, `authored`, `issued`, `effective`.
    public var dates: [String: String]
    /// The codes of its subject.
    public var codes: [Coding]
    /// The result of an Observation.
    public var result: ClinicalResult?
    /// The references to other resources, except to the person.
    public var references: [ClinicalReference]?

    /// A record with its parts.
    public init(
        displayName: String, resourceType: String, identifier: String, version: String, sourceURL: String? = nil,
        lastUpdated: String? = nil, dates: [String: String] = [:], codes: [Coding] = [], result: ClinicalResult? = nil,
        references: [ClinicalReference]? = nil
    ) {
        (self.displayName, self.resourceType, self.identifier) = (displayName, resourceType, identifier)
        (self.version, self.sourceURL, self.lastUpdated) = (version, sourceURL, lastUpdated)
        (self.dates, self.codes, self.result, self.references) = (dates, codes, result, references)
    }

    /// The resource types that are stored because health records refer to them (`referencedRecord`).
    public static let referencedResources: Set<String> = [
        "Medication", "Practitioner", "PractitionerRole", "Organization", "Location", "Encounter",
    ]
}

extension ClinicalRecord: ObjectBody {
    public static var hasDocument: Bool { true }

    /// The resource types of each sample type, as the FHIR reader distinguishes them. A type of a later HealthKit may have any.
    private static let resources: [String: Set<String>] = [
        "allergyRecord": ["AllergyIntolerance"], "conditionRecord": ["Condition"], "immunizationRecord": ["Immunization"],
        "procedureRecord": ["Procedure"], "coverageRecord": ["Coverage"], "vitalSignRecord": ["Observation"],
        "medicationRecord": ["MedicationStatement", "MedicationOrder", "MedicationRequest", "MedicationDispense"],
        "labResultRecord": ["DiagnosticReport", "Observation"], "clinicalNoteRecord": ["DocumentReference"],
        "referencedRecord": referencedResources,
    ]

    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        guard let found = JSONOutline.text("resourceType", of: document) else {
            throw InvalidObject("octets", "they are not a FHIR resource in JSON")
        }
        guard found == resourceType else {
            throw InvalidObject("octets", "the type of the resource differs from the body's")
        }
        guard Self.resources[type.id]?.contains(resourceType) ?? true else {
            throw InvalidObject("body: resourceType", "it is not a resource type of \(type.id)")
        }
        guard !identifier.isEmpty, !version.isEmpty else {
            throw InvalidObject("body", "the resource's identifier or version is empty")
        }
    }
}
