import CompressionKit

/// Compresses a response piece by piece for `Content-Encoding: gzip`. A small machine keeps up only with the fastest level.
final class GzipStream {
    private let stream: DeflateStream

    /// `nil` if there is not enough memory. Send the bytes uncompressed then.
    init?() {
        guard let stream = DeflateStream(.gzip, level: .fast) else { return nil }
        self.stream = stream
    }

    /// - Parameter flushing: whether the client must be able to decompress everything so far.
    func packed(_ bytes: [UInt8], flushing: Bool) -> [UInt8] {
        var output: [UInt8] = []
        bytes.withUnsafeBytes { stream.compress($0, flushing: flushing, to: &output) }
        return output
    }

    /// Returns the remaining bytes and the end of the stream.
    func finished() -> [UInt8] {
        var output: [UInt8] = []
        stream.finish(to: &output)
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
