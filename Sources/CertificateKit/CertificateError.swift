/// Why a certificate cannot be made or read.
public struct CertificateError: Error, CustomStringConvertible {
    /// For a person.
    public let description: String

    init(_ description: String) { self.description = description }
}
