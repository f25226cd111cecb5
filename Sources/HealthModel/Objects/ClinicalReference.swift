/// A reference of a FHIR resource to another one, such as the drug of a prescription.
public struct ClinicalReference: Hashable, Sendable, Codable {
    /// The element that contains it: `medicationReference`, `reasonReference`, `performer.actor`.
    public var element: String
    /// The address of the resource as written: `Medication/x-1`, a URL, or `urn:uuid:…`.
    public var reference: String?
    /// The name of the resource, according to the reference or to a resource within this one.
    public var display: String?

    /// A reference with its parts.
    public init(element: String, reference: String? = nil, display: String? = nil) {
        (self.element, self.reference, self.display) = (element, reference, display)
    }
}
