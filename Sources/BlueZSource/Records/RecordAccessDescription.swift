/// How a device gives out its stored records through the Record Access Control Point (2A52).
public struct RecordAccessDescription: Hashable, Sendable {
    /// What "from the last one on" is written as.
    public enum Filter: Hashable, Sendable {
        /// Operand: filter type 1 and the sequence number (Glucose Service, 2A18).
        case sequenceNumber
        /// Operand: filter type 1 and the minutes since the session began (CGM Service, 2AA7).
        case timeOffset
        /// All records each time (Pulse Oximeter Service, 2A5E).
        case none
    }

    /// Carries the records: one at a time, or several (CGM Service).
    public var measurement: CharacteristicName
    /// Carries what belongs to a measurement and follows it; nil where the service has no such thing.
    public var context: CharacteristicName?
    /// Takes the requests and indicates the answers (2A52).
    public var controlPoint: CharacteristicName
    /// How records are asked for from the last collected one on.
    public var filter: Filter
    /// Where in a record its two octets of number stand, in the measurement and in the context alike.
    public var numberOffset: Int?
    /// The bit of the measurement's first octet that announces a context.
    public var contextBit: Int?

    /// - Parameter numberOffset: nil where records have no number; all of them are collected each time then.
    public init(
        measurement: CharacteristicName, context: CharacteristicName? = nil, controlPoint: CharacteristicName, filter: Filter,
        numberOffset: Int?, contextBit: Int? = nil
    ) {
        self.measurement = measurement
        self.context = context
        self.controlPoint = controlPoint
        self.filter = filter
        self.numberOffset = numberOffset
        self.contextBit = contextBit
    }

    /// Glucose Service: sequence number behind the flags; bit 4 announces 2A34.
    public static let glucose = RecordAccessDescription(
        measurement: CharacteristicName(0x1808, 0x2A18), context: CharacteristicName(0x1808, 0x2A34),
        controlPoint: CharacteristicName(0x1808, 0x2A52), filter: .sequenceNumber, numberOffset: 1, contextBit: 4)
    /// Pulse Oximeter Service, spot-check records.
    public static let pulseOximeter = RecordAccessDescription(
        measurement: CharacteristicName(0x1822, 0x2A5E), controlPoint: CharacteristicName(0x1822, 0x2A52), filter: .none,
        numberOffset: nil)
    /// CGM Service: the time offset stands behind size, flags and concentration.
    public static let continuousGlucose = RecordAccessDescription(
        measurement: CharacteristicName(0x181F, 0x2AA7), controlPoint: CharacteristicName(0x181F, 0x2A52), filter: .timeOffset,
        numberOffset: 4)
}

/// How far stored records were collected. Kept by the caller in the same transaction as the samples, and given back the next time.
public struct RecordCursor: Hashable, Sendable {
    /// The number of the last record in the order in which the device gave them.
    public var number: UInt16
    /// Tells that record from another one with its number, after a reset of the device.
    public var fingerprint: UInt64
    /// How many records the device had then.
    public var count: Int?

    /// - Parameter count: nil where the device did not tell it.
    public init(number: UInt16, fingerprint: UInt64, count: Int?) {
        self.number = number
        self.fingerprint = fingerprint
        self.count = count
    }
}
