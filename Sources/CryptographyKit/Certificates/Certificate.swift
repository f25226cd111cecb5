import CCrypto

/// A certificate (X.509) that is read from or written to text (PEM).
///
///     let certificate = try Certificate(pem: text)
///     print(certificate.names, certificate.expires)
package final class Certificate {
    let handle: OpaquePointer

    /// Takes ownership of the handle.
    init(owning handle: OpaquePointer) { self.handle = handle }

    /// Reads the first certificate in a PEM text.
    package convenience init(pem: String) throws(CertificateError) {
        guard let handle = reading(pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            throw CertificateError("it is not a certificate in PEM format")
        }
        self.init(owning: handle)
    }

    deinit { X509_free(handle) }

    /// The names and addresses that the certificate is valid for.
    package var names: Set<HostName> {
        guard let list = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else { return [] }
        let all = OpaquePointer(list)
        defer { vitalgate_free_names(all) }
        var names: Set<HostName> = []
        for index in 0..<vitalgate_alternative_names(all) {
            guard let one = vitalgate_alternative_name(all, index), let text = vitalgate_name_text(one),
                let start = ASN1_STRING_get0_data(text)
            else { continue }
            let bytes = Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(text))))
            if vitalgate_name_is_address(one) != 0 {
                names.insert(.address(bytes))
            } else if let name = HostName(String(decoding: bytes, as: UTF8.self)) {
                names.insert(name)
            }
        }
        return names
    }

    /// The end of its validity in seconds since 1970.
    package var expires: Int64 {
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard let epoch = ASN1_TIME_set(nil, 0) else { return 0 }
        defer { ASN1_STRING_free(epoch) }
        guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(handle)) == 1 else { return 0 }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    package func pem() throws(CertificateError) -> String {
        try written { PEM_write_bio_X509($0, handle) }
    }
}

/// Returns the result of a function that reads the text. OpenSSL does not copy the bytes, so they stay in place during the call.
func reading(_ text: String, _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    Array(text.utf8).withUnsafeBytes { bytes in
        guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// Returns the text that a function writes to memory.
func written(_ body: (OpaquePointer) -> Int32) throws(CertificateError) -> String {
    guard let bio = BIO_new(BIO_s_mem()) else { throw CertificateError("out of memory") }
    defer { BIO_free(bio) }
    var start: UnsafeMutablePointer<CChar>?
    guard body(bio) == 1, case let count = vitalgate_bio_text(bio, &start), count > 0, let start else {
        throw CertificateError("it cannot be written")
    }
    return start.withMemoryRebound(to: UInt8.self, capacity: count) {
        String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
    }
}
