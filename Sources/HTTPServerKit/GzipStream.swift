import CGzip

/// Compresses a response piece by piece for `Content-Encoding: gzip`.
final class GzipStream {
    private var stream = z_stream()

    /// `nil` if there is not enough memory. Send the bytes uncompressed then.
    init?() {
        guard vitalgate_gzip_stream_begin(&stream) == Z_OK else { return nil }
    }

    deinit { deflateEnd(&stream) }

    /// - Parameter flushing: whether the client must be able to decompress everything so far.
    func packed(_ octets: [UInt8], flushing: Bool) -> [UInt8] { run(octets, flushing ? Z_SYNC_FLUSH : Z_NO_FLUSH) }

    /// Returns the remaining bytes and the end of the stream.
    func finished() -> [UInt8] { run([], Z_FINISH) }

    private func run(_ octets: [UInt8], _ flush: Int32) -> [UInt8] {
        var (input, output): ([UInt8], [UInt8]) = (octets, [])
        var piece = [UInt8](repeating: 0, count: 16_384)
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            repeat {
                let written = piece.withUnsafeMutableBufferPointer { piece in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = UInt32(piece.count)
                    _ = deflate(&stream, flush)
                    return piece.count - Int(stream.avail_out)
                }
                output += piece[..<written]
            } while stream.avail_out == 0
        }
        return output
    }

    /// Whether the client accepts gzip (`Accept-Encoding`, RFC 9110, section 12.5.3).
    static func isAccepted(_ header: String?) -> Bool {
        for coding in (header ?? "").split(separator: ",") {
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard parts.first == "gzip" else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return weight > 0
        }
        return false
    }
}
