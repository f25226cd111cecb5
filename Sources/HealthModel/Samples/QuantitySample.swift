/// Where a sample's time comes from.
public enum TimeOrigin: UInt8, Hashable, Sendable, CaseIterable {
    /// The device or file said it.
    case device = 0
    /// The device said it, and its clock is known to be off by an offset that was learned.
    case deviceCorrected = 1
    /// The hub's clock on arrival.
    case receipt = 2

    /// As it stands in a sample's line.
    public var name: String {
        switch self {
        case .device: "device"
        case .deviceCorrected: "device-corrected"
        case .receipt: "receipt"
        }
    }
}

/// One measured quantity with HealthKit's meaning: value, unit, start and end, where it comes from, and what was received.
///
/// Immutable once stored; a correction is another sample.
public struct QuantitySample: Sendable {
    /// The series it belongs to.
    public var origin: Origin
    /// The UUID, which follows from what was measured.
    public var identity: SampleIdentity
    /// The start that the identity was computed from, in microseconds; differs from `start` where the source gave a local time or
    /// its clock was corrected.
    public var nominalStart: Int64
    /// When it was measured, or began.
    public var start: Instant
    /// When it ended; the start, where it is a moment's.
    public var end: Instant
    /// In the type's canonical unit.
    public var value: Double
    /// As received.
    public var numeral: Numeral
    /// The unit of ``numeral``.
    public var unit: Unit
    /// At the reading, where known.
    public var zone: ZoneOffset?
    /// Whose clock the time is.
    public var timeOrigin: TimeOrigin
    /// What the time was cut to where it comes from, in seconds: 1 or finer, 60 where minutes were told.
    public var timeResolution: Int32
    /// When it reached this machine.
    public var received: Instant
    /// The same for all samples of one frame (HealthKit's correlation).
    public var group: UInt64?
    /// What else is known of it.
    public var metadata: Metadata?
    /// The maker's own id, where it gave one.
    public var record: RecordIdentifier?
    /// Which of the equal readings of its frame it is, the part of its identity that no other field tells; `nil` where its identity comes
    /// from a record's id or a repair, or where it was stored before this was kept.
    public var ordinal: UInt32?

    /// Makes a sample of its parts; nothing is checked here.
    @inlinable public init(
        origin: Origin, identity: SampleIdentity, nominalStart: Int64, start: Instant, end: Instant, value: Double,
        numeral: Numeral, unit: Unit, zone: ZoneOffset?, timeOrigin: TimeOrigin, received: Instant, group: UInt64? = nil,
        metadata: Metadata? = nil, record: RecordIdentifier? = nil, timeResolution: Int32 = 1, ordinal: UInt32? = nil
    ) {
        self.origin = origin
        self.identity = identity
        self.nominalStart = nominalStart
        self.start = start
        self.end = end
        self.value = value
        self.numeral = numeral
        self.unit = unit
        self.zone = zone
        self.timeOrigin = timeOrigin
        self.timeResolution = timeResolution
        self.received = received
        self.group = group
        self.metadata = metadata
        self.record = record
        self.ordinal = ordinal
    }
}

extension QuantitySample {
    /// A group's number as text, 16 hexadecimal digits.
    public static func groupText(_ group: UInt64) -> String {
        let digits = String(group, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Ordinals that are tried where none was kept: those of a frame, and of the second pass of an hour that occurs twice.
    private static let usualOrdinals = (0...255).flatMap { [UInt32($0), UInt32($0) | 0x8000_0000] }

    /// Whether its fields give its identity.
    ///
    /// - Parameters:
    ///   - ordinal: in place of its own.
    ///   - shift: by how much the nominal end lies farther behind the nominal start than the end behind the start, in microseconds.
    public func hasIdentity(ordinal: UInt32, shift: Int64 = 0) -> Bool {
        SampleIdentity(
            series: origin.seriesKey, start: nominalStart, end: nominalStart &+ (end.microseconds &- start.microseconds) &+ shift,
            numeral: numeral, unit: unit, ordinal: ordinal) == identity
    }

    /// The ordinal that its identity was computed with: the one that was kept, else found by trying; `nil` where the identity comes from
    /// something else.
    ///
    /// - Parameter shift: as ``hasIdentity(ordinal:shift:)`` takes it.
    public func identityOrdinal(shift: Int64 = 0) -> UInt32? {
        if let ordinal { return hasIdentity(ordinal: ordinal, shift: shift) ? ordinal : nil }
        return Self.usualOrdinals.first { hasIdentity(ordinal: $0, shift: shift) }
    }
}
