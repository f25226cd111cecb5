import Glibc
import HealthModel
import Pipeline

/// A recording of a Bluetooth controller's traffic, as written by `btmon -w` and contained in Android's bug reports.
///
/// The format resembles snoop (RFC 1761), and all numbers are big-endian:
///
///     "btsnoop\0"   version 1 (4)   datalink (4)
///     original length (4)   included length (4)   flags (4)   drops (4)   µs since the year 0 (8)   data      for each packet
///
/// Datalink 1001 is HCI, 1002 is HCI with a UART packet type (H4), and 2001 is the kernel's monitor (BlueZ, doc/btsnoop.txt).
package final class BTSnoopFile {
    /// A packet between the host and the controller.
    struct Packet {
        enum Kind { case event, data, other }

        var kind: Kind
        /// Whether the controller sent it to the host.
        var isReceived: Bool
        var controller: Int
        var bytes: [UInt8]
        var time: Instant
        /// Whether the file contains only a part of it.
        var isShortened: Bool
    }

    private enum Datalink: UInt32 {
        case bare = 1001
        case uart = 1002
        case monitor = 2001
    }

    package let path: String
    /// The packet in which the file ends, if it is truncated.
    package private(set) var cut: Place?
    private let file: InputFile
    private let datalink: Datalink

    static let mark = Array("btsnoop\0".utf8)
    /// Microseconds from the year 0 to 1970.
    private static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000
    private static let maximumPacketLength = 1 << 17
    private static let latest: Int64 = 253_402_300_799_999_999

    package static func isOne(_ file: InputFile) -> Bool {
        var head = [UInt8](repeating: 0, count: mark.count)
        return pread(file.descriptor, &head, head.count, 0) == head.count && head == mark
    }

    /// - Throws: ``SourceError`` if it is not a btsnoop file, or has an unsupported datalink.
    package init(_ file: InputFile, path: String) throws(SourceError) {
        (self.file, self.path) = (file, path)
        var head = [UInt8](repeating: 0, count: 16)
        guard pread(file.descriptor, &head, 16, 0) == 16, head.starts(with: Self.mark), Self.number(head, 8, 4) == 1 else {
            throw SourceError(.malformed, "\(path): it is not a btsnoop file of version 1")
        }
        guard let datalink = Datalink(rawValue: UInt32(truncatingIfNeeded: Self.number(head, 12, 4))) else {
            throw SourceError(
                .malformed,
                "\(path): its packets are of kind \(Self.number(head, 12, 4)), but only 1001, 1002 and 2001 are supported")
        }
        self.datalink = datalink
    }

    /// Passes each packet to `body` with its number, from 1.
    func forEachPacket(_ body: (Packet, Place) throws -> Void) throws {
        cut = nil
        let input = SnoopInput(file)
        var number = 0
        try input.skip(16)
        while let head = try input.read(24) {
            number += 1
            let place = Place(.record, number)
            guard head.count == 24 else {
                cut = place
                return
            }
            let (original, included) = (Self.number(head, 0, 4), Self.number(head, 4, 4))
            guard included <= Self.maximumPacketLength, included <= original else {
                throw SourceError(.malformed, "\(path): \(place): the packet is too long")
            }
            let time = Self.number(head, 16, 8) &- Self.epoch
            guard (0...Self.latest).contains(time) else {
                throw SourceError(.malformed, "\(path): \(place): its time is invalid")
            }
            guard let bytes = try input.read(Int(included)), bytes.count == Int(included) else {
                cut = place
                return
            }
            var packet = packet(flags: UInt32(truncatingIfNeeded: Self.number(head, 8, 4)), bytes, Instant(microseconds: time))
            packet.isShortened = included < original
            try body(packet, place)
        }
    }

    private func packet(flags: UInt32, _ bytes: [UInt8], _ time: Instant) -> Packet {
        var packet = Packet(
            kind: .other, isReceived: flags & 1 != 0, controller: 0, bytes: bytes, time: time, isShortened: false)
        switch datalink {
        case .bare: packet.kind = flags & 2 == 0 ? .data : packet.isReceived ? .event : .other
        case .uart:
            packet.kind = bytes.first == 4 ? .event : bytes.first == 2 ? .data : .other
            if !bytes.isEmpty { packet.bytes.removeFirst() }
        case .monitor:
            packet.controller = Int(flags >> 16)
            switch flags & 0xFFFF {
            case 3: packet.kind = .event
            case 4: (packet.kind, packet.isReceived) = (.data, false)
            case 5: (packet.kind, packet.isReceived) = (.data, true)
            default: packet.kind = .other
            }
        }
        return packet
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int64 {
        bytes[start..<start + count].reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// Reads a file in blocks.
private final class SnoopInput {
    private let file: InputFile
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    private var position = 0

    init(_ file: InputFile) { self.file = file }

    func skip(_ count: Int) throws { _ = try read(count) }

    /// Returns this number of bytes, fewer before the end, and `nil` at the end.
    func read(_ count: Int) throws -> [UInt8]? {
        if buffer.count - position < count { try fill(count) }
        let part = Array(buffer[position..<min(buffer.count, position + count)])
        position += part.count
        return part.isEmpty && count > 0 ? nil : part
    }

    private func fill(_ count: Int) throws {
        buffer.removeFirst(position)
        position = 0
        var chunk = [UInt8](repeating: 0, count: 1 << 17)
        while buffer.count < count {
            let read = pread(file.descriptor, &chunk, chunk.count, off_t(offset))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SourceError(.inputOutput, FileInput.message("cannot read it", errno)) }
            if read == 0 { return }
            offset += Int64(read)
            buffer += chunk[..<read]
        }
    }
}
