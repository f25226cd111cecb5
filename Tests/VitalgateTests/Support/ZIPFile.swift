/// A ZIP archive as an attacker would write it: any name, any size, any data.
struct ZIPFile {
    struct Member {
        var name: String
        var data: [UInt8]
        var method: UInt16
        var size: Int
        var checksum: UInt32

        /// Stored without compression.
        init(name: String, _ data: [UInt8]) {
            (self.name, self.data, method, size, checksum) = (name, data, 0, data.count, ZIPFile.checksum(data))
        }

        /// Already compressed data with a declared size.
        init(name: String, deflated data: [UInt8], size: Int) {
            (self.name, self.data, method, self.size, checksum) = (name, data, 8, size, 0)
        }
    }

    private(set) var bytes: [UInt8] = []

    /// Local headers and data, the directory, its end (APPNOTE 4.3).
    init(members: [Member]) {
        var directory: [UInt8] = []
        for member in members {
            let offset = bytes.count
            var common: [UInt8] = []
            for field in [20, 0, member.method, 0, 0] as [UInt16] { Self.append(UInt64(field), 2, to: &common) }
            for field in [UInt64(member.checksum), UInt64(member.data.count), UInt64(member.size)] {
                Self.append(field, 4, to: &common)
            }
            Self.append(UInt64(member.name.utf8.count), 2, to: &common)
            Self.append(0, 2, to: &common)
            bytes += [0x50, 0x4B, 0x03, 0x04] + common + Array(member.name.utf8) + member.data
            directory += [0x50, 0x4B, 0x01, 0x02, 20, 0] + common + [UInt8](repeating: 0, count: 10)
            Self.append(UInt64(offset), 4, to: &directory)
            directory += Array(member.name.utf8)
        }
        let offset = bytes.count
        bytes += directory + [0x50, 0x4B, 0x05, 0x06, 0, 0, 0, 0]
        Self.append(UInt64(members.count), 2, to: &bytes)
        Self.append(UInt64(members.count), 2, to: &bytes)
        Self.append(UInt64(directory.count), 4, to: &bytes)
        Self.append(UInt64(offset), 4, to: &bytes)
        bytes += [0, 0]
    }

    private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    }

    /// CRC-32, bit by bit.
    static func checksum(_ data: [UInt8]) -> UInt32 {
        ~data.reduce(0xFFFF_FFFF) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}
