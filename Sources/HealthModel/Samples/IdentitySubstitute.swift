/// The identification of a measurement whose timestamp is not unique, since a clock that was reset may give two measurements the same
/// timestamp.
///
///     ordinal = IdentitySubstitute.receipt(frame.received).ordinal(reading.ordinal)
///
/// The timestamp remains the nominal time, so that a corrected clock still finds the measurement. The substitute becomes the ordinal of the
/// identity.
public enum IdentitySubstitute: Hashable, Sendable {
    /// The number that the device gave its record.
    case record(Int64)
    /// When the measurement arrived.
    case receipt(Instant)
    /// A digest of all values of the measurement.
    case content(UInt64)

    /// Ordinals of this range are made here: no frame has as many equal readings.
    private static let mark: UInt32 = 0x4000_0000

    /// The ordinal of a reading that had `ordinal` among the equal readings of its frame.
    public func ordinal(_ ordinal: UInt32) -> UInt32 {
        let text =
            switch self {
            case .record(let number): "record \(number)"
            case .receipt(let time): "receipt \(time.microseconds)"
            case .content(let digest): "content \(digest)"
            }
        let digest = StableHash.hash("vitalgate-substitute-1\n\(text)\n\(ordinal)\n")
        return Self.mark | UInt32(truncatingIfNeeded: digest ^ digest >> 32) & (Self.mark - 1)
    }
}
