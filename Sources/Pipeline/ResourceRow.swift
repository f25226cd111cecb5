/// The columns of a row that contains a whole resource or document with facts from its surroundings. A source delivers it under the channel
/// ``fhir`` or ``cda``, and the interpreters of those channels read it from any file.
public enum ResourceRow {
    /// The channel of FHIR resources, as JSON.
    public static let fhir = "fhir"
    /// The channel of HL7's CDA documents, as XML.
    public static let cda = "cda"

    /// The resource or document, byte for byte.
    public static let bytes = 0
    /// The name of the source, or empty if the surroundings do not contain it.
    public static let source = 1
    /// The URL of the source.
    public static let sourceURL = 2
    /// `DSTU2` or `R4`, or empty if the resource has to contain it.
    public static let version = 3
    /// The time when it was added to its source, in ISO 8601 with a zone, or empty for now.
    public static let received = 4
    /// The resource's id in its surroundings.
    public static let identifier = 5
    /// The number of columns.
    public static let count = 6

    /// The maximum size of a resource or document, in bytes.
    public static let maximumLength = 16 << 20
}
