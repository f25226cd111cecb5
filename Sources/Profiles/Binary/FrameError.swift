import Wire

/// The reason and the place why bytes are not a frame of their channel.
package struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// A field is missing or cut off.
        case truncated
        /// Bytes are left over.
        case overlong
        /// A bit or a value is reserved for future use. Reported in strict mode only.
        case reserved
        /// A value is not allowed by the format.
        case prohibited
        /// A date or time of day does not exist.
        case noSuchTime
        /// A record's size does not match its content.
        case size
        /// The check code does not match the bytes.
        case checkCode
        /// The ids of a list do not ascend.
        case order
        /// The frame is encrypted, and the key or the address is missing.
        case keyMissing
        /// The frame was not encrypted with this key by this device, or was changed on the way.
        case notAuthentic
        /// A text does not follow the format.
        case unreadable
        /// The bytes contain no start of a frame.
        case noStart
        case notThisFormat
    }

    package var reason: Reason
    /// The number of bytes before the field.
    package var offset: Int
    /// The field's name, or an empty text.
    package var field: String

    package var description: String {
        let name = field.isEmpty ? "the frame" : field
        return switch reason {
        case .truncated: "truncated: \(name) is missing or cut off"
        case .overlong: "overlong: bytes are left over"
        case .reserved: "\(name) has bits or a value reserved for future use"
        case .prohibited: "\(name) has a value that is not allowed"
        case .noSuchTime: "\(name) is not a date and time"
        case .size: "the record's size is not that of its fields"
        case .checkCode: "the check code is wrong"
        case .order: "\(name) comes after an object with a higher id"
        case .keyMissing: "the frame is encrypted: a bind key and the device's address are needed"
        case .notAuthentic: "the frame was not encrypted with this key and address"
        case .unreadable: "\(name) does not have the required format"
        case .noStart: "no frame begins here"
        case .notThisFormat: "\(name) indicates another format"
        }
    }
}

extension FrameError {
    /// Creates the decoder's error for a framing error.
    package init(_ fault: FramingFault) {
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
