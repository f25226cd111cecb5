import EventLoopKit

/// A stored record that a device sends outside a collection: a glucose meter's measurement and the context that follows it.
extension DeviceSession {
    struct LooseRecord {
        var name: CharacteristicName
        var value: [UInt8]
        var number: UInt16?
        var received: Duration
    }

    /// The context is the next notification (Glucose Service 1.0.1, 3.3.1).
    private static let contextTimeout = Duration.seconds(5)

    /// Keeps a measurement that announces a context until the context arrives.
    func buffersUntilContext(_ name: CharacteristicName, _ value: [UInt8], _ received: Duration?) -> Bool {
        guard let access = description.recordAccess, name == access.measurement, access.context != nil,
            let bit = access.contextBit, let flags = value.first, flags >> UInt8(bit) & 1 == 1
        else { return false }
        handOnLoose()
        let number = RecordNumber.number(in: value[...], at: access.numberOffset)
        loose = LooseRecord(name: name, value: value, number: number, received: received ?? loop.clock.uptime)
        looseTimer = loop.after(Self.contextTimeout) { [weak self] in self?.handOnLoose() }
        return true
    }

    /// Passes on a measurement after its context, so that the context is known when the measurement becomes a sample.
    func joinsLoose(_ name: CharacteristicName, _ value: [UInt8]) -> Bool {
        guard let access = description.recordAccess, name == access.context, let record = loose,
            RecordNumber.number(in: value[...], at: access.numberOffset) == record.number
        else { return false }
        loose = nil
        looseTimer?.cancel()
        deliver("gatt:\(name.characteristic)", value, received: record.received)
        deliver("gatt:\(record.name.characteristic)", record.value, continues: true, received: record.received)
        return true
    }

    /// Passes on a measurement whose context did not arrive. A later collection can add the context in the store.
    func handOnLoose() {
        looseTimer?.cancel()
        guard let record = loose else { return }
        loose = nil
        deliver("gatt:\(record.name.characteristic)", record.value, received: record.received)
    }
}
