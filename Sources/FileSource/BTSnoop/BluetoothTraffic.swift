import HealthModel
import Pipeline
import Wire

/// The advertisements and characteristic values of Bluetooth LE devices in a recording of a controller's traffic.
///
/// Core specification 5.4: vol 4, part E, 5.4 (packets) and 7.7 (events), vol 3, part A, 3 (L2CAP) and part F, 3.4 (ATT).
package final class BluetoothTraffic {
    /// A device, identified by its address at the time.
    package struct Peer: Hashable, Sendable {
        /// The address, such as `C0:01:02:03:04:01`.
        package var address: String
        /// Whether the address is random and may change. Public and resolved addresses do not change.
        package var isRandom: Bool
    }

    /// A part of an advertisement (Core Specification Supplement, part A).
    package enum Advertised {
        case service(String)
        case name(String)
        case serviceData(String, [UInt8])
        case manufacturerData(UInt16, [UInt8])
    }

    /// The way in which a value was sent.
    package enum Way: Hashable, Sendable { case notified, read, written }

    package enum Event {
        case advert(Peer, [Advertised])
        case connected(Peer)
        case disconnected(Peer)
        /// The device has the service with this UUID.
        case service(Peer, String)
        /// A value of the characteristic with this UUID.
        case value(Peer, String, [UInt8], Way)
        /// A value of a handle whose type is not in the recording.
        case unknown(Peer, handle: UInt16)
        /// Data of a link that existed before the recording began. Its device is unknown.
        case unlinked
        /// A packet that the recording contains only in part.
        case shortened
    }

    private let file: BTSnoopFile
    private var links: [Int: Link] = [:]
    /// The types of each device's handles. A device that was connected before does not have to be asked again.
    private var tables: [Peer: [UInt16: String]] = [:]
    private var longAdverts: [String: [UInt8]] = [:]

    /// The maximum number of devices. It limits memory.
    private static let maximumPeers = 10_000
    private static let maximumAdvertLength = 1650
    /// The maximum number of links. Controllers support some tens.
    private static let maximumLinks = 4096

    private struct Link {
        var peer: Peer
        var attributes = AttributeDialogue()
        var received = PacketJoin()
        var sent = PacketJoin()
    }

    /// - Parameter file: the recording.
    package init(_ file: BTSnoopFile) { self.file = file }

    /// Passes all events to `body` in order.
    package func forEachEvent(_ body: (Event, Instant, Place) throws -> Void) throws {
        (links, tables, longAdverts) = ([:], [:], [:])
        try file.forEachPacket { packet, place in
            guard packet.kind != .other else { return }
            guard !packet.isShortened else { return try body(.shortened, packet.time, place) }
            var events: [Event] = []
            switch packet.kind {
            case .event: takeEvent(PacketReader(packet.bytes), packet.controller, &events)
            case .data: takeData(PacketReader(packet.bytes), packet, &events)
            case .other: break
            }
            for event in events { try body(event, packet.time, place) }
        }
    }

    // MARK: Events of the controller

    private func takeEvent(_ bytes: PacketReader, _ controller: Int, _ events: inout [Event]) {
        var bytes = bytes
        guard let code = bytes.byte(), bytes.byte() != nil else { return }
        switch code {
        case 0x05:
            guard bytes.byte() == 0, let handle = bytes.short() else { return }
            if let link = links.removeValue(forKey: Self.key(controller, handle)) { events.append(.disconnected(link.peer)) }
        case 0x3E: takeLowEnergy(bytes, controller, &events)
        default: break
        }
    }

    private func takeLowEnergy(_ bytes: PacketReader, _ controller: Int, _ events: inout [Event]) {
        var bytes = bytes
        switch bytes.byte() {
        case 0x01, 0x0A, 0x29:
            guard bytes.byte() == 0, let handle = bytes.short(), bytes.byte() != nil, let peer = bytes.peer() else { return }
            guard tables.count < Self.maximumPeers || tables[peer] != nil else { return }
            if links.count >= Self.maximumLinks { links.removeAll() }
            links[Self.key(controller, handle)] = Link(peer: peer)
            if tables[peer] == nil { tables[peer] = [:] }
            events.append(.connected(peer))
        case 0x02:
            for _ in 0..<(bytes.byte() ?? 0) {
                guard bytes.byte() != nil, let peer = bytes.peer(), let count = bytes.byte(),
                    let data = bytes.take(Int(count)), bytes.byte() != nil
                else { return }
                events.append(.advert(peer, Self.advertised(data)))
            }
        case 0x0D:
            for _ in 0..<(bytes.byte() ?? 0) { guard takeExtended(&bytes, &events) else { return } }
        default: break
        }
    }

    /// Reads an extended advertisement, which may arrive in pieces (7.7.65.13: bits 5 and 6 of its type).
    private func takeExtended(_ bytes: inout PacketReader, _ events: inout [Event]) -> Bool {
        guard let type = bytes.short(), let peer = bytes.peer(), bytes.byte() != nil, bytes.byte() != nil,
            let set = bytes.byte(), bytes.take(11) != nil, let count = bytes.byte(), let data = bytes.take(Int(count))
        else { return false }
        let key = "\(peer.address) \(set)"
        let whole = (longAdverts.removeValue(forKey: key) ?? []) + data
        switch type >> 5 & 3 {
        case 0: events.append(.advert(peer, Self.advertised(whole)))
        case 1 where whole.count <= Self.maximumAdvertLength && longAdverts.count < Self.maximumPeers: longAdverts[key] = whole
        default: break
        }
        return true
    }

    private static func advertised(_ data: [UInt8]) -> [Advertised] {
        var parts: [Advertised] = []
        for structure in AdvertisingStructures(data).all {
            var rest = PacketReader(structure.data)
            switch structure.type {
            case 0x02, 0x03: while let uuid = rest.uuid(2) { parts.append(.service(uuid)) }
            case 0x06, 0x07: while let uuid = rest.uuid(16) { parts.append(.service(uuid)) }
            case 0x08, 0x09: parts.append(.name(String(decoding: rest.all, as: UTF8.self)))
            case 0x16: if let uuid = rest.uuid(2) { parts.append(.serviceData(uuid, rest.all)) }
            case 0x21: if let uuid = rest.uuid(16) { parts.append(.serviceData(uuid, rest.all)) }
            case 0xFF: if let company = rest.short() { parts.append(.manufacturerData(company, rest.all)) }
            default: break
            }
        }
        return parts
    }

    // MARK: Data of links

    private static func key(_ controller: Int, _ handle: UInt16) -> Int { controller << 16 | Int(handle & 0x0FFF) }

    private func takeData(_ bytes: PacketReader, _ packet: BTSnoopFile.Packet, _ events: inout [Event]) {
        var bytes = bytes
        guard let head = bytes.short(), let length = bytes.short(), let data = bytes.take(Int(length)) else { return }
        let key = Self.key(packet.controller, head)
        guard var link = links[key] else { return events.append(.unlinked) }
        let continues = head >> 12 & 3 == 1
        let message = packet.isReceived ? link.received.take(data, continues) : link.sent.take(data, continues)
        if let message {
            var table = tables[link.peer] ?? [:]
            link.attributes.take(message, isReceived: packet.isReceived, link.peer, &table, &events)
            tables[link.peer] = table
        }
        links[key] = link
    }
}

