import Glibc
import HealthModel
import Pipeline
import Wire

/// Reads a capture, after the preceding part if that exists. Each line is validated before it is used.
package final class CaptureReader: ReplayFeed {
    private struct Part {
        var path: String
        var descriptor: Int32
        /// The length when the file was opened. A hub may still be writing to it.
        var length: Int64
        var head: CaptureHead
    }

    private var parts: [Part] = []
    /// The first line of the requested file.
    package private(set) var head: CaptureHead
    /// Notes for the user about missing parts.
    package private(set) var notes: [String] = []
    /// The line after the last complete one if the file is cut off in it.
    private(set) var cut: Place?

    /// The maximum file size in bytes.
    private static let maximumSize: Int64 = 4 << 30
    /// The end of the year 9999 in microseconds. A clock may be off by no more than this.
    private static let latest: Int64 = 253_402_300_799_999_999
    private static let numbers = -latest...latest

    /// Opens a capture, and `FILE.1` if it is the preceding part.
    /// - Throws: ``SourceError`` if there is no file or it is not a capture.
    package init(path: String) throws(SourceError) {
        let last = try Self.open(path)
        head = last.head
        parts = [last]
        guard head.part > 1 else { return }
        if let before = try? Self.open(path + ".1") {
            if before.head.id == head.id, before.head.part == head.part - 1 {
                parts.insert(before, at: 0)
                notes.append("it continues \(before.path), which is replayed first")
            } else {
                close(before.descriptor)
            }
        }
        if let first = parts.first, first.head.part > 1 {
            notes.append(
                "its beginning is missing (this is part \(first.head.part)): the first advertisement may be a repetition, "
                    + "and the position of a sensor may be unknown")
        }
    }

    deinit { for part in parts { close(part.descriptor) } }

    private static func open(_ path: String) throws(SourceError) -> Part {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SourceError(.noInput, "\(path): \(String(cString: strerror(errno)))") }
        do throws(SourceError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw SourceError(.noInput, "\(path): not a regular file")
            }
            guard status.st_size <= maximumSize else {
                throw SourceError(.malformed, "\(path): too large for a capture")
            }
            return Part(path: path, descriptor: descriptor, length: Int64(status.st_size), head: try head(of: descriptor, path))
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func head(of descriptor: Int32, _ path: String) throws(SourceError) -> CaptureHead {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let line = bytes[..<max(0, count)].prefix { $0 != UInt8(ascii: "\n") }
        guard line.starts(with: CaptureText.mark), let version = CaptureText.value(Version.self, line)?.capture else {
            throw SourceError(.malformed, "\(path): line 1: not a capture, or the first line is damaged")
        }
        guard version == CaptureHead.version else {
            throw SourceError(
                .malformed, "\(path): line 1: capture version \(version) needs a newer Vitalgate")
        }
        guard let head = CaptureText.value(CaptureHead.self, line), head.part >= 1, UUIDText.isValid(head.person) else {
            throw SourceError(.malformed, "\(path): line 1: incomplete first line of a capture")
        }
        return head
    }

    private struct Version: Decodable {
        var capture: Int
    }

    // MARK: Lines

    /// Passes on all lines in order, except the first line of each part.
    func forEachLine(_ body: (ReplayLine) throws -> Void) throws {
        cut = nil
        for (index, part) in parts.enumerated() {
            var number = 0
            let rest = try forEachText(part) { text in
                number += 1
                guard number > 1 else { return }
                try body(try check(text, Place(.line, number), index))
            }
            guard rest > 0 else { continue }
            // Only the end of the last part may be cut off. Before another part it is damage.
            guard index == parts.count - 1 else {
                throw SourceError(.malformed, "\(part.path): line \(number + 1): the line is truncated, but another part follows")
            }
            cut = Place(.line, number + 1)
        }
    }

    /// Returns the number of bytes after the last newline.
    private func forEachText(_ part: Part, _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 128 << 10)
        var lines = LineBuffer()
        var offset: Int64 = 0
        while offset < part.length {
            let wanted = Int(min(Int64(buffer.count), part.length - offset))
            let count = pread(part.descriptor, &buffer, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw SourceError(.inputOutput, "\(part.path): reading failed, or the file became shorter during reading")
            }
            offset += Int64(count)
            lines.append(buffer[..<count])
            while let line = lines.next() { try body(line) }
            guard lines.rest.count <= CaptureText.maximumLineLength else {
                throw SourceError(.malformed, "\(part.path): a line is longer than \(CaptureText.maximumLineLength) bytes")
            }
        }
        return lines.rest.count
    }

    private func check(_ text: ArraySlice<UInt8>, _ place: Place, _ part: Int) throws(SourceError) -> ReplayLine {
        func wrong(_ reason: String) -> SourceError {
            SourceError(.malformed, "\(parts[part].path): \(place): \(reason)")
        }
        guard let line = CaptureText.value(CaptureLine.self, text) else {
            throw wrong("not a line of a capture, or damaged")
        }
        guard (0...Self.latest).contains(line.time), (0...Self.latest).contains(line.arrived ?? 0),
            (0...Int64(1e18)).contains(line.uptime)
        else {
            throw wrong("the time is out of range")
        }
        for number in [line.ahead, line.ofUTC, line.by] {
            if let number, !Self.numbers.contains(number) { throw wrong("the clock difference is too large") }
        }
        if let count = line.count, !(0...Int(Int32.max)).contains(count) { throw wrong("nothing is counted so far") }
        if let number = line.number, !(0...Int(Int64.max / 2)).contains(number) { throw wrong("there is no such place") }
        if let text = line.text, text.utf8.count > 4096 { throw wrong("its text is too long") }
        let isWhole: Bool
        switch line.event {
        case .device: isWhole = line.device != nil && line.about.map(Self.isSound) == true
        case .known: isWhole = line.device != nil && line.kind != nil && line.from != nil
        case .finish, .commit, .records: isWhole = line.device != nil
        case .frame:
            isWhole =
                line.device != nil && line.channel != nil && (line.bytes != nil) != (line.text != nil) && Self.place(line) != nil
        case .clock: isWhole = line.device != nil && line.ahead != nil && line.ofUTC != nil
        case .skip: isWhole = line.kind?.isEmpty == false && line.count != nil
        case .refuse: isWhole = line.text != nil && line.count != nil && Self.place(line) != nil
        case .step: isWhole = line.by != nil
        case .boot, .flush, .notice, .end: isWhole = true
        }
        guard isWhole else { throw wrong("incomplete or invalid line of the event \(line.event.rawValue)") }
        guard let bytes = HexadecimalText.bytes(line.bytes ?? "") else { throw wrong("its bytes are not hexadecimal") }
        return ReplayLine(line: line, bytes: bytes, place: place, part: part)
    }

    static func place(_ line: CaptureLine) -> Place? {
        guard let kind = line.place.flatMap(Place.Kind.init), let number = line.number else { return nil }
        return Place(kind, number)
    }

    private static func isSound(_ device: CapturedDevice) -> Bool {
        let clock = device.clock ?? []
        return !device.address.isEmpty && (device.person == Origin.unassigned || UUIDText.isValid(device.person))
            && clock.allSatisfy { (2...3).contains($0.count) && $0.allSatisfy(numbers.contains) }
            && numbers.contains(device.adopted) && (1...1_000_000).contains(device.readingsPerSecond)
            && (device.shared ?? []).allSatisfy { $0.from <= $0.to && UUIDText.isValid($0.person) }
    }
}
