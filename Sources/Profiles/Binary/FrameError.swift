import Wire

/// Why octets are not a frame of their channel, and where.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// A field is missing or cut off.
        case truncated
        /// Octets are left over.
        case overlong
        /// A bit or a value that is reserved for future use; told in strict mode only.
        case reserved
        /// A value that the format does not allow.
        case prohibited
        /// No such date or time of day.
        case noSuchTime
        /// A record says a size that is not its own.
        case size
        /// The check code is another one than the octets give.
        case checkCode
        /// The ids of a list have to rise.
        case order
        /// Encrypted, and no key or no address is given.
        case keyMissing
        /// Not encrypted with this key by this device, or changed on the way.
        case notAuthentic
        /// A text is not written as the format says.
        case unreadable
        /// Nothing in the octets begins like a frame.
        case noStart
        /// Not of this format at all.
        case notThisFormat
    }

    /// What is wrong.
    public var reason: Reason
    /// Octets in front of the field.
    public var offset: Int
    /// The field's name; empty where there is none.
    public var field: String

    public var description: String {
        let name = field.isEmpty ? "the frame" : field
        return switch reason {
        case .truncated: "truncated: \(name) is missing or cut off"
        case .overlong: "overlong: octets are left over"
        case .reserved: "\(name) has bits or a value reserved for future use"
        case .prohibited: "\(name) has a value that is not allowed"
        case .noSuchTime: "\(name) is no date and time"
        case .size: "the record's size is not that of its fields"
        case .checkCode: "the check code is wrong"
        case .order: "\(name) comes after an object with a higher id"
        case .keyMissing: "the frame is encrypted: a bind key and the device's address are needed"
        case .notAuthentic: "the frame was not encrypted with this key and address"
        case .unreadable: "\(name) is not written as the format says"
        case .noStart: "no frame begins here"
        case .notThisFormat: "\(name) says that this is another format"
        }
    }
}

extension FrameError {
    /// What the framing found, as a decoder says it.
    public init(_ fault: FramingFault) {
        let reason: Reason =
            switch fault.reason {
            case .noStart: .noStart
            case .cut: .truncated
            case .tooLong, .overlong: .overlong
            case .checkCode: .checkCode
            }
        self.init(reason: reason, offset: fault.offset, field: "")
    }
}
