/// One sample with HealthKit's meaning: a common header and a number. For a quantity (`HKQuantitySample`) the number is its value, for a
/// category (`HKCategorySample`) the raw number of its case in the unit 1, and for a workout that of its activity. The type determines the
/// kind (``SampleType/kind``). Other content is in its ``body``.
///
/// Immutable once stored. A correction is another sample.
public struct Sample: Sendable {
    /// What every sample has.
    public var header: SampleHeader
    /// The value in the type's canonical unit, or the raw number of a category's case.
    public var value: Double
    /// As received.
    public var numeral: Numeral
    /// The unit of ``numeral``.
    public var unit: Unit

    /// A sample with a header and a number, without any checks.
    @inlinable public init(header: SampleHeader, value: Double, numeral: Numeral, unit: Unit) {
        self.header = header
        self.value = value
        self.numeral = numeral
        self.unit = unit
    }

    /// A sample with its parts, without any checks.
    @inlinable public init(
        origin: Origin, identity: SampleIdentity, nominalStart: Int64, start: Instant, end: Instant, value: Double,
        numeral: Numeral, unit: Unit, zone: ZoneOffset?, timeOrigin: TimeOrigin, received: Instant, group: UInt64? = nil,
        metadata: Metadata? = nil, record: RecordIdentifier? = nil, timeResolution: Int32 = 1, ordinal: UInt32? = nil,
        body: SampleBody? = nil
    ) {
        self.init(
            header: SampleHeader(
                origin: origin, identity: identity, ordinal: ordinal, nominalStart: nominalStart, start: start, end: end,
                zone: zone, timeOrigin: timeOrigin, timeResolution: timeResolution, received: received, group: group,
                metadata: metadata, record: record, body: body),
            value: value, numeral: numeral, unit: unit)
    }
}

/// The header's fields, at hand.
extension Sample {
    /// ``SampleHeader/origin``
    @inlinable public var origin: Origin {
        _read { yield header.origin }
        _modify { yield &header.origin }
    }
    /// ``SampleHeader/identity``
    @inlinable public var identity: SampleIdentity {
        _read { yield header.identity }
        _modify { yield &header.identity }
    }
    /// ``SampleHeader/ordinal``
    @inlinable public var ordinal: UInt32? {
        _read { yield header.ordinal }
        _modify { yield &header.ordinal }
    }
    /// ``SampleHeader/nominalStart``
    @inlinable public var nominalStart: Int64 {
        _read { yield header.nominalStart }
        _modify { yield &header.nominalStart }
    }
    /// ``SampleHeader/start``
    @inlinable public var start: Instant {
        _read { yield header.start }
        _modify { yield &header.start }
    }
    /// ``SampleHeader/end``
    @inlinable public var end: Instant {
        _read { yield header.end }
        _modify { yield &header.end }
    }
    /// ``SampleHeader/zone``
    @inlinable public var zone: ZoneOffset? {
        _read { yield header.zone }
        _modify { yield &header.zone }
    }
    /// ``SampleHeader/timeOrigin``
    @inlinable public var timeOrigin: TimeOrigin {
        _read { yield header.timeOrigin }
        _modify { yield &header.timeOrigin }
    }
    /// ``SampleHeader/timeResolution``
    @inlinable public var timeResolution: Int32 {
        _read { yield header.timeResolution }
        _modify { yield &header.timeResolution }
    }
    /// ``SampleHeader/received``
    @inlinable public var received: Instant {
        _read { yield header.received }
        _modify { yield &header.received }
    }
    /// ``SampleHeader/group``
    @inlinable public var group: UInt64? {
        _read { yield header.group }
        _modify { yield &header.group }
    }
    /// ``SampleHeader/metadata``
    @inlinable public var metadata: Metadata? {
        _read { yield header.metadata }
        _modify { yield &header.metadata }
    }
    /// ``SampleHeader/body``
    @inlinable public var body: SampleBody? {
        _read { yield header.body }
        _modify { yield &header.body }
    }
    /// ``SampleHeader/record``
    @inlinable public var record: RecordIdentifier? {
        _read { yield header.record }
        _modify { yield &header.record }
    }
}

extension Sample {
    /// A group's number as text, 16 hexadecimal digits.
    public static func groupText(_ group: UInt64) -> String {
        let digits = String(group, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// How it was measured, as its identity has it.
    public var method: [UInt8] { metadata?.method ?? [] }

    /// The identity that its fields produce.
    ///
    /// - Parameters:
    ///   - ordinal: The ordinal to use instead of its own.
    ///   - shift: The nominal duration minus the actual duration, in microseconds.
    public func identity(ordinal: UInt32, shift: Int64 = 0) -> SampleIdentity {
        let last = nominalStart &+ (end.microseconds &- start.microseconds) &+ shift
        return SampleIdentity(
            series: origin.seriesKey, start: nominalStart, end: last, numeral: numeral, unit: unit, ordinal: ordinal,
            method: method)
    }

    /// Whether its fields produce its identity. The parameters are those of ``identity(ordinal:shift:)``.
    public func hasIdentity(ordinal: UInt32, shift: Int64 = 0) -> Bool {
        self.identity(ordinal: ordinal, shift: shift) == identity
    }

    /// Whether its identity is computed from a record.
    public func isNamed(by record: RecordIdentifier) -> Bool {
        SampleIdentity(series: origin.seriesKey, start: nominalStart, record: record, numeral: numeral, unit: unit) == identity
    }

    /// The ordinal in its identity, or `nil` if the identity is computed from other data.
    ///
    /// - Parameter shift: As in ``hasIdentity(ordinal:shift:)``.
    public func identityOrdinal(shift: Int64 = 0) -> UInt32? {
        ordinal.flatMap { hasIdentity(ordinal: $0, shift: shift) ? $0 : nil }
    }
}
