import HealthModel

/// Reads what ``FleetByteWriter`` wrote. Every length is checked against the bytes that are left.
struct FleetByteReader {
    private var varints: VarintReader
    private var rest: ArraySlice<UInt8> {
        get { varints.rest }
        _modify { yield &varints.rest }
    }

    init(_ bytes: ArraySlice<UInt8>) { varints = VarintReader(bytes) }

    var isAtEnd: Bool { rest.isEmpty }

    /// The number of bytes that were read of an array that this reader began at.
    func position(in bytes: [UInt8]) -> Int { bytes.count - rest.count }

    mutating func byte() throws(BlockFault) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .truncated }
        return byte
    }

    mutating func number() throws(BlockFault) -> UInt64 {
        guard let number = varints.next() else { throw isAtEnd ? .truncated : .invalid("a number is too large") }
        return number
    }

    mutating func number(below bound: Int) throws(BlockFault) -> Int {
        let number = try number()
        guard number < UInt64(bound) else { throw .invalid("a number is too large") }
        return Int(number)
    }

    mutating func signed() throws(BlockFault) -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func double() throws(BlockFault) -> Double {
        var bits: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 8) { bits |= UInt64(try byte()) << UInt64(shift) }
        return Double(bitPattern: bits)
    }

    mutating func bytes() throws(BlockFault) -> ArraySlice<UInt8> {
        let count = try number()
        guard count <= UInt64(rest.count) else { throw .truncated }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    mutating func text() throws(BlockFault) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else { throw .invalid("a text is not UTF-8") }
        return text
    }

    mutating func optionalText() throws(BlockFault) -> String? {
        switch try byte() {
        case 0: nil
        case 1: try text()
        default: throw .invalid("a text is neither present nor missing")
        }
    }
}

/// The reason why bytes are not a block or a request.
package enum BlockFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end too early.
    case truncated
    /// The bytes are too many after decompression. Half of the changes may be read.
    case tooLong
    /// A value that no hub writes, described without the value.
    case invalid(String)

    package var description: String {
        switch self {
        case .truncated: "the block is truncated"
        case .tooLong: "the block is too long after decompression"
        case .invalid(let words): "the block is invalid: \(words)"
        }
    }
}
