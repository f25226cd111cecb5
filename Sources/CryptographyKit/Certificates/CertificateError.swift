/// The reason why a certificate cannot be created or read.
package struct CertificateError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
