/// Check codes that follow a frame's bytes.
package enum CheckCode {
    /// The E2E-CRC of the Bluetooth health services: CRC-16 with the reflected polynomial 0x8408, from 0xFFFF, without a final
    /// exclusive or (Continuous Glucose Monitoring Service 1.0.2, section 3.11).
    package static func endToEnd(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var code: UInt16 = 0xFFFF
        for byte in bytes {
            code ^= UInt16(byte)
            for _ in 0..<8 { code = code & 1 == 1 ? code >> 1 ^ 0x8408 : code >> 1 }
        }
        return code
    }
}
