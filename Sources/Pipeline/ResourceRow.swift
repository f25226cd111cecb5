/// The columns of a row that holds a resource or a document whole, and what its surroundings say of it. A source delivers it under the channel
/// ``fhir`` or ``cda``; the interpreters of those read it, whichever file it came in.
public enum ResourceRow {
    /// The channel of FHIR resources, as JSON.
    public static let fhir = "fhir"
    /// The channel of HL7's CDA documents, as XML.
    public static let cda = "cda"

    /// The resource or document, octet for octet.
    public static let octets = 0
    /// The name of the source; empty where nothing around it tells.
    public static let source = 1
    /// Where the source is to be found.
    public static let sourceURL = 2
    /// `DSTU2` or `R4`; empty where the resource has to tell itself.
    public static let version = 3
    /// When it was added there, ISO 8601 with a zone; empty where that is now.
    public static let received = 4
    /// The resource's id by what surrounds it.
    public static let identifier = 5
    /// How many columns there are.
    public static let count = 6

    /// Octets that one resource or document may have at most.
    public static let maximumLength = 16 << 20
}
