import HealthModel

/// Tells decimal signs from the values of a file, without guessing.
///
/// Where a profile says `auto`, a column has no separators between thousands, so a lone `.` or `,` is a decimal sign. Only
/// where exactly three digits follow (`1,024`) could it be another program's thousands: then the other values must show that
/// the file writes decimals with this sign.
struct DecimalSigns: Sendable {
    private(set) var point = false
    private(set) var comma = false

    init() {}

    /// What a person said.
    init(decided sign: DecimalSign) {
        point = sign == .point
        comma = sign == .comma
    }

    enum Sign: Hashable {
        case none, point, comma
        /// It takes other values to tell.
        case contested
        case notANumber
    }

    /// What one cell shows.
    static func classify(_ bytes: UnsafeRawBufferPointer) -> (sign: Sign, byte: UInt8) {
        var separator: Int?
        for index in bytes.indices where bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: ",") {
            guard separator == nil else { return (.notANumber, 0) }
            separator = index
        }
        guard let separator else { return (.none, 0) }
        let byte = bytes[separator]
        let first = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? 1 : 0
        let whole = separator - first
        // `0,512` and `1024,512` have no thousands in front of the sign.
        let contested = bytes.count - separator == 4 && (1...3).contains(whole) && bytes[first] != UInt8(ascii: "0")
        return (contested ? .contested : byte == UInt8(ascii: ".") ? .point : .comma, byte)
    }

    /// Remembers what a cell shows.
    mutating func note(_ bytes: UnsafeRawBufferPointer) {
        switch Self.classify(bytes).sign {
        case .point: point = true
        case .comma: comma = true
        default: break
        }
    }

    /// The decimal sign of a cell, or why it cannot be told.
    func separator(of bytes: UnsafeRawBufferPointer) -> Result<UInt8, Undecided> {
        let (sign, byte) = Self.classify(bytes)
        switch sign {
        case .none, .point: return .success(UInt8(ascii: "."))
        case .comma: return .success(UInt8(ascii: ","))
        case .notANumber: return .failure(Undecided(reason: "not a number: it has more than one separator"))
        case .contested:
            let isPoint = byte == UInt8(ascii: ".")
            if isPoint ? point : comma { return .success(byte) }
            return .failure(
                Undecided(
                    reason:
                        "the sign in front of three digits may be a decimal sign or between thousands, and no other value tells; "
                        + "--decimal point or --decimal comma does"))
        }
    }

    struct Undecided: Error { var reason: String }
}