/// Reassembles L2CAP messages. Only those of channel 4 (ATT) are needed.
private struct PacketJoin {
    private var waiting: [UInt8] = []
    private var length = 0

    mutating func take(_ data: [UInt8], _ continues: Bool) -> [UInt8]? {
        if continues {
            guard length > 0 else { return nil }
            waiting += data
        } else {
            var bytes = PacketReader(data)
            guard let size = bytes.short(), bytes.short() == 4 else {
                length = 0
                return nil
            }
            (length, waiting) = (Int(size), bytes.all)
        }
        guard waiting.count >= length else { return nil }
        defer { (waiting, length) = ([], 0) }
        return Array(waiting.prefix(length))
    }
}

/// Reads little-endian numbers of a packet. They are `nil` after its end.
struct PacketReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var all: [UInt8] { Array(bytes[position...]) }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func short() -> UInt16? {
        guard bytes.count - position >= 2 else { return nil }
        defer { position += 2 }
        return UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
    }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// A UUID such as `2A37`, or in its long form.
    mutating func uuid(_ count: Int) -> String? {
        guard let bytes = take(count) else { return nil }
        let digits = bytes.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        guard count == 16 else { return digits.joined() }
        let parts = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return parts.map { $0.joined() }.joined(separator: "-")
    }

    /// Reads the type of an address and the address.
    mutating func peer() -> BluetoothTraffic.Peer? {
        guard let kind = byte(), let address = take(6) else { return nil }
        let digits = address.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        return BluetoothTraffic.Peer(address: digits.joined(separator: ":"), isRandom: kind == 1)
    }
}
