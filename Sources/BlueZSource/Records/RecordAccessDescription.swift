/// The way in which a device returns stored records through the Record Access Control Point (2A52).
package struct RecordAccessDescription: Hashable, Sendable {
    /// The encoding of "from the last one on".
    package enum Filter: Hashable, Sendable {
        /// Operand: filter type 1 and the sequence number (Glucose Service, 2A18).
        case sequenceNumber
        /// Operand: filter type 1 and the minutes since the start of the session (CGM Service, 2AA7).
        case timeOffset
        /// All records each time (Pulse Oximeter Service, 2A5E).
        case none
    }

    /// The characteristic with the records. Each notification contains one record, or several (CGM Service).
    package var measurement: CharacteristicName
    /// The characteristic with the context that follows a measurement, or nil if the service has none.
    package var context: CharacteristicName?
    /// The characteristic for requests and their answers (2A52).
    package var controlPoint: CharacteristicName
    /// The filter for records from the last collected one on.
    package var filter: Filter
    /// The offset of the two-byte number in a record, which is the same in the measurement and the context. nil if records have no number.
    /// Then all of them are collected each time.
    package var numberOffset: Int?
    /// The bit in the measurement's first byte that announces a context.
    package var contextBit: Int?

    /// Glucose Service: the sequence number follows the flags, and bit 4 announces 2A34.
    package static let glucose = RecordAccessDescription(
        measurement: CharacteristicName(0x1808, 0x2A18), context: CharacteristicName(0x1808, 0x2A34),
        controlPoint: CharacteristicName(0x1808, 0x2A52), filter: .sequenceNumber, numberOffset: 1, contextBit: 4)
    /// Pulse Oximeter Service, spot-check records.
    package static let pulseOximeter = RecordAccessDescription(
        measurement: CharacteristicName(0x1822, 0x2A5E), controlPoint: CharacteristicName(0x1822, 0x2A52), filter: .none,
        numberOffset: nil)
    /// CGM Service: the time offset follows size, flags and concentration.
    package static let continuousGlucose = RecordAccessDescription(
        measurement: CharacteristicName(0x181F, 0x2AA7), controlPoint: CharacteristicName(0x181F, 0x2A52), filter: .timeOffset,
        numberOffset: 4)
}

/// The position up to which stored records were collected. The caller stores it in the same transaction as the samples and passes it back
/// the next time.
package struct RecordCursor: Hashable, Sendable {
    /// The number of the last record, in the device's order.
    package var number: UInt16
    /// The fingerprint of that record. It differs from that of another record with the same number, after a reset of the device.
    package var fingerprint: UInt64
    /// The number of records on the device at that time.
    package var count: Int?

    /// - Parameter count: nil if the device did not report it.
    package init(number: UInt16, fingerprint: UInt64, count: Int?) {
        self.number = number
        self.fingerprint = fingerprint
        self.count = count
    }
}
