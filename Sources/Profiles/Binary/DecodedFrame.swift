import HealthModel

/// What a frame says, field by field; filled by ``FrameDecoder`` and used again for the next frame.
public struct DecodedFrame: Sendable {
    /// One value of one field.
    struct Entry: Sendable {
        enum Kind: UInt8, Sendable {
            case number, special, dateTime, text, truth, word, constant
            /// The field's values that follow, up to the next of its kind, are one record's.
            case record
            /// An id of one octet that ended the list.
            case unknownObject
        }

        var kind: Kind
        var field: Int32
        /// As it was read.
        var raw: Int64 = 0
        /// The value is coefficient × 10^exponent.
        var coefficient: Int64 = 0
        var exponent: Int16 = 0
        /// The word for a value that is no number.
        var special: Int16 = -1
        /// Scale and unit, in ``LayoutPlan/variants``; -1 for none.
        var variant: Int32 = -1
        /// The place in ``DecodedFrame/texts``.
        var text: Int32 = -1
        /// From 0, for the fields of a record or an object; -1 outside.
        var record: Int32 = -1
    }

    var entries: [Entry] = []
    var texts: [String] = []
    /// All flags and enumerations; see ``BitCondition``.
    var word: UInt64 = 0
    /// What encryption hid; empty where there was none.
    var plaintext: [UInt8] = []
    /// Bits or values were set that are reserved for future use, and were passed over.
    public internal(set) var hasReserved = false
    /// Such bits were among flags, so that octets behind the known fields may be theirs.
    var mayBeLonger = false
    /// It is an encrypted one, whether or not it could be opened.
    public internal(set) var isSealed = false
    /// What counts its sender's encrypted frames; only of one that was opened.
    public internal(set) var counter: UInt32?
    /// Where octets without a meaning begin that end it; none where it ends with its fields.
    var restAt: Int?
    /// The last repeat or record of the frame, if the link cut it; a strict decoder refuses such a frame.
    public internal(set) var cutOff: CutOff?

    /// The part of a frame that is missing or incomplete.
    public struct CutOff: Hashable, Sendable {
        /// The field that repeats.
        public var field: String
        /// Octets in front of the incomplete value.
        public var offset: Int
        /// The octets that arrived of it; empty if none did.
        public var octets: [UInt8]
    }

    public init() { entries.reserveCapacity(64) }

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
    /// The value with its digits; `nil` where it is no number, or none that a sample can be.
    var numeral: Numeral? {
        guard kind == .number else { return nil }
        if exponent <= 0 { return Numeral(coefficient: coefficient, exponent: exponent) }
        var product = coefficient
        for _ in 0..<exponent {
            let (next, overflow) = product.multipliedReportingOverflow(by: 10)
            // FLOAT reaches 8388607 × 10^127; the text keeps that exactly.
            if overflow { return try? Numeral("\(coefficient)e\(exponent)") }
            product = next
        }
        return Numeral(coefficient: product)
    }
}
