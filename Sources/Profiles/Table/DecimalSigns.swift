import HealthModel

/// Finds the decimal sign from the values of a file, without guessing.
///
/// If a profile sets `auto`, its columns have no thousands separators, so a single `.` or `,` is a decimal sign. Only if exactly three
/// digits follow it (`1,024`) could another program have added a thousands separator. Then other values must show that the file uses this
/// decimal sign.
struct DecimalSigns: Sendable {
    private(set) var point = false
    private(set) var comma = false

    init() {}

    /// Creates the result for a sign that the user chose.
    init(decided sign: DecimalSign) {
        point = sign == .point
        comma = sign == .comma
    }

    enum Sign: Hashable {
        case none, point, comma
        /// Other values must decide.
        case contested
        case notANumber
    }

    /// Returns the sign that one cell shows.
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
        // `0,512` and `1024,512` cannot be thousands.
        let contested = bytes.count - separator == 4 && (1...3).contains(whole) && bytes[first] != UInt8(ascii: "0")
        return (contested ? .contested : byte == UInt8(ascii: ".") ? .point : .comma, byte)
    }

    mutating func note(_ bytes: UnsafeRawBufferPointer) {
        switch Self.classify(bytes).sign {
        case .point: point = true
        case .comma: comma = true
        default: break
        }
    }

    /// Returns the decimal sign of a cell, or the reason why it is undecided.
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
                        "the sign before three digits may be a decimal sign or separate thousands, and no other value shows which: "
                        + "--decimal point or --decimal comma does"))
        }
    }

    struct Undecided: Error { var reason: String }
}
