import HealthModel
import Wire

/// A channel's layout, compiled: steps that are walked once for a frame, and tables that they point into.
///
/// Steps hold numbers only, so that walking them counts no references and allocates nothing; names and units stand beside them and
/// are looked at when fields are printed or readings made.
struct LayoutPlan: Sendable {
    var steps: [LayoutStep] = []
    /// The frame's own steps.
    var root = 0..<0
    /// Steps of repeated records and of the objects of a list, which steps point at by number.
    var inner: [Range<Int>] = []
    /// Of each list of objects.
    var objectLists: [ObjectList] = []
    var fields: [LayoutField] = []
    var variants: [Variant] = []
    /// The unit of each variant.
    var units: [VariantUnit] = []
    var specials: [SpecialRule] = []
    /// Words for values that are no numbers. The first are those of ``MedicalNumber/Special``, in its order.
    var specialNames: [String] = []
    var parts: [BitPart] = []
    /// How frames are found in a stream; none where a transport delivers them whole.
    var framing: Framing?
    /// The second octet holds the highest bits of those behind it.
    var isPacked = false
    /// Texts that have to stand in a line.
    var literals: [[UInt8]] = []
    /// Words of which one stands in a line, longest first.
    var choices: [[Choice]] = []
    var patterns: [TimePattern] = []
    /// Numbers of octets of which one has to be left.
    var sizes: [Set<Int>] = []
    /// How check codes are made.
    var checks: [Check] = []
    /// What sums are made of.
    var totals: [Total] = []

    /// Fields that are added, and when the result is negative.
    struct Total: Sendable {
        var fields: [Int32]
        var minus: BitCondition?
    }

    /// Objects of an id and a value each.
    struct ObjectList: Sendable {
        /// Octets of the id, and whether an octet behind it tells the value's length.
        var idWidth = 1
        var hasLength = false
        /// The steps of each id that is known.
        var steps: [UInt16: Range<Int>] = [:]
    }

    /// A word, and the value that it stands for.
    struct Choice: Sendable {
        var word: [UInt8]
        var value: Int64
    }

    /// The scale that holds under a condition.
    struct Variant: Sendable {
        var condition: BitCondition
        var coefficient: Int64 = 1
        var exponent: Int16 = 0
        /// The scale is one by two to this power, not coefficient and exponent; 0 where it is not.
        var binaryPower: Int = 0
        /// The scale is the coefficient by this, rounded to so many digits behind the point; 0 where it is not.
        var divisor: Int64 = 0
        var digits: Int16 = 0
        /// What is added behind the scale, coefficient × 10^exponent.
        var addend: Int64 = 0
        var addendExponent: Int16 = 0
    }

    /// A frame may end in more than one place, so that a part of a frame can be one itself.
    var isOpenEnded: Bool {
        framing == nil
            && steps.contains { step in
                switch step.kind {
                case .records, .objects: true
                // Of two sizes, the longer begins like the shorter.
                case .left: sizes[Int(step.reference)].count > 1
                case .text, .octets: step.width == 0 && !step.hasLength
                default: step.repetition == .toTheEnd || step.isOptional
                }
            }
    }

    struct VariantUnit: Sendable {
        var printed: String?
        /// Where it is a unit of UCUM's; a jin is none.
        var ucum: Unit?
    }

    /// A raw value that is no number.
    struct SpecialRule: Sendable {
        var raw: Int64
        var name: Int16
    }

    /// A part of a word of bits, as far as it has to be checked.
    struct BitPart: Sendable {
        var shift: UInt8
        var width: UInt8
        /// Bit n is set where the value n is known; 0 where any is.
        var allowed: UInt64 = 0
        /// The only value with which the frame is of this format; -1 where any is.
        var required: Int16 = -1
        /// A value that is not known is one of another format, and not one of the future.
        var isClosed = false

        func value(of raw: UInt64) -> UInt64 { raw >> UInt64(shift) & (width >= 64 ? .max : 1 << UInt64(width) - 1) }
    }
}

