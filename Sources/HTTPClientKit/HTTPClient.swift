import CCurl

/// Sends requests to one server over a kept-alive connection, with libcurl.
///
///     let client = try HTTPClient(certificateAuthority: nil)
///     let response = try client.send(HTTPRequest(.post, "https://example.org/write", headers: [("Content-Type", "text/plain")], body: octets))
///
/// Certificates are always checked. Redirections are not followed, because they would send health data elsewhere. Every request has a
/// timeout. Use it from one thread.
package final class HTTPClient {
    private let handle: UnsafeMutableRawPointer
    private let certificateAuthority: String?
    /// Timeouts in seconds for connecting and for the complete response.
    private static let timeout = (connect: 15, whole: 60)
    /// The maximum length of a stored response in bytes. Longer ones are cut off.
    package static let maximumAnswerLength = 1 << 20

    // Once in a process, before any other call.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// - Parameter certificateAuthority: the path of the accepted CA certificates, or `nil` for those of the system.
    /// - Throws: ``HTTPFailure`` if libcurl cannot be used.
    package init(certificateAuthority: String? = nil) throws(HTTPFailure) {
        guard Self.isReady, let handle = curl_easy_init() else { throw HTTPFailure(.other, "libcurl cannot be used") }
        self.handle = handle
        self.certificateAuthority = certificateAuthority
    }

    deinit { curl_easy_cleanup(handle) }

    private final class Collector {
        var head: [UInt8] = []
        var body: [UInt8] = []
        let take: (([UInt8]) -> Bool)?
        init(_ take: (([UInt8]) -> Bool)?) { self.take = take }
    }

    /// Sends a request and waits for its response.
    ///
    /// - Parameter take: receives the portions of the body instead of the response. Return `false` to abort.
    /// - Throws: ``HTTPFailure`` if there is no response. The server may or may not have executed the request.
    package func send(_ request: HTTPRequest, take: (([UInt8]) -> Bool)? = nil) throws(HTTPFailure) -> HTTPResponse {
        guard !request.url.utf8.contains(0), request.url.hasPrefix("http://") || request.url.hasPrefix("https://") else {
            throw HTTPFailure(.address, "the address must begin with http:// or https://")
        }
        curl_easy_reset(handle)
        let collector = Collector(take)
        return try withExtendedLifetime(collector) { () throws(HTTPFailure) in
            let context = Unmanaged.passUnretained(collector).toOpaque()
            setOptions(request, context)
            var list: UnsafeMutablePointer<curl_slist>?
            defer { curl_slist_free_all(list) }
            // Without "Expect: 100-continue", for which some servers delay the request.
            for (name, value) in request.headers + [("Expect", "")] {
                guard !name.utf8.contains(where: { $0 < 0x21 || $0 == 0x3A }),
                    !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 })
                else {
                    throw HTTPFailure(.address, "a header of the request holds control characters")
                }
                list = curl_slist_append(list, "\(name): \(value)")
            }
            _ = vitalgate_curl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
            let code = request.body.withUnsafeBytes { body in
                if !request.body.isEmpty || request.method != .get {
                    _ = vitalgate_curl_set_pointer(handle, CURLOPT_POSTFIELDS, body.baseAddress)
                    _ = vitalgate_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
                }
                _ = vitalgate_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
                return curl_easy_perform(handle)
            }
            guard code == CURLE_OK else { throw HTTPFailure(code) }
            return HTTPResponse(
                status: Int(vitalgate_curl_status(handle)), headers: HTTPResponse.headers(of: collector.head),
                body: collector.body)
        }
    }

    private func setOptions(_ request: HTTPRequest, _ context: UnsafeMutableRawPointer) {
        _ = vitalgate_curl_set_text(handle, CURLOPT_URL, request.url)
        _ = vitalgate_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = vitalgate_curl_set_text(handle, CURLOPT_USERAGENT, "vitalgate")
        // Ignores proxies that the environment sets.
        _ = vitalgate_curl_set_text(handle, CURLOPT_PROXY, "")
        _ = vitalgate_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        _ = vitalgate_curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        _ = vitalgate_curl_set_number(handle, CURLOPT_CONNECTTIMEOUT, Self.timeout.connect)
        if request.isLong {
            // A long response has no time limit while bytes arrive.
            _ = vitalgate_curl_set_number(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
            _ = vitalgate_curl_set_number(handle, CURLOPT_LOW_SPEED_TIME, Self.timeout.whole)
        } else {
            _ = vitalgate_curl_set_number(handle, CURLOPT_TIMEOUT, Self.timeout.whole)
        }
        _ = vitalgate_curl_set_number(handle, CURLOPT_TCP_KEEPALIVE, 1)
        if let certificateAuthority { _ = vitalgate_curl_set_text(handle, CURLOPT_CAINFO, certificateAuthority) }
        _ = vitalgate_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
            guard collector.head.count + size * count <= HTTPClient.maximumAnswerLength else { return 0 }
            collector.head.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
            return size * count
        }
        _ = vitalgate_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
            let portion = UnsafeRawBufferPointer(start: bytes, count: size * count)
            if let take = collector.take { return take(Array(portion)) ? size * count : 0 }
            // Reads an overlong response to its end to keep the connection usable, and drops the excess.
            collector.body.append(contentsOf: portion.prefix(HTTPClient.maximumAnswerLength - collector.body.count))
            return size * count
        }
        _ = vitalgate_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = vitalgate_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    }
}
