/// Why a text is not metadata as ``Metadata/json`` prints it.
public enum MetadataError: JSONFailure, Hashable, CustomStringConvertible {
    /// The byte at this offset, counted from 0, is invalid.
    case malformed(offset: Int)
    /// A key is repeated.
    case repeated(key: String)
    /// A quantity's unit is not a UCUM code.
    case unit(UnitError)

    public init(_ fault: JSONFault) { self = .malformed(offset: fault.index) }

    public var description: String {
        switch self {
        case .malformed(let offset): "metadata: unexpected character at position \(offset + 1)"
        case .repeated(let key): "metadata: duplicate key \(key)"
        case .unit(let error): "metadata: \(error)"
        }
    }
}