/// What the bits that were read so far have to be.
///
/// All flags and enumerations of a frame lie in one word of 64 bits; what has not been read, or is not there, is 0.
struct BitCondition: Hashable, Sendable {
    var mask: UInt64 = 0
    var value: UInt64 = 0
    /// Bits of which at least one has to be other than `otherValue`; 0 for none.
    var otherMask: UInt64 = 0
    var otherValue: UInt64 = 0

    static let always = BitCondition()

    @inline(__always) func holds(_ word: UInt64) -> Bool {
        word & mask == value && (otherMask == 0 || word & otherMask != otherValue)
    }

    /// Whether some word meets both, as far as the plain parts of the conditions tell.
    func canHold(with other: BitCondition) -> Bool { (value ^ other.value) & mask & other.mask == 0 }
}

/// One step of a plan.
struct LayoutStep: Sendable {
    enum Kind: UInt8, Sendable {
        case integer, word, sfloat, float, dateTime, text, octets, skip, checkCode
        case records, objects, sealed
        /// A number of IEEE 754, and all that is left, without a meaning.
        case binaryFloat, rest
        /// What has to be so, and no value.
        case left, expected, address, check, masked
        /// Computed from other fields; reads nothing.
        case product, timeSum, truth, constant, joined, missing, quotient, remainder, total
        /// Pieces of a line of text.
        case literal, choice, numeral, textTime, clock, blanks, textSum, measurements
    }

    enum Repetition: UInt8, Sendable { case once, toTheEnd }

    var kind: Kind
    var condition = BitCondition.always
    /// The field it fills, in ``LayoutPlan/fields``; -1 for none.
    var field: Int32 = -1
    /// Octets; 0 for all that are left.
    var width: Int32 = 0
    /// Octets that stay unread where all that are left are meant.
    var kept: Int32 = 0
    /// A numeral has just as many octets as its width says.
    var isFixed = false
    var isSigned = false
    /// The highest bit is the sign of what the others are.
    var isMagnitude = false
    var isBigEndian = false
    var isReversed = false
    /// An octet in front tells the length.
    var hasLength = false
    /// What is read stays to be read again.
    var isPeeked = false
    /// There may be nothing left to read.
    var isOptional = false
    var repetition = Repetition.once
    /// Where the value goes in the word of conditions; -1 where no condition asks for it.
    var wordShift: Int16 = -1
    var wordWidth: Int16 = 0
    /// Bits reserved for future use.
    var reserved: UInt64 = 0
    /// As ``LayoutPlan/BitPart/allowed``, for a whole integer.
    var allowed: UInt64 = 0
    /// As ``LayoutPlan/BitPart/isClosed``.
    var isClosed = false
    var minimum = Int64.min
    var maximum = Int64.max
    /// The word for a value that is below the minimum or above the maximum; -1 if such a value refuses the frame.
    var beyond: Int16 = -1
    var variants: Range<Int32> = 0..<0
    var specials: Range<Int32> = 0..<0
    var parts: Range<Int32> = 0..<0
    /// The number of ``LayoutPlan/inner``, ``LayoutPlan/objectLists`` or another table, or the field that something is computed of.
    var reference: Int32 = -1
    /// The second field something is computed of, or a divisor.
    var operand: Int32 = -1
}

/// What is known of a field beside its place: how it is called and shown.
struct LayoutField: Sendable {
    enum Shape: Hashable, Sendable {
        /// `{"value": 72, "unit": "/min"}`, or null with the word for why.
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
        /// The shown parts of a word without a name stand beside the other fields.
        case beside
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
        /// `code`, `text` or `truth`.
        var shape: Shape
        var isShown = false
    }

    var name: String
    var shape: Shape
    /// Names of an enumeration's values.
    var values: [Int64: String] = [:]
    var parts: [Part] = []
    /// The id, for an object of a list.
    var object: UInt16 = 0
    var isHidden = false
}
