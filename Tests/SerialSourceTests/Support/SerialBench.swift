import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing
import Wire

@testable import SerialSource

/// A source with a clock of the test's, on real pseudo-terminals, and plugs that the test pulls.
final class SerialBench: SerialSourceDelegate {
    final class Clock: SourceClock {
        var uptime = Duration.seconds(1000)
        var now = FixedClock().now
    }

    final class Plugs: PlugMonitor {
        var handler: ((PlugChange) -> Void)?
        func start(_ handler: @escaping (PlugChange) -> Void) { self.handler = handler }
        func stop() { handler = nil }
        func plug() { handler?(.plugged(SerialPlug(node: "/dev/ttyUSB0"))) }
    }

    let clock = Clock()
    let plugs = Plugs()
    let loop: EventLoop
    let source: SerialSource
    private(set) var frames: [String] = []
    private(set) var receipts: [Instant] = []
    private(set) var devices: [Device] = []
    private(set) var skips: [SkippedBytes] = []
    private(set) var notices: [SourceNotice] = []
    private(set) var clocks: [WallTime] = []
    private(set) var collections = 0
    private(set) var endings = 0
    /// Called with the records that must be durable before the meter is released. By default they are durable at once.
    var onCollected: (@escaping () -> Void) -> Void = { $0() }

    init(loop: EventLoop? = nil) {
        let loop = loop ?? EventLoop(clock: clock)
        self.loop = loop
        source = SerialSource(loop: loop, plugs: plugs)
        source.delegate = self
    }

    func received(_ frame: RawFrame, of path: String) {
        guard case .bytes(let bytes) = frame.payload else { return }
        frames.append(String(decoding: bytes.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self))
        receipts.append(frame.received)
        if let device = frame.device { devices.append(device) }
    }

    func skipped(_ bytes: SkippedBytes, of path: String) { skips.append(bytes) }
    func identified(_ device: Device, of path: String) {}
    func learned(_ shown: WallTime, at received: Instant, of path: String) { clocks.append(shown) }
    func beginsRecords(of path: String) {}
    func collected(_ path: String, done: @escaping () -> Void) {
        collections += 1
        onCollected(done)
    }
    func ended(_ path: String) { endings += 1 }
    func plugged(_ plug: SerialPlug) {}
    func didReceive(_ notice: SourceNotice) { notices.append(notice) }
    func changed() {}

    /// Turns the loop until the condition is true. The limit only ends a test that would hang.
    func turn(_ place: SourceLocation = #_sourceLocation, until isDone: () -> Bool, during: () -> Void = {}) {
        var turns = 0
        while !isDone(), turns < 60_000 {
            during()
            loop.turn(maximumWait: .milliseconds(5))
            turns += 1
        }
        #expect(isDone(), "waited in vain", sourceLocation: place)
    }

    /// Lets time pass on the test's clock.
    func pass(_ time: Duration) {
        clock.uptime += time
        loop.turn(maximumWait: .zero)
    }

    static func lines(_ path: String) -> SerialDescription {
        var settings = SerialSettings(speed: 19_200)
        settings.parity = .odd
        return SerialDescription(
            path: path, channel: "serial:lines", settings: settings,
            framing: Framing(.delimited(by: 0x0A, lastMayLackEnd: true), maximum: 64), device: Device(key: "serial:\(path)"))
    }

    static func meter(_ path: String, _ kind: MeterKind) -> SerialDescription {
        var description = SerialDescription(
            path: path, channel: "serial:meter", settings: SerialSettings(speed: 9600),
            framing: Framing(.delimited(by: kind == .oneTouchUltra2 ? 0x0D : 0x0A, lastMayLackEnd: false), maximum: 100),
            device: Device(key: "serial:\(path)"))
        description.meter = kind
        return description
    }
}
