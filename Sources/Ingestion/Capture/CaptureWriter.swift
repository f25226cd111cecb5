import EventLoopKit
import HealthModel
import Pipeline
import SampleStore
import Wire

/// Writes down what passes the hub's door, so that it can be replayed: ``Replay``.
///
///     let capture = try CaptureWriter(path: "field.ndjson", limit: 16 << 20, head: head, clock: loop.clock)
///     live.onEvent = { capture.record($0) }
///
/// A capture that cannot go on ends, says so once, and takes nothing with it.
public final class CaptureWriter {
    /// What both files take up together, in octets, unless another is asked for.
    public static let usualLimit = 16 << 20
    /// What may be asked for.
    public static let limits = 64 << 10...1 << 30

    /// Called once, when it ends early; with a reason that holds no value.
    public var onNotice: (SourceNotice) -> Void = { _ in }
    private let clock: any SourceClock
    let file: CaptureFile
    private var head: CaptureHead
    private var isOpen = true
    /// By the device's object.
    private var known: [ObjectIdentifier: Known] = [:]
    private var numbers = 0

    private struct Known {
        /// Kept, so that no other object has its identifier.
        var device: LiveDevice
        var number: Int
        /// As the file has it.
        var key: String
        var said: Device?
        var from: Device?
        /// Whether this part describes it.
        var isWritten = false
    }

    /// For the last line of a part.
    private static let reserve = 256
    /// Devices that are adopted anew again and again are forgotten.
    private static let maximumKnown = 1024

    /// - Parameters:
    ///   - limit: of both files together, in octets.
    ///   - head: what the first line says.
    /// - Throws: ``SourceError`` where nothing can be written there, or what is there is no capture.
    public init(path: String, limit: Int, head: CaptureHead, clock: any SourceClock) throws(SourceError) {
        self.clock = clock
        self.head = head
        file = try CaptureFile(path: path, limit: limit / 2)
        try file.append(CaptureText.line(head))
    }

    /// Where it is written.
    public var path: String { file.path }

    /// Writes an event down.
    public func record(_ event: LiveEvent) {
        guard isOpen else { return }
        write { lines(of: event) }
    }

    /// Writes a line of the log down, for the person who reads the file.
    public func note(_ notice: SourceNotice) {
        guard isOpen else { return }
        var line = line(.notice)
        line.text = String(notice.description.prefix(1000))
        write { CaptureText.line(line) }
    }

    /// The hub stops: the file ends, and says so.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        _ = try? file.append(CaptureText.line(line(.end)))
        file.finish()
    }

    /// - Parameter make: made anew for another part, where devices are described once more.
    private func write(_ make: () -> [UInt8]) {
        do throws(SourceError) {
            var octets = make()
            if file.size + octets.count + Self.reserve > file.limit {
                try file.append(CaptureText.line(line(.end)))
                try file.rotate()
                head.part += 1
                for key in known.keys { known[key]?.isWritten = false }
                try file.append(CaptureText.line(head))
                octets = make()
            }
            guard file.size + octets.count + Self.reserve <= file.limit, octets.count <= CaptureText.longestLine else {
                throw SourceError(.inputOutput, "\(file.path): a line is longer than the file may be")
            }
            try file.append(octets)
        } catch {
            end("\(error)")
        }
    }

    private func end(_ reason: String) {
        isOpen = false
        known.removeAll()
        file.finish()
        onNotice(SourceNotice(.action, "capture", "it has ended, and the hub goes on without it: \(reason)"))
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
        case .settle(let device): return describing(device) { CaptureText.line(line(.settle, $0.number)) }
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
        case .flush: return CaptureText.line(line(.flush))
        }
    }

    private func lines(of frame: RawFrame, _ device: LiveDevice) -> [UInt8] {
        describing(device) { known in
            var line = line(.frame, known.number)
            line.time = frame.received.microseconds
            line.channel = frame.channel
            switch frame.payload {
            case .bytes(let octets): line.octets = HexadecimalText.text(octets)
            case .malformed(let reason): line.text = reason
            // No live source delivers text.
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

    /// Puts in front what the file does not yet have of the device.
    private func describing(_ device: LiveDevice, _ body: (inout Known) -> [UInt8]) -> [UInt8] {
        let identifier = ObjectIdentifier(device)
        if known[identifier] == nil, known.count >= Self.maximumKnown { known.removeAll() }
        let adopted = device.adopted
        var each = known[identifier] ?? next(device)
        defer { known[identifier] = each }
        var octets: [UInt8] = []
        if !each.isWritten {
            var line = line(.device, each.number)
            line.about = CapturedDevice(device)
            octets = CaptureText.line(line)
            // The part may be read without the one before it.
            each.from = adopted.device
            each.isWritten = true
        } else if each.key != adopted.key || each.said != adopted.device {
            var line = line(.known, each.number)
            line.kind = adopted.key
            line.from = CapturedDescription(adopted.device)
            octets = CaptureText.line(line)
        }
        (each.key, each.said) = (adopted.key, adopted.device)
        return octets + body(&each)
    }

    private func next(_ device: LiveDevice) -> Known {
        numbers += 1
        return Known(device: device, number: numbers, key: device.adopted.key, said: device.adopted.device)
    }
}
