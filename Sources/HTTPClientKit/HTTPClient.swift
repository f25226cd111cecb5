import CCurl

/// Asks one server over HTTP, again and again on a connection that is kept. By libcurl.
///
///     let client = try HTTPClient(certificateAuthority: nil)
///     let response = try client.send(HTTPRequest(.post, "https://example.org/write", headers: [("Content-Type", "text/plain")], body: octets))
///
/// Certificates are checked, always; redirections are not followed, since they would lead what we say about people elsewhere; nothing waits for ever.
/// Used by one thread.
public final class HTTPClient {
    private let handle: UnsafeMutableRawPointer
    private let certificateAuthority: String?
    /// Seconds until a connection is there, and until an answer is whole.
    private static let patience = (connect: 15, whole: 60)
    /// Longer answers are cut off: what we ask for is short, but for what is streamed.
    public static let longestAnswer = 1 << 20

    // Once in a process and before anything else.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// - Parameter certificateAuthority: a file of certificates that the server's may be signed by; the system's without it.
    /// - Throws: ``HTTPFailure`` where there is no memory.
    public init(certificateAuthority: String? = nil) throws(HTTPFailure) {
        guard Self.isReady, let handle = curl_easy_init() else { throw HTTPFailure(.other, "libcurl cannot be used") }
        self.handle = handle
        self.certificateAuthority = certificateAuthority
    }

    deinit { curl_easy_cleanup(handle) }

    /// What an answer is put into.
    private final class Collector {
        var head: [UInt8] = []
        var body: [UInt8] = []
        let take: (([UInt8]) -> Bool)?
        init(_ take: (([UInt8]) -> Bool)?) { self.take = take }
    }

    /// Sends a request, and waits for its answer.
    ///
    /// - Parameter take: is given what comes of the body, portion by portion, instead of the answer; returns false to break off.
    /// - Throws: ``HTTPFailure`` where there is no answer. Whether the server has done what was asked is not known then.
    public func send(_ request: HTTPRequest, take: (([UInt8]) -> Bool)? = nil) throws(HTTPFailure) -> HTTPResponse {
        guard !request.url.utf8.contains(0), request.url.hasPrefix("http://") || request.url.hasPrefix("https://") else {
            throw HTTPFailure(.address, "an address begins with http:// or https://")
        }
        curl_easy_reset(handle)
        let collector = Collector(take)
        return try withExtendedLifetime(collector) { () throws(HTTPFailure) in
            let context = Unmanaged.passUnretained(collector).toOpaque()
            setOptions(request, context)
            var list: UnsafeMutablePointer<curl_slist>?
            defer { curl_slist_free_all(list) }
            // No "Expect: 100-continue", for which some servers let us wait.
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
        // No program's settings in the environment send our requests elsewhere.
        _ = vitalgate_curl_set_text(handle, CURLOPT_PROXY, "")
        _ = vitalgate_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        _ = vitalgate_curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        _ = vitalgate_curl_set_number(handle, CURLOPT_CONNECTTIMEOUT, Self.patience.connect)
        if request.isLong {
            // An answer may take as long as it likes, while something comes.
            _ = vitalgate_curl_set_number(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
            _ = vitalgate_curl_set_number(handle, CURLOPT_LOW_SPEED_TIME, Self.patience.whole)
        } else {
            _ = vitalgate_curl_set_number(handle, CURLOPT_TIMEOUT, Self.patience.whole)
        }
        _ = vitalgate_curl_set_number(handle, CURLOPT_TCP_KEEPALIVE, 1)
        if let certificateAuthority { _ = vitalgate_curl_set_text(handle, CURLOPT_CAINFO, certificateAuthority) }
        _ = vitalgate_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { octets, size, count, context in
            guard let octets, let context else { return 0 }
            let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
            guard collector.head.count + size * count <= HTTPClient.longestAnswer else { return 0 }
            collector.head.append(contentsOf: UnsafeRawBufferPointer(start: octets, count: size * count))
            return size * count
        }
        _ = vitalgate_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { octets, size, count, context in
            guard let octets, let context else { return 0 }
            let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
            let portion = UnsafeRawBufferPointer(start: octets, count: size * count)
            if let take = collector.take { return take(Array(portion)) ? size * count : 0 }
            // What is too long is read to its end, so that the connection can go on, and forgotten.
            collector.body.append(contentsOf: portion.prefix(HTTPClient.longestAnswer - collector.body.count))
            return size * count
        }
        _ = vitalgate_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = vitalgate_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    }
}
