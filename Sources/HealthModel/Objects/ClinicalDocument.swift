/// What is read of a document (`HKCDADocumentSample`); the document itself is its body's content, octet for octet.
public struct ClinicalDocument: Hashable, Sendable, Codable {
    /// As it says itself; empty where it does not.
    public var title: String
    /// Whose it is, by name.
    public var patient: String
    /// Which organisation keeps it.
    public var custodian: String
    /// Who wrote it: people or devices, joined by commas.
    public var author: String
    /// Whether it is as HL7's schema demands.
    public var valid: Bool
    /// Where and why it is not.
    public var reason: String?

    /// A document of its parts.
    public init(title: String, patient: String, custodian: String, author: String, valid: Bool, reason: String? = nil) {
        (self.title, self.patient, self.custodian, self.author) = (title, patient, custodian, author)
        (self.valid, self.reason) = (valid, reason)
    }
}
