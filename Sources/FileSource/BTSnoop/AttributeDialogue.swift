import HealthModel

/// Follows the attribute protocol of one link (Core specification 5.4, vol 3, part F, 3.4). It learns the type of each handle and reports
/// values.
struct AttributeDialogue {
    private enum Question {
        /// A request for attributes of a type, such as all services, in order.
        case types(UInt16?)
        case read(UInt16)
        case write(UInt16, [UInt8])
    }

    /// The open request. ATT allows one at a time.
    private var question: Question?
    /// A long value that arrives in pieces.
    private var long: (handle: UInt16, value: [UInt8])?

    /// The maximum length of an attribute (3.2.9).
    private static let maximumLength = 512

    mutating func take(
        _ message: [UInt8], isReceived: Bool, _ peer: BluetoothTraffic.Peer, _ table: inout [UInt16: String],
        _ events: inout [BluetoothTraffic.Event]
    ) {
        var bytes = PacketReader(message)
        guard let code = bytes.byte() else { return }
        guard isReceived else { return ask(code, bytes) }
        switch code {
        case 0x01: question = nil
        case 0x1B, 0x1D:
            guard let handle = bytes.short() else { return }
            deliver(handle, bytes.all, .notified, peer, table, &events)
        case 0x23:
            while let handle = bytes.short(), let length = bytes.short(), let value = bytes.take(Int(length)) {
                deliver(handle, value, .notified, peer, table, &events)
            }
        case 0x05: learn(&bytes, &table)
        case 0x09, 0x11: answer(code, &bytes, peer, &table, &events)
        case 0x0B, 0x0D:
            guard case .read(let handle)? = question else { return }
            question = nil
            let value = code == 0x0B ? bytes.all : (long?.handle == handle ? long?.value ?? [] : []) + bytes.all
            long = (handle, Array(value.prefix(Self.maximumLength)))
            // Reported again with each further piece. The last report has the complete value.
            deliver(handle, value, .read, peer, table, &events)
        case 0x13:
            guard case .write(let handle, let value)? = question else { return }
            question = nil
            deliver(handle, value, .written, peer, table, &events)
        default: break
        }
    }

    private mutating func ask(_ code: UInt8, _ bytes: PacketReader) {
        var bytes = bytes
        switch code {
        case 0x08, 0x10: question = .types(bytes.take(4) == nil ? nil : bytes.short())
        case 0x0A, 0x0C: question = bytes.short().map { .read($0) }
        case 0x12: question = bytes.short().map { .write($0, bytes.all) }
        case 0x02, 0x04, 0x06, 0x0E, 0x16, 0x18, 0x20: question = nil
        default: break
        }
    }

    private func deliver(
        _ handle: UInt16, _ value: [UInt8], _ way: BluetoothTraffic.Way, _ peer: BluetoothTraffic.Peer, _ table: [UInt16: String],
        _ events: inout [BluetoothTraffic.Event]
    ) {
        events.append(table[handle].map { .value(peer, $0, value, way) } ?? .unknown(peer, handle: handle))
    }

    // MARK: The table

    /// Reads a Find Information response with the type of each handle. The type of a characteristic's value is that of the
    /// characteristic.
    private mutating func learn(_ bytes: inout PacketReader, _ table: inout [UInt16: String]) {
        question = nil
        let count = bytes.byte() == 1 ? 2 : 16
        while let handle = bytes.short(), let uuid = bytes.uuid(count) { if table[handle] == nil { table[handle] = uuid } }
    }

    private mutating func answer(
        _ code: UInt8, _ bytes: inout PacketReader, _ peer: BluetoothTraffic.Peer, _ table: inout [UInt16: String],
        _ events: inout [BluetoothTraffic.Event]
    ) {
        guard case .types(let type)? = question, let length = bytes.byte(), length >= 2 else { return }
        question = nil
        while let entry = bytes.take(Int(length)) {
            var entry = PacketReader(entry)
            guard let handle = entry.short() else { return }
            switch (code, type) {
            case (0x11, 0x2800?):
                guard entry.short() != nil, let uuid = entry.uuid(length == 6 ? 2 : 16) else { return }
                events.append(.service(peer, uuid))
            case (0x09, 0x2803?):
                // The properties, the handle of the value, and its type.
                guard entry.byte() != nil, let value = entry.short(), let uuid = entry.uuid(length == 7 ? 2 : 16) else { return }
                table[value] = uuid
            case (0x09, _):
                // A characteristic that was read by type.
                if table[handle] != nil { deliver(handle, entry.all, .read, peer, table, &events) }
            default: return
            }
        }
    }
}
