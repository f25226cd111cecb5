import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import SystemdKit
import Testing

@testable import BlueZSource

/// A source, a scripted BlueZ and a bus between them, turned by the test.
final class Bench: BlueZSourceDelegate {
    let clock = ManualClock()
    let loop: EventLoop
    let daemon: PrivateBus
    var bluez: ScriptedBlueZ
    let source: BlueZSource
    var frames: [String] = []
    var places: [Int] = []
    var received: [Instant] = []
    var devices: [Device?] = []
    var notices: [SourceNotice] = []
    var memories: [DeviceMemory] = []
    var evidence: [ClockEvidence] = []
    var tokens: [CommitToken] = []
    /// Whether commits are confirmed at once.
    var confirms = true

    init(policy: String = "", adapter: Bool = true) throws {
        loop = EventLoop(clock: clock)
        daemon = try PrivateBus(policy: policy)
        bluez = ScriptedBlueZ(loop: loop, address: daemon.address)
        let configuration = BlueZConfiguration(wallTime: { $0.wallTime(at: ZoneOffset(seconds: 3600)) }, random: { 0.5 })
        source = BlueZSource(bus: SystemBus(loop: loop, address: .custom(daemon.address)), configuration: configuration)
        source.delegate = self
        try until("the name") { bluez.isNamed }
        if adapter { bluez.addAdapter() }
    }

    /// Turns the loop until the condition is true. The limit only ends a test that would never end. No test depends on how long something
    /// took.
    func until(_ description: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) throws {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let end = now.tv_sec + 300
        while !condition() {
            loop.turn(maximumWait: .seconds(1))
            clock_gettime(CLOCK_MONOTONIC, &now)
            try #require(now.tv_sec < end, description, sourceLocation: sourceLocation)
        }
    }

    /// Turns until no work is pending. Signals sent before a request arrive before its answer, and the source waits for no answer except
    /// those that the test holds back.
    func waitUntilIdle() throws {
        repeat {
            var done = false
            source.bus.call(BusMethod("org.bluez", "/", ScriptedBlueZ.test, "Ping")) { _ in done = true }
            try until("an answer") { done }
            // Timers that are due, such as that of the next in turn to connect.
            loop.turn(maximumWait: .zero)
        } while source.bus.load.calls > bluez.ignored.count
    }

    /// Lets time pass. Pending work finishes first, so that a timer started by an answer does not miss the time that passes.
    func pass(_ time: Duration) throws {
        try waitUntilIdle()
        clock.uptime += time
        loop.turn(maximumWait: .zero)
        try waitUntilIdle()
    }

    /// A description of a heart strap.
    static func strap(_ address: String = "C0:01:02:03:04:01") throws -> DeviceDescription {
        var strap = DeviceDescription(address: try #require(BluetoothAddress(address)), profile: "sig-heart-rate")
        strap.services = [BluetoothUUID(0x180D)]
        strap.subscriptions = [CharacteristicName(0x180D, 0x2A37)]
        strap.expectedInterval = .seconds(1)
        return strap
    }

    func addStrap(_ address: String = "C0:01:02:03:04:01", acquire: Bool = false) {
        bluez.addDevice(address, ["Name": .string("Strap")])
        bluez.addService(address, 0x180D, [(0x2A37, acquire ? ["NotifyAcquired": .boolean(false)] : [:])])
        bluez.addService(
            address, 0x180A,
            [
                (0x2A29, ["Value": .bytes(Array("Maker".utf8))]), (0x2A24, ["Value": .bytes(Array("H1\0\0".utf8))]),
                (0x2A25, ["Value": .bytes(Array("SN12 ".utf8))]),
            ])
    }

    func isLive(_ address: String = "C0:01:02:03:04:01") -> Bool { BluetoothAddress(address).map { source.isLive($0) } ?? false }

    // MARK: BlueZSourceDelegate

    func received(_ frame: RawFrame, of address: BluetoothAddress) {
        guard case .bytes(let bytes) = frame.payload else { return }
        frames.append(frame.channel + " " + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined())
        places.append(frame.place.number)
        received.append(frame.received)
        devices.append(frame.device)
    }

    func commit(_ token: CommitToken, memory: DeviceMemory) {
        tokens.append(token)
        memories.append(memory)
        if confirms { source.confirm(token) }
    }

    func remember(_ memory: DeviceMemory, for address: BluetoothAddress) { memories.append(memory) }
    func learned(_ evidence: ClockEvidence, for address: BluetoothAddress) { self.evidence.append(evidence) }
    func didReceive(_ notice: SourceNotice) { notices.append(notice) }
}
