import Testing
import Wire

@Suite struct WireTests {
    /// IEEE 11073-20601, as tabulated by HL7's Personal Health Device guide (FLOATS): bytes 6C F1 are 36.4.
    @Test(
        arguments: [
            (0xF16C, 364, -1), (0x0048, 72, 0), (0xB06B, 107, -5), (0xF001, 1, -1), (0x0FFF, -1, 0), (0x7001, 1, 7),
            (0x8001, 1, -8),
            (0x07FD, 2045, 0), (0x0803, -2045, 0), (0xF803, -2045, -1), (0x0000, 0, 0), (0xF000, 0, -1),
        ] as [(UInt16, Int32, Int8)])
    func sfloat(raw: UInt16, mantissa: Int32, exponent: Int8) {
        #expect(MedicalNumber(sfloat: raw) == .decimal(mantissa: mantissa, exponent: exponent))
    }

    @Test(
        arguments: [
            (0xFF00_016C, 364, -1), (0xFE00_0E44, 3652, -2), (0x0000_0025, 37, 0), (0xFA80_0003, -8_388_605, -6),
            (0xFB7F_FFFD, 8_388_605, -5), (0x7F00_0001, 1, 127), (0x8000_0001, 1, -128), (0x00FF_FFFF, -1, 0),
        ] as [(UInt32, Int32, Int8)])
    func float(raw: UInt32, mantissa: Int32, exponent: Int8) {
        #expect(MedicalNumber(float: raw) == .decimal(mantissa: mantissa, exponent: exponent))
    }

    @Test(
        arguments: [
            (0x07FF, 0x007F_FFFF, .notANumber), (0x0800, 0x0080_0000, .notAtThisResolution),
            (0x07FE, 0x007F_FFFE, .positiveInfinity),
            (0x0802, 0x0080_0002, .negativeInfinity), (0x0801, 0x0080_0001, .reserved),
        ] as [(UInt16, UInt32, MedicalNumber.Special)])
    func specialValuesWithAnyExponent(short: UInt16, long: UInt32, special: MedicalNumber.Special) {
        for exponent in 0..<UInt16(16) { #expect(MedicalNumber(sfloat: short | exponent << 12) == .special(special)) }
        for exponent in 0..<UInt32(256) { #expect(MedicalNumber(float: long | exponent << 24) == .special(special)) }
    }

    /// Every SFLOAT there is, against the definition in floating point.
    @Test func everySFLOATMatchesDefinition() {
        var numbers = 0
        for raw in UInt16.min...UInt16.max {
            guard case .decimal(let mantissa, let exponent) = MedicalNumber(sfloat: raw) else { continue }
            let low = Int32(raw & 0xFFF)
            let high = Int32(raw >> 12)
            #expect(mantissa == (low >= 2048 ? low - 4096 : low) && Int32(exponent) == (high >= 8 ? high - 16 : high))
            numbers += 1
        }
        #expect(numbers == 65_536 - 5 * 16)
    }

    @Test func readerKeepsPositionIfBytesAreMissing() {
        let bytes: [UInt8] = [0x01, 0x02, 0xFF, 0xFE, 0x80, 0x00, 0x00]
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            #expect(reader.unsigned(2) == 0x0201)
            #expect(reader.signed(2) == -257)
            #expect(reader.next == 0x80)
            #expect(reader.unsigned(4) == nil && reader.offset == 4)
            #expect(reader.window(4) == nil)
            var window = reader.window(2)
            #expect(window?.unsigned(2, bigEndian: true) == 0x8000)
            #expect(window?.isAtEnd == true && window?.unsigned(1) == nil)
            #expect(reader.readBytes(since: 2).elementsEqual([0xFF, 0xFE]))
            #expect(reader.signed(1) == -128)
            #expect(reader.readBytes(3) == nil && reader.readBytes(2)?.count == 2 && reader.isAtEnd)
        }
    }

    @Test(arguments: [(1, -128, 0x80), (2, -32768, 0x8000), (3, -8_388_608, 0x80_0000), (4, -2_147_483_648, 0x8000_0000)])
    func signedIntegersOfEveryWidth(width: Int, value: Int64, raw: UInt64) {
        let bytes = (0..<width).map { UInt8(truncatingIfNeeded: raw >> UInt64(8 * $0)) }
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            #expect(reader.signed(width) == value)
        }
        let maximum = [UInt8](repeating: 0xFF, count: 8)
        maximum.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            #expect(reader.signed(8) == -1)
        }
    }

    /// Published with NordicSemiconductor/Android-BLE-Common-Library's tests of the glucose measurement.
    @Test func endToEndCheckCode() {
        #expect(CheckCode.endToEnd([0x08, 0x00, 0x0C, 0x10, 0x06, 0x00]) == 0x6F59)
        #expect(CheckCode.endToEnd([]) == 0xFFFF)
    }

    @Test func hexadecimalText() {
        #expect(HexadecimalText.bytes("16480C03") == [0x16, 0x48, 0x0C, 0x03])
        #expect(HexadecimalText.bytes("16 48:0c-03") == [0x16, 0x48, 0x0C, 0x03])
        #expect(HexadecimalText.bytes("") == [])
        for bad in ["1", "1 6", "0x16", "16480C0", "zz", "1６"] { #expect(HexadecimalText.bytes(bad) == nil) }
        #expect(HexadecimalText.text([0x00, 0xAB, 0x9F]) == "00ab9f")
    }
}
