import EventLoopKit
import HealthModel
import Pipeline
import SampleStore
import Wire

/// Records the hub's input so that it can be replayed with ``Replay``.
///
///     let capture = try CaptureWriter(path: "field.ndjson", limit: 16 << 20, head: head, clock: loop.clock)
///     live.onEvent = { capture.record($0) }
///
/// If the capture fails, it ends with one notice, and the hub continues.
package final class CaptureWriter {
    /// The default limit for both files together, in bytes.
    package static let defaultLimit = 16 << 20
    /// The range of limits that can be requested.
    package static let limits = 64 << 10...1 << 30

    /// Called once if the capture ends early. The reason contains no measured value.
    package var onNotice: (SourceNotice) -> Void = { _ in }
    private let clock: any SourceClock
    let file: CaptureFile
    private var head: CaptureHead
    private var isOpen = true
    /// The boot of the machine while its clock is not confirmed.
    private var boot: String?
    private var known: [ObjectIdentifier: Known] = [:]
    private var numbers = 0

    private struct Known {
        /// Retained so that no other object can get the same identifier.
        var device: LiveDevice
        var number: Int
        /// The key as last written to the file.
        var key: String
        var lastDevice: Device?
        var from: Device?
        /// Whether this part describes the device.
        var isWritten = false
    }

    /// Space reserved for the last line of a part, in bytes.
    private static let reserve = 256
    /// The maximum number of known devices. Devices that are adopted again and again are forgotten.
    private static let maximumKnown = 1024

    /// - Parameters: - limit: the limit for both files together, in bytes. - head: the first line.
    /// - Throws: ``SourceError`` if the file cannot be written or something else than a capture exists there.
    package init(path: String, limit: Int, head: CaptureHead, clock: any SourceClock) throws(SourceError) {
        self.clock = clock
        self.head = head
        file = try CaptureFile(path: path, limit: limit / 2)
        try file.append(CaptureText.line(head))
    }

    package var path: String { file.path }

    package func record(_ event: LiveEvent) {
        guard isOpen else { return }
        write { lines(of: event) }
    }

    /// Records a log line, for the person who reads the file.
    package func note(_ notice: SourceNotice) {
        guard isOpen else { return }
        var line = line(.notice)
        line.text = String(notice.description.prefix(1000))
        write { CaptureText.line(line) }
    }

    /// Ends the file with a final line when the hub stops.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        _ = try? file.append(CaptureText.line(line(.end)))
        file.finish()
    }

    /// - Parameter make: returns the lines. It is called again for a new part, in which devices are described again.
    private func write(_ make: () -> [UInt8]) {
        do throws(SourceError) {
            var bytes = make()
            if file.size + bytes.count + Self.reserve > file.limit {
                try file.append(CaptureText.line(line(.end)))
                try file.rotate()
                head.part += 1
                for key in known.keys { known[key]?.isWritten = false }
                try file.append(CaptureText.line(head))
                if boot != nil { try file.append(bootLine) }
                bytes = make()
            }
            guard file.size + bytes.count + Self.reserve <= file.limit, bytes.count <= CaptureText.maximumLineLength else {
                throw SourceError(.inputOutput, "\(file.path): a line is longer than the file may be")
            }
            try file.append(bytes)
        } catch {
            end("\(error)")
        }
    }

    private func end(_ reason: String) {
        isOpen = false
        known.removeAll()
        file.finish()
        onNotice(SourceNotice(.action, "capture", "the capture has ended, and the hub continues without it: \(reason)"))
    }

    // MARK: Lines

    private func line(_ event: CaptureLine.Event, _ device: Int? = nil) -> CaptureLine {
        let (seconds, attoseconds) = clock.uptime.components
        return CaptureLine(
            event, time: clock.now.microseconds, uptime: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000, device: device)
    }

    private func lines(of event: LiveEvent) -> [UInt8] {
        switch event {
        case .frame(let frame, let device): return lines(of: frame, device)
        case .finish(let device): return describing(device) { CaptureText.line(line(.finish, $0.number)) }
        case .commit(let device): return describing(device) { CaptureText.line(line(.commit, $0.number)) }
        case .records(let device): return describing(device) { CaptureText.line(line(.records, $0.number)) }
        case .clock(let ahead, let ofUTC, let received, let device):
            return describing(device) {
                var line = line(.clock, $0.number)
                line.time = received.microseconds
                (line.ahead, line.ofUTC) = (ahead, ofUTC)
                return CaptureText.line(line)
            }
        case .skip(let kind, let count):
            var line = line(.skip)
            (line.kind, line.count) = (kind.name, count)
            return CaptureText.line(line)
        case .refuse(let refusal):
            var line = line(.refuse)
            (line.text, line.count) = (refusal.reason, refusal.readings)
            (line.place, line.number) = (refusal.place.kind.rawValue, refusal.place.number)
            return CaptureText.line(line)
        case .step(let step):
            var line = line(.step)
            line.by = step
            return CaptureText.line(line)
        case .boot(let boot):
            self.boot = boot
            return bootLine
        case .flush: return CaptureText.line(line(.flush))
        }
    }

    private var bootLine: [UInt8] {
        var line = line(.boot)
        line.text = boot
        return CaptureText.line(line)
    }

    private func lines(of frame: RawFrame, _ device: LiveDevice) -> [UInt8] {
        describing(device) { known in
            var line = line(.frame, known.number)
            line.time = frame.received.microseconds
            line.channel = frame.channel
            if let hearing = frame.hearing {
                (line.receiver, line.arrived) = (hearing.receiver, hearing.arrived.microseconds)
                line.replay = hearing.replay?.rawValue
            }
            switch frame.payload {
            case .bytes(let bytes): line.bytes = HexadecimalText.text(bytes)
            case .malformed(let reason): line.text = reason
            // Live sources never deliver rows of text.
            case .row: line.text = "a row of text, which a capture does not hold"
            }
            (line.place, line.number) = (frame.place.kind.rawValue, frame.place.number)
            if known.from != frame.device {
                line.from = CapturedDescription(frame.device)
                known.from = frame.device
            }
            return CaptureText.line(line)
        }
    }

    /// Prepends the facts about the device that the file does not contain yet.
    private func describing(_ device: LiveDevice, _ body: (inout Known) -> [UInt8]) -> [UInt8] {
        let identifier = ObjectIdentifier(device)
        if known[identifier] == nil, known.count >= Self.maximumKnown { known.removeAll() }
        let adopted = device.adopted
        var each = known[identifier] ?? next(device)
        defer { known[identifier] = each }
        var bytes: [UInt8] = []
        if !each.isWritten {
            var line = line(.device, each.number)
            line.about = CapturedDevice(device)
            bytes = CaptureText.line(line)
            // The part may be read without the preceding one.
            each.from = adopted.device
            each.isWritten = true
        } else if each.key != adopted.key || each.lastDevice != adopted.device {
            var line = line(.known, each.number)
            line.kind = adopted.key
            line.from = CapturedDescription(adopted.device)
            bytes = CaptureText.line(line)
        }
        (each.key, each.lastDevice) = (adopted.key, adopted.device)
        return bytes + body(&each)
    }

    private func next(_ device: LiveDevice) -> Known {
        numbers += 1
        return Known(device: device, number: numbers, key: device.adopted.key, lastDevice: device.adopted.device)
    }
}
