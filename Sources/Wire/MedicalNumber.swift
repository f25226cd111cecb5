/// A number in the format of IEEE 11073-20601: a decimal mantissa and exponent, or a special value with the reason why there is none.
///
/// The exponent carries the precision: 2.0 and 2.00 are two numbers on the wire.
///
///     MedicalNumber(sfloat: 0xF16C)      // .decimal(mantissa: 364, exponent: -1), which is 36.4
///     MedicalNumber(float: 0x007FFFFF)   // .special(.notANumber)
package enum MedicalNumber: Hashable, Sendable {
    /// The mantissa times ten to the power of the exponent.
    case decimal(mantissa: Int32, exponent: Int8)
    /// There is no value, for this reason.
    case special(Special)

    /// The special values, named as in the test vectors.
    package enum Special: String, Hashable, Sendable, CaseIterable {
        /// The device has no value.
        case notANumber = "NaN"
        /// Not at this resolution: the value does not fit the format at the measured precision.
        case notAtThisResolution = "NRes"
        /// Greater than any number of the format, and treated as no value.
        case positiveInfinity = "+INF"
        /// Less than any number of the format, and treated as no value.
        case negativeInfinity = "-INF"
        /// Reserved for future use.
        case reserved
    }

    /// SFLOAT (medfloat16): 4 bits of exponent above 12 bits of mantissa, both two's complement.
    ///
    /// The mantissa of a special value is decisive for any exponent. Implementations differ here, and no value is the safe interpretation.
    @inlinable package init(sfloat raw: UInt16) {
        switch raw & 0x0FFF {
        case 0x07FF: self = .special(.notANumber)
        case 0x0800: self = .special(.notAtThisResolution)
        case 0x07FE: self = .special(.positiveInfinity)
        case 0x0802: self = .special(.negativeInfinity)
        case 0x0801: self = .special(.reserved)
        default:
            let mantissa = Int16(bitPattern: raw << 4) >> 4
            self = .decimal(mantissa: Int32(mantissa), exponent: Int8(truncatingIfNeeded: Int16(bitPattern: raw) >> 12))
        }
    }

    /// FLOAT (medfloat32): 8 bits of exponent above 24 bits of mantissa, both two's complement.
    @inlinable package init(float raw: UInt32) {
        switch raw & 0x00FF_FFFF {
        case 0x007F_FFFF: self = .special(.notANumber)
        case 0x0080_0000: self = .special(.notAtThisResolution)
        case 0x007F_FFFE: self = .special(.positiveInfinity)
        case 0x0080_0002: self = .special(.negativeInfinity)
        case 0x0080_0001: self = .special(.reserved)
        default:
            let mantissa = Int32(bitPattern: raw << 8) >> 8
            self = .decimal(mantissa: mantissa, exponent: Int8(truncatingIfNeeded: Int32(bitPattern: raw) >> 24))
        }
    }
}
