/// The reason why a certificate cannot be created or read.
public struct CertificateError: Error, CustomStringConvertible {
    /// A text for the user.
    public let description: String

    init(_ description: String) { self.description = description }
}
