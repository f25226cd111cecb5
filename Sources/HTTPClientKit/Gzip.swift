import CZlib

/// Compression for `Content-Encoding: gzip`.
public enum Gzip {
    /// Returns the gzip-compressed bytes, or `nil` if compression fails. Send them uncompressed then.
    public static func packed(_ octets: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard vitalgate_gzip_begin(&stream) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(octets.count))))
        var input = octets
        let code = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard code == Z_STREAM_END else { return nil }
        output.removeLast(Int(stream.avail_out))
        return output
    }
}
