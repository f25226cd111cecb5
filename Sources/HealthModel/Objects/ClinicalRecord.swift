/// What is read of a FHIR resource (`HKClinicalRecord`, `HKFHIRResource`); the resource itself is its body's content, octet for octet.
public struct ClinicalRecord: Hashable, Sendable, Codable {
    /// What a person would call it.
    public var displayName: String
    /// The resource's type: `Immunization`.
    public var resourceType: String
    /// Its id where it comes from.
    public var identifier: String
    /// `DSTU2` or `R4`.
    public var version: String
    /// Where it comes from.
    public var sourceURL: String?
    /// When the resource was last changed there, as it says itself.
    public var lastUpdated: String?
    /// The resource's own dates, as it writes them: `recorded`, `onset`, `abatement`, `occurrence`, `authored`, `issued`, `effective`.
    public var dates: [String: String]
    /// The codes that say what it is about.
    public var codes: [Coding]

    /// A record of its parts.
    public init(
        displayName: String, resourceType: String, identifier: String, version: String, sourceURL: String? = nil,
        lastUpdated: String? = nil, dates: [String: String] = [:], codes: [Coding] = []
    ) {
        (self.displayName, self.resourceType, self.identifier) = (displayName, resourceType, identifier)
        (self.version, self.sourceURL, self.lastUpdated) = (version, sourceURL, lastUpdated)
        (self.dates, self.codes) = (dates, codes)
    }
}
