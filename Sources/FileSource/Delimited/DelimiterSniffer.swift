/// Detects the delimiter of a text if no profile names one.
enum DelimiterSniffer {
    static let candidates: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]

    /// Returns the most frequent candidate outside of quotes in the first line that contains one.
    static func delimiter(of text: UnsafeRawBufferPointer) -> UInt8 {
        var counts = [Int](repeating: 0, count: candidates.count)
        var quoted = false
        for byte in text.prefix(64 * 1024) {
            if byte == UInt8(ascii: "\"") { quoted.toggle() }
            if quoted { continue }
            if let index = candidates.firstIndex(of: byte) { counts[index] += 1 }
            if byte == 0x0A || byte == 0x0D, counts.contains(where: { $0 > 0 }) { break }
        }
        let best = counts.indices.max { counts[$0] < counts[$1] || (counts[$0] == counts[$1] && $0 > $1) }
        return candidates[best ?? 0]
    }
}
