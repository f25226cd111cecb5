import CCrypto

/// A certificate authority for the hubs of a household. Phones that trust it accept each certificate that it issues.
///
///     let authority = try CertificateAuthority(named: "Vitalgate at home", for: names, at: now)
///     let server = try authority.certify(names, at: now)
///
/// Its name constraints permit only the given names and addresses of private networks. A thief of its key can imitate the hub, but no
/// site on the internet.
package final class CertificateAuthority {
    /// A certificate and its key, as PEM.
    package struct Identity {
        /// The certificate. For a server, the authority's certificate follows it.
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// The validity of a server's certificate in days. Apple's browsers reject more than 398 days (support.apple.com/102028).
    package static let days: Int64 = 397
    /// The validity of the authority in days.
    private static let authorityDays: Int64 = 3650
    /// Certificates are valid from an hour before now, because clocks differ.
    private static let slack: Int64 = 3600

    package let certificate: Certificate
    private let key: OpaquePointer

    private init(_ certificate: Certificate, _ key: OpaquePointer) { (self.certificate, self.key) = (certificate, key) }

    deinit { EVP_PKEY_free(key) }

    /// Creates a new authority.
    ///
    /// - Parameters:
    ///   - name: the name that phones show.
    ///   - names: the names that it may certify, in addition to addresses of private networks.
    ///   - now: seconds since 1970.
    package convenience init(named name: String, for names: Set<HostName>, at now: Int64) throws(CertificateError) {
        let key = try Self.makeKey()
        do throws(CertificateError) {
            let certificate = try Self.unsigned(name, key, from: now - Self.slack, until: now + Self.authorityDays * 86_400)
            X509_set_issuer_name(certificate.handle, X509_get_subject_name(certificate.handle))
            let constraints = Self.privateNetworks + names.map(\.constraint).sorted()
            try Self.extend(
                certificate, by: certificate,
                [
                    (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                    (NID_subject_key_identifier, "hash"),
                    (NID_name_constraints, "critical,\(constraints.joined(separator: ","))"),
                ])
            guard X509_sign(certificate.handle, key, EVP_sha256()) > 0 else { throw CertificateError("it cannot be signed") }
            self.init(certificate, key)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
    }

    package convenience init(_ identity: Identity) throws(CertificateError) {
        let certificate = try Certificate(pem: identity.certificate)
        guard let key = reading(identity.key, { PEM_read_bio_PrivateKey($0, nil, nil, nil) }) else {
            throw CertificateError("its key is not in PEM format")
        }
        guard X509_check_private_key(certificate.handle, key) == 1 else {
            EVP_PKEY_free(key)
            throw CertificateError("its key does not match its certificate")
        }
        self.init(certificate, key)
    }

    package func identity() throws(CertificateError) -> Identity {
        Identity(certificate: try certificate.pem(), key: try Self.pem(of: key))
    }

    /// Issues a server certificate with a new key, followed by the authority's certificate.
    ///
    /// - Parameters:
    ///   - names: the names and addresses of the server.
    ///   - now: seconds since 1970.
    /// - Throws: ``CertificateError`` if the authority does not permit the names, or expires before the certificate.
    package func certify(_ names: Set<HostName>, at now: Int64) throws(CertificateError) -> Identity {
        let sorted = names.map(\.alternativeName).sorted()
        guard let first = names.map(\.description).sorted().first else { throw CertificateError("it contains no name") }
        let end = now + Self.days * 86_400
        guard end <= certificate.expires else {
            throw CertificateError("the authority expires earlier than the certificate would")
        }
        let key = try Self.makeKey()
        defer { EVP_PKEY_free(key) }
        // The common name holds 64 characters. Clients read names from the extension (RFC 6125).
        let made = try Self.unsigned(String(first.prefix(64)), key, from: now - Self.slack, until: end)
        X509_set_issuer_name(made.handle, X509_get_subject_name(certificate.handle))
        try Self.extend(
            made, by: certificate,
            [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, sorted.joined(separator: ",")),
                (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
            ])
        guard X509_sign(made.handle, self.key, EVP_sha256()) > 0 else { throw CertificateError("it cannot be signed") }
        try verify(made, at: now)
        return Identity(certificate: try made.pem() + (try certificate.pem()), key: try Self.pem(of: key))
    }

    /// Verifies a certificate like a phone that trusts the authority.
    private func verify(_ made: Certificate, at now: Int64) throws(CertificateError) {
        guard let store = X509_STORE_new(), let context = X509_STORE_CTX_new() else { throw CertificateError("out of memory") }
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
        }
        X509_STORE_add_cert(store, certificate.handle)
        X509_STORE_CTX_init(context, store, made.handle, nil)
        X509_STORE_CTX_set_time(context, 0, time_t(now))
        guard X509_verify_cert(context) == 1 else {
            throw CertificateError(
                "the authority was made for other names (\(String(cString: X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context))))))"
            )
        }
    }

    /// RFC 1918, RFC 4193, link-local and loopback addresses.
    private static let privateNetworks = [
        "10.0.0.0/255.0.0.0", "172.16.0.0/255.240.0.0", "192.168.0.0/255.255.0.0", "169.254.0.0/255.255.0.0",
        "127.0.0.0/255.0.0.0",
        "::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fc00::/fe00::", "fe80::/ffc0::",
    ].map { "permitted;IP:\($0)" }

    private static func makeKey() throws(CertificateError) -> OpaquePointer {
        guard let key = vitalgate_certificate_key() else { throw CertificateError("a key cannot be created") }
        return key
    }

    private static func pem(of key: OpaquePointer) throws(CertificateError) -> String {
        try written { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    private static func unsigned(
        _ name: String, _ key: OpaquePointer, from start: Int64, until end: Int64
    ) throws(CertificateError) -> Certificate {
        guard let handle = X509_new() else { throw CertificateError("out of memory") }
        let certificate = Certificate(owning: handle)
        guard let number = BN_new() else { throw CertificateError("out of memory") }
        defer { BN_free(number) }
        // 127 random bits make it positive and at most 20 bytes long (RFC 5280, 4.1.2.2).
        guard BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1,
            BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle)) != nil,
            // The value 2 means version 3.
            X509_set_version(handle, 2) == 1, ASN1_TIME_set(X509_getm_notBefore(handle), time_t(start)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(handle), time_t(end)) != nil, X509_set_pubkey(handle, key) == 1,
            X509_NAME_add_entry_by_txt(
                X509_get_subject_name(handle), "CN", MBSTRING_UTF8, name, Int32(clamping: name.utf8.count), -1, 0) == 1
        else { throw CertificateError("it cannot be created") }
        return certificate
    }

    private static func extend(
        _ certificate: Certificate, by issuer: Certificate, _ extensions: [(id: Int32, value: String)]
    ) throws(CertificateError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer.handle, certificate.handle, nil, nil, 0)
        for (id, value) in extensions {
            guard let made = X509V3_EXT_nconf_nid(nil, &context, id, value) else {
                throw CertificateError("its extension '\(value)' cannot be created")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate.handle, made, -1) == 1 else { throw CertificateError("it cannot be created") }
        }
    }
}
