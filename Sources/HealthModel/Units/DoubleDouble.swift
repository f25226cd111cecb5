/// An unevaluated sum of two Doubles with about 106 bits, enough to round a converted value correctly in one step.
///
/// Products use Veltkamp's split, not `fma`: baseline x86-64 has no such instruction and the library call is slow
/// (T. J. Dekker, "A floating-point technique for extending the available precision", 1971).
struct DoubleDouble: Hashable, Sendable {
    let high: Double
    let low: Double

    @inline(__always) init(high: Double, low: Double) {
        self.high = high
        self.low = low
    }

    @inline(__always) init(_ value: Double) { self.init(high: value, low: 0) }

    /// Every Int64 is exact.
    @inline(__always) init(integer value: Int64) {
        let high = Double(value)
        // 2^63 is the rounded value of Int64.max, one more than Int64 can represent.
        let rest = high == 0x1p63 ? -Double(Int64.max - value + 1) : Double(value - Int64(high))
        self.init(high: high, low: rest)
    }

    /// Exact up to 106 significant bits. In pieces of 32 bits, since a 128-bit conversion would want the C library's `trunc`.
    init(wide value: UInt128) {
        var result = DoubleDouble(0)
        for shift in stride(from: 96, through: 0, by: -32) {
            let piece = UInt32(truncatingIfNeeded: value >> shift)
            result = result * DoubleDouble(0x1p32) + DoubleDouble(Double(piece))
        }
        self = result
    }

    /// The sum of two Doubles, exactly.
    @inline(__always) static func sum(_ one: Double, _ other: Double) -> DoubleDouble {
        let sum = one + other
        let part = sum - one
        return DoubleDouble(high: sum, low: (one - (sum - part)) + (other - part))
    }

    /// The exact sum of two Doubles, of which the first must be greater in magnitude.
    @inline(__always) static func quickSum(_ one: Double, _ other: Double) -> DoubleDouble {
        let sum = one + other
        return DoubleDouble(high: sum, low: other - (sum - one))
    }

    @inline(__always) private static func split(_ value: Double) -> (Double, Double) {
        let scaled = 134_217_729 * value  // 2^27 + 1
        let high = scaled - (scaled - value)
        return (high, value - high)
    }

    /// The product of two Doubles, exactly.
    @inline(__always) static func product(_ one: Double, _ other: Double) -> DoubleDouble {
        let product = one * other
        let (oneHigh, oneLow) = split(one)
        let (otherHigh, otherLow) = split(other)
        let error = ((oneHigh * otherHigh - product) + oneHigh * otherLow + oneLow * otherHigh) + oneLow * otherLow
        return DoubleDouble(high: product, low: error)
    }

    @inline(__always) static func + (one: DoubleDouble, other: DoubleDouble) -> DoubleDouble {
        let high = sum(one.high, other.high)
        let low = sum(one.low, other.low)
        let middle = quickSum(high.high, high.low + low.high)
        return quickSum(middle.high, middle.low + low.low)
    }

    @inline(__always) static prefix func - (value: DoubleDouble) -> DoubleDouble {
        DoubleDouble(high: -value.high, low: -value.low)
    }

    @inline(__always) static func * (one: DoubleDouble, other: DoubleDouble) -> DoubleDouble {
        let product = product(one.high, other.high)
        return quickSum(product.high, product.low + (one.high * other.low + one.low * other.high))
    }

    /// Long division, two digits to the base 2^53.
    @inline(__always) static func / (one: DoubleDouble, other: DoubleDouble) -> DoubleDouble {
        let first = one.high / other.high
        let taken = product(first, other.high)
        // The high parts differ by so little that their difference is exact.
        let rest = (one.high - taken.high) - taken.low + (one.low - first * other.low)
        return quickSum(first, rest / other.high)
    }

    /// 10^power, exact up to 10^45, and to the last of its 106 bits for higher powers.
    static func power(ofTen power: Int) -> DoubleDouble {
        var result = DoubleDouble(1)
        var left = power
        while left > 0 {
            let step = min(left, 22)
            result = result * DoubleDouble(Numeral.powersOfTen[step])
            left -= step
        }
        return result
    }

    static let pi = DoubleDouble(high: 3.141592653589793, low: 1.2246467991473532e-16)
}
