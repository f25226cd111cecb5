import Glibc

/// A self-signed certificate for `localhost`.
package struct Certificate {
    /// The file of the certificate, which is its own authority.
    package let path: String
    /// The file of its key.
    package let key: String

    /// - Parameter folder: where both are put.
    package init(in folder: String) throws {
        (path, key) = (folder + "/certificate.pem", folder + "/key.pem")
        try ServerProcess.run([
            "/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", path, "-days", "3650",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        ])
        for file in [path, key] { chmod(file, 0o644) }
    }
}
