import HealthModel
import Wire

/// A channel's compiled layout: steps that run once for each frame, and tables that they point into.
///
/// Steps contain numbers only, so that running them does no reference counting and no allocation. Names and units are stored separately,
/// and are used only when fields are printed or readings are made.
struct LayoutPlan: Sendable {
    var steps: [LayoutStep] = []
    /// The frame's own steps.
    var root = 0..<0
    /// Steps of repeated records and of the objects of a list. Other steps refer to them by number.
    var inner: [Range<Int>] = []
    var objectLists: [ObjectList] = []
    var fields: [LayoutField] = []
    var variants: [Variant] = []
    var units: [VariantUnit] = []
    var specials: [SpecialRule] = []
    /// Names for values that are not numbers. The first ones are those of ``MedicalNumber/Special``, in its order.
    var specialNames: [String] = []
    var parts: [BitPart] = []
    /// The framing of a stream, or nil if the transport delivers whole frames.
    var framing: Framing?
    /// Whether the second byte contains the highest bits of the bytes after it.
    var isPacked = false
    /// Fixed texts in a line.
    var literals: [[UInt8]] = []
    /// Alternatives for a word in a line, longest first.
    var choices: [[Choice]] = []
    var patterns: [TimePattern] = []
    /// Sets of allowed numbers of remaining bytes.
    var sizes: [Set<Int>] = []
    var checks: [Check] = []
    var totals: [Total] = []

    /// Fields that are added, and the condition under which the sum is negative.
    struct Total: Sendable {
        var fields: [Int32]
        var minus: BitCondition?
    }

    /// A list of objects that consist of an id and a value.
    struct ObjectList: Sendable {
        /// The size of the id in bytes, and whether the byte after it is the value's length.
        var idWidth = 1
        var hasLength = false
        /// The steps for each known id.
        var steps: [UInt16: Range<Int>] = [:]
    }

    struct Choice: Sendable {
        var word: [UInt8]
        var value: Int64
    }

    /// The scale that applies if a condition holds.
    struct Variant: Sendable {
        var condition: BitCondition
        var coefficient: Int64 = 1
        var exponent: Int16 = 0
        /// If not 0, the scale is 1 / 2^binaryPower, and coefficient and exponent are not used.
        var binaryPower: Int = 0
        /// If not 0, the scale is coefficient / divisor, rounded to `digits` decimal places.
        var divisor: Int64 = 0
        var digits: Int16 = 0
        /// The offset that is added after scaling, as coefficient × 10^exponent.
        var addend: Int64 = 0
        var addendExponent: Int16 = 0
    }

    /// Whether a frame may end in more than one place, so that a part of a frame can be a frame itself.
    var isOpenEnded: Bool {
        framing == nil
            && steps.contains { step in
                switch step.kind {
                case .records, .objects: true
                // If there are two sizes, the longer frame begins like the shorter one.
                case .left: sizes[Int(step.reference)].count > 1
                case .text, .bytes: step.width == 0 && !step.hasLength
                default: step.repetition == .toTheEnd || step.isOptional
                }
            }
    }

    struct VariantUnit: Sendable {
        var printed: String?
        /// The unit in UCUM, or nil if UCUM has none (a jin, for example).
        var ucum: Unit?
    }

    /// A raw value that is not a number.
    struct SpecialRule: Sendable {
        var raw: Int64
        var name: Int16
    }

    /// A part of a word of bits that has to be checked.
    struct BitPart: Sendable {
        var shift: UInt8
        var width: UInt8
        /// Bit n is set if the value n is known. 0 allows any value.
        var allowed: UInt64 = 0
        /// The only value that this format allows, or -1 for any.
        var required: Int16 = -1
        /// Whether an unknown value means another format rather than a future extension.
        var isClosed = false

        func value(of raw: UInt64) -> UInt64 { raw >> UInt64(shift) & (width >= 64 ? .max : 1 << UInt64(width) - 1) }
    }
}

/// A condition on the bits that were read so far.
///
/// All flags and enumerations of a frame are in one word of 64 bits. Bits that are absent or not read yet are 0.
struct BitCondition: Hashable, Sendable {
    var mask: UInt64 = 0
    var value: UInt64 = 0
    /// Bits at least one of which must differ from `otherValue`, or 0 for none.
    var otherMask: UInt64 = 0
    var otherValue: UInt64 = 0

    static let always = BitCondition()

