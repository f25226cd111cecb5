/// A record's number, and a fingerprint that distinguishes it from other records with that number.
struct RecordNumber: Equatable {
    var number: UInt16
    var fingerprint: UInt64

    func matches(_ cursor: RecordCursor) -> Bool { number == cursor.number && fingerprint == cursor.fingerprint }

    /// Returns the records of one notification. A CGM notification contains several, each after its size.
    static func numbers(in bytes: [UInt8], _ description: RecordAccessDescription) -> [RecordNumber] {
        switch description.filter {
        case .none: return []
        case .sequenceNumber:
            return number(in: bytes[...], at: description.numberOffset).map {
                [RecordNumber(number: $0, fingerprint: hash(bytes[...]))]
            }
                ?? []
        case .timeOffset:
            var numbers: [RecordNumber] = []
            var start = 0
            // 6 bytes are the smallest record (CGM Service). A size of 0 must not cause an endless loop.
            while start < bytes.count, bytes[start] >= 6, start + Int(bytes[start]) <= bytes.count {
                let record = bytes[start..<start + Int(bytes[start])]
                guard let number = number(in: record, at: description.numberOffset) else { break }
                numbers.append(RecordNumber(number: number, fingerprint: hash(record)))
                start += Int(bytes[start])
            }
            return numbers
        }
    }

    static func number(in bytes: ArraySlice<UInt8>, at offset: Int?) -> UInt16? {
        guard let offset, bytes.count >= offset + 2 else { return nil }
        let start = bytes.startIndex + offset
        return UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8
    }

    /// Returns the 64-bit FNV-1a hash. It only has to distinguish the records of one device, not to resist attacks.
    static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// The meaning of a response code from the control point.
enum RecordResponse: Equatable {
    case success
    case noRecords
    /// Op code, operator or operand not supported: the device cannot answer this request.
    case notSupported
    case busy
    case failed

    init(_ code: UInt8) {
        switch code {
        case 1: self = .success
        case 2, 3, 4, 5, 9: self = .notSupported
        case 6: self = .noRecords
        case 10: self = .busy
        default: self = .failed
        }
    }
}
