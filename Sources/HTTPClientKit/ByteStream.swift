import CCurl
import Glibc

/// A connection to a server over TCP or TLS, for protocols that begin with an HTTP request and go on in their own way.
///
/// libcurl resolves the name, connects and checks the certificate (`CURLOPT_CONNECT_ONLY`). Nothing blocks after that:
/// ``wait(_:upTo:)`` waits. Use it from one thread.
package final class ByteStream {
    package enum Event: Sendable { case readable, writable }

    private let handle: UnsafeMutableRawPointer
    private let socket: Int32
    /// The maximum time for connecting, in seconds.
    private static let connectTimeout = 15

    /// Connects.
    ///
    /// - Parameters:
    ///   - url: An address that begins with `http://` or `https://`. Its path is not used.
    ///   - certificateAuthority: The path of the accepted CA certificates, or `nil` for those of the system.
    /// - Throws: ``HTTPFailure`` if it cannot connect.
    package init(_ url: String, certificateAuthority: String? = nil) throws(HTTPFailure) {
        guard !url.utf8.contains(0), url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw HTTPFailure(.address, "the address must begin with http:// or https://")
        }
        guard HTTPClient.isReady, let handle = curl_easy_init() else { throw HTTPFailure(.other, "libcurl cannot be used") }
        _ = vitalgate_curl_set_text(handle, CURLOPT_URL, url)
        _ = vitalgate_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        // Ignores proxies that the environment sets.
        _ = vitalgate_curl_set_text(handle, CURLOPT_PROXY, "")
        _ = vitalgate_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        _ = vitalgate_curl_set_number(handle, CURLOPT_CONNECT_ONLY, 1)
        _ = vitalgate_curl_set_number(handle, CURLOPT_CONNECTTIMEOUT, Self.connectTimeout)
        _ = vitalgate_curl_set_number(handle, CURLOPT_TCP_KEEPALIVE, 1)
        // The server must not choose HTTP/2.
        _ = vitalgate_curl_set_number(handle, CURLOPT_SSL_ENABLE_ALPN, 0)
        if let certificateAuthority { _ = vitalgate_curl_set_text(handle, CURLOPT_CAINFO, certificateAuthority) }
        let code = curl_easy_perform(handle)
        let socket = code == CURLE_OK ? vitalgate_curl_socket(handle) : -1
        guard code == CURLE_OK, socket >= 0 else {
            curl_easy_cleanup(handle)
            throw code == CURLE_OK ? HTTPFailure(.other, "libcurl has no socket") : HTTPFailure(code)
        }
        (self.handle, self.socket) = (handle, socket)
    }

    deinit { curl_easy_cleanup(handle) }

    /// Reads the bytes that have arrived.
    ///
    /// - Returns: The number of bytes, 0 at the end of the connection, or `nil` if nothing has arrived.
    /// - Throws: ``HTTPFailure`` if the connection is broken.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(HTTPFailure) -> Int? {
        var count = 0
        let code = curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count)
        if code == CURLE_AGAIN { return nil }
        guard code == CURLE_OK else { throw HTTPFailure(code) }
        return count
    }

    /// Writes as much as fits.
    ///
    /// - Returns: The number of bytes, or `nil` if none fit.
    /// - Throws: ``HTTPFailure`` if the connection is broken.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure) -> Int? {
        var count = 0
        let code = curl_easy_send(handle, bytes.baseAddress, bytes.count, &count)
        if code == CURLE_AGAIN { return nil }
        guard code == CURLE_OK else { throw HTTPFailure(code) }
        return count
    }

    /// Returns the bytes that have arrived, up to 4096. Empty at the end of the connection, `nil` if none have arrived.
    package func read() throws(HTTPFailure) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let result = buffer.withUnsafeMutableBytes { bytes in Result { () throws(HTTPFailure) in try read(into: bytes) } }
        return try result.get().map { Array(buffer[..<$0]) }
    }

    /// Writes as much as fits, and returns the rest.
    package func write(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> ArraySlice<UInt8> {
        let result = bytes.withUnsafeBytes { bytes in Result { () throws(HTTPFailure) in try write(bytes) } }
        return bytes.dropFirst(try result.get() ?? 0)
    }

    /// Waits for an event. A readable TLS connection may have no bytes yet.
    ///
    /// - Parameter signal: A descriptor that ends the wait when it is readable.
    /// - Returns: Whether the signal ended it.
    @discardableResult
    package func wait(_ event: Event, upTo duration: Duration, or signal: Int32? = nil) -> Bool {
        var descriptors = [
            pollfd(fd: socket, events: Int16(event == .readable ? POLLIN : POLLOUT), revents: 0),
            // poll(2) ignores a negative one.
            pollfd(fd: signal ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds =
            duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        _ = poll(&descriptors, 2, Int32(clamping: max(1, milliseconds)))
        return descriptors[1].revents != 0
    }
}
