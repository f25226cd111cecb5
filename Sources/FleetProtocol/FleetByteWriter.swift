import HealthModel

/// Writes numbers and texts as bytes. ``FleetByteReader`` reads them.
struct FleetByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Seven bits per byte, the lowest first. The highest bit is set if another byte follows.
    mutating func write(_ number: UInt64) { bytes.append(varint: number) }

    /// A signed number. Small ones of either sign are short.
    mutating func write(signed number: Int64) { write(UInt64(bitPattern: (number << 1) ^ (number >> 63))) }

    /// The eight bytes of a number, the lowest first.
    mutating func write(_ number: Double) {
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> UInt64(shift)))
        }
    }

    /// The length and the bytes.
    mutating func write(_ content: some Collection<UInt8>) {
        write(UInt64(content.count))
        bytes += content
    }

    /// The length and the UTF-8 bytes.
    mutating func write(_ text: String) { write(Array(text.utf8)) }

    /// A text that may be missing.
    mutating func write(_ text: String?) {
        bytes.append(text == nil ? 0 : 1)
        if let text { write(text) }
    }
}
