import HealthModel

/// The fields of one frame. ``FrameDecoder`` fills it and reuses it for the next frame.
package struct DecodedFrame: Sendable {
    struct Entry: Sendable {
        enum Kind: UInt8, Sendable {
            case number, special, dateTime, text, truth, word, constant
            /// The start of a record. The values up to the next entry of this kind belong to it.
            case record
            /// An unknown one-byte id that ended the list.
            case unknownObject
        }

        var kind: Kind
        var field: Int32
        /// The raw value, before scaling.
        var raw: Int64 = 0
        /// The scaled value is coefficient × 10^exponent.
        var coefficient: Int64 = 0
        var exponent: Int16 = 0
        /// The index of the name for a value that is not a number.
        var special: Int16 = -1
        /// The index of scale and unit in ``LayoutPlan/variants``, or -1.
        var variant: Int32 = -1
        /// The index in ``DecodedFrame/texts``.
        var text: Int32 = -1
        /// The number of the record or object, from 0, or -1 outside of records.
        var record: Int32 = -1
    }

    var entries: [Entry] = []
    var texts: [String] = []
    /// All flags and enumerations. See ``BitCondition``.
    var word: UInt64 = 0
    /// Whether bits or values reserved for future use were set and ignored.
    package internal(set) var hasReserved = false
    /// Whether reserved flags are set, so that bytes after the known fields may belong to them.
    var mayBeLonger = false
    /// Whether the frame is encrypted, whether or not it could be decrypted.
    package internal(set) var isSealed = false
    /// The sender's counter of encrypted frames, set only if the frame was decrypted.
    package internal(set) var counter: UInt32?
    /// The offset of trailing bytes without a meaning, or nil if the frame ends with its fields.
    var restAt: Int?
    /// The last repeat or record of the frame, if the link truncated it. A strict decoder refuses such a frame.
    package internal(set) var cutOff: CutOff?

    /// The part of a frame that is missing or incomplete.
    package struct CutOff: Hashable, Sendable {
        /// The name of the field that repeats.
        package var field: String
        /// The number of bytes before the incomplete value.
        package var offset: Int
        /// The received bytes of the incomplete value, possibly empty.
        package var bytes: [UInt8]
    }

    package init() { entries.reserveCapacity(64) }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        if !texts.isEmpty { texts.removeAll(keepingCapacity: true) }
        word = 0
        hasReserved = false
        mayBeLonger = false
        isSealed = false
        counter = nil
        restAt = nil
        cutOff = nil
    }

    /// The last value of a field in a record, or outside of records.
    @inline(__always) func last(_ field: Int32, record: Int32) -> Entry? {
        var index = entries.count
        while index > 0 {
            index -= 1
            if entries[index].field == field, entries[index].record == record, entries[index].kind != .record {
                return entries[index]
            }
        }
        return nil
    }
}

extension DecodedFrame.Entry {
    /// The value with its digits, or `nil` if it is not a number or does not fit into a sample.
    var numeral: Numeral? {
        guard kind == .number else { return nil }
        if exponent <= 0 { return Numeral(coefficient: coefficient, exponent: exponent) }
        var product = coefficient
        for _ in 0..<exponent {
            let (next, overflow) = product.multipliedReportingOverflow(by: 10)
            // FLOAT reaches 8388607 × 10^127. The text keeps that exactly.
            if overflow { return try? Numeral("\(coefficient)e\(exponent)") }
            product = next
        }
        return Numeral(coefficient: product)
    }
}
