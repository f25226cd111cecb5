/// The reported records. A measurement waits for the context that it announces.
extension RecordAccess {
    mutating func measured(_ bytes: [UInt8]) -> [Command] {
        let numbers = RecordNumber.numbers(in: bytes, description)
        if state == .lookingAtLast {
            // The record comes again with the report. Here it only shows the device's last number.
            last = numbers.last
            return []
        }
        guard case .reporting = state else { return deliver(bytes, nil) }
        firstReported = firstReported ?? numbers.first
        lastReported = numbers.last ?? lastReported
        reported += max(1, numbers.count)
        let flushed = flush()
        if let bit = description.contextBit, let flags = bytes.first, flags >> UInt8(bit) & 1 == 1 {
            pending = (bytes, numbers.last?.number)
            return flushed
        }
        return flushed + deliver(bytes, nil)
    }

    mutating func context(_ bytes: [UInt8]) -> [Command] {
        guard state != .lookingAtLast else { return [] }
        let number = RecordNumber.number(in: bytes[...], at: description.numberOffset)
        guard let waiting = pending, waiting.number == number else { return flush() + [.deliverContext(bytes)] }
        pending = nil
        return deliver(waiting.bytes, bytes)
    }

    /// Passes on a measurement whose announced context did not arrive.
    mutating func flush() -> [Command] {
        guard let waiting = pending else { return [] }
        pending = nil
        return deliver(waiting.bytes, nil)
    }

    private mutating func deliver(_ measurement: [UInt8], _ context: [UInt8]?) -> [Command] {
        delivered += 1
        return [.deliver(measurement: measurement, context: context)]
    }
}
