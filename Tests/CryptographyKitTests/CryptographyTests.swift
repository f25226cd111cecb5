import CryptographyKit
import Testing

@Suite struct CryptographyTests {
    /// Packet vector 1 of RFC 3610, section 8.
    @Test func opensAnAuthenticatedMessage() {
        let key = Array(UInt8(0xC0)...0xCF)
        let nonce: [UInt8] = [0, 0, 0, 3, 2, 1, 0, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5]
        let header = Array(UInt8(0)...7)
        let sealed: [UInt8] = [
            0x58, 0x8C, 0x97, 0x9A, 0x61, 0xC6, 0x63, 0xD2, 0xF0, 0x66, 0xD0, 0xC2, 0xC0, 0xF9, 0x89, 0x80, 0x6D, 0x5F, 0x6B,
            0x61,
            0xDA, 0xC3, 0x84, 0x17, 0xE8, 0xD1, 0x2C, 0xFD, 0xF9, 0x26, 0xE0,
        ]
        func opened(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8], header: [UInt8]) -> [UInt8]? {
            sealed.withUnsafeBytes { bytes in
                AESCCM.open(
                    UnsafeRawBufferPointer(rebasing: bytes[..<23]), tag: UnsafeRawBufferPointer(rebasing: bytes[23...]),
                    key: key,
                    nonce: nonce, authenticated: header)
            }
        }
        #expect(opened(sealed, key: key, nonce: nonce, header: header) == Array(UInt8(8)...0x1E))
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 1
            #expect(opened(damaged, key: key, nonce: nonce, header: header) == nil)
        }
        #expect(opened(sealed, key: key, nonce: nonce, header: []) == nil)
        #expect(opened(sealed, key: key, nonce: nonce.reversed(), header: header) == nil)
        #expect(opened(sealed, key: Array(key.dropLast()), nonce: nonce, header: header) == nil)
    }

    /// Test case 2 of RFC 4231.
    @Test func authenticatesAMessage() {
        let code = AuthenticationCode.sha256(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        let digits = "0123456789abcdef".map(String.init)
        #expect(
            code.map { digits[Int($0 >> 4)] + digits[Int($0 & 15)] }.joined()
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