    @inline(__always) func matches(_ word: UInt64) -> Bool {
        word & mask == value && (otherMask == 0 || word & otherMask != otherValue)
    }

    /// Whether some word can meet both conditions, judged by their mask and value only.
    func isCompatible(with other: BitCondition) -> Bool { (value ^ other.value) & mask & other.mask == 0 }
}

struct LayoutStep: Sendable {
    enum Kind: UInt8, Sendable {
        case integer, word, sfloat, float, dateTime, text, bytes, skip, checkCode
        case records, objects, sealed
        /// An IEEE 754 number, and the rest of the frame without a meaning.
        case binaryFloat, rest
        /// Checks that produce no value.
        case left, expected, address, check, masked
        /// Fields computed from other fields. These steps read no bytes.
        case product, timeSum, truth, constant, joined, missing, quotient, remainder, total
        /// Pieces of a line of text.
        case literal, choice, numeral, textTime, clock, blanks, textSum, measurements
    }

    enum Repetition: UInt8, Sendable { case once, toTheEnd }

    var kind: Kind
    var condition = BitCondition.always
    /// The index of the field in ``LayoutPlan/fields``, or -1.
    var field: Int32 = -1
    /// The width in bytes, or 0 for all remaining bytes.
    var width: Int32 = 0
    /// The number of bytes left unread when the step reads the rest.
    var retained: Int32 = 0
    /// Whether a numeral has exactly `width` bytes.
    var isFixed = false
    var isSigned = false
    /// Whether the highest bit is the sign, and the other bits are the magnitude.
    var isMagnitude = false
    var isBigEndian = false
    var isReversed = false
    /// Whether the byte before the value is its length.
    var hasLength = false
    /// Whether the bytes stay in place, to be read again.
    var isPeeked = false
    /// Whether the bytes may be missing.
    var isOptional = false
    var repetition = Repetition.once
    /// The position of the value in the word of conditions, or -1 if no condition uses it.
    var wordShift: Int16 = -1
    var wordWidth: Int16 = 0
    /// The mask of bits reserved for future use.
    var reserved: UInt64 = 0
    /// Like ``LayoutPlan/BitPart/allowed``, for a whole integer.
    var allowed: UInt64 = 0
    /// Like ``LayoutPlan/BitPart/isClosed``.
    var isClosed = false
    var minimum = Int64.min
    var maximum = Int64.max
    /// The name for a value below the minimum or above the maximum, or -1 to refuse the frame.
    var beyond: Int16 = -1
    var variants: Range<Int32> = 0..<0
    var specials: Range<Int32> = 0..<0
    var parts: Range<Int32> = 0..<0
    /// The index in ``LayoutPlan/inner``, ``LayoutPlan/objectLists`` or another table, or the field that a computation starts from.
    var reference: Int32 = -1
    /// The second field of a computation, or a divisor.
    var operand: Int32 = -1
}

/// The name and the presentation of a field.
struct LayoutField: Sendable {
    enum Shape: Hashable, Sendable {
        /// `{"value": 72, "unit": "/min"}`, or null with the reason.
        case quantity
        /// `72`
        case number
        /// `{"code": 3, "display": "ear"}`
        case code
        /// `"ear"`
        case text
        /// `{"raw": 5, "set": ["a", "b"]}`
        case set
        /// `{"raw": 5, "a": true, "b": "in_range"}`
        case members
        /// The visible parts of a word without a name, printed next to the other fields.
        case adjacent
        case dateTime
        /// `"2024-11-20T10:00:00Z"` from Unix seconds.
        case instant
        /// `true`
        case truth
        /// `{"values": [1, 2], "unit": "s"}`
        case list
        /// A list of objects of fields.
        case records
        /// A list of `{"id": 2, "name": "temperature", "value": 25.06, "unit": "Cel"}`.
        case objects
        /// `15`, or null.
        case bare
        case constant(MetadataValue)
    }

    struct Part: Sendable {
        var name: String
        var bits: LayoutPlan.BitPart
        var values: [Int64: String] = [:]
        /// One of `code`, `text` and `truth`.
        var shape: Shape
        var isShown = false
    }

    var name: String
    var shape: Shape
    /// The names of an enumeration's values.
    var values: [Int64: String] = [:]
    var parts: [Part] = []
    /// The id of an object in a list.
    var object: UInt16 = 0
    var isHidden = false
}
