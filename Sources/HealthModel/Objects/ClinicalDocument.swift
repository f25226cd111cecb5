/// The parsed fields of a document (`HKCDADocumentSample`). The document itself is the body's content, byte for byte.
public struct ClinicalDocument: Hashable, Sendable, Codable {
    /// The document's own title, or empty if it has none.
    public var title: String
    /// The name of the patient.
    public var patient: String
    /// The organisation that keeps it.
    public var custodian: String
    /// The authors, people or devices, joined by commas.
    public var author: String
    /// Whether it conforms to HL7's schema.
    public var valid: Bool
    /// The place and the reason of a violation.
    public var reason: String?

    /// A document with its parts.
    public init(title: String, patient: String, custodian: String, author: String, valid: Bool, reason: String? = nil) {
        (self.title, self.patient, self.custodian, self.author) = (title, patient, custodian, author)
        (self.valid, self.reason) = (valid, reason)
    }
}

extension ClinicalDocument: ObjectBody {
    public static var hasDocument: Bool { true }

    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        guard let root = XMLOutline.root(of: document), root == "ClinicalDocument" else {
            throw InvalidObject("octets", "they are not a clinical document in well-formed XML")
        }
    }
}
