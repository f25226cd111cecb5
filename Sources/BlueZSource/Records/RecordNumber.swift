/// A record's number and what tells it from another record with that number.
struct RecordNumber: Equatable {
    var number: UInt16
    var fingerprint: UInt64

    func matches(_ cursor: RecordCursor) -> Bool { number == cursor.number && fingerprint == cursor.fingerprint }

    /// The records of one notification. A CGM notification holds several, each with its size in front.
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
            // 6 octets are the smallest record (CGM Service): a size of 0 must not go round for ever.
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

    /// FNV-1a, 64 bits: it has to tell one device's records apart, not to withstand anybody.
    static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// A response code of the control point, by what it means for us.
enum RecordResponse: Equatable {
    case success
    case noRecords
    /// Op code, operator or operand: the device cannot answer this question.
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
