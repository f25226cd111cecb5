import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Profiles
import SampleStore

@testable import Hub
@testable import Ingestion

/// A hub with simulated sensors and its status server, on the test's clock. The test is the other end of the socket.
final class StatusBench {
    final class Clock: SourceClock {
        var uptime = Duration.seconds(1000)
        var now = FixedClock().now
    }

    /// A source that the test breaks.
    final class Frail: HubSource {
        let name = "frail"
        weak var host: (any HubSourceHost)?
        var devices: [HubDevice] = []
        func apply(_ settings: HubSettings) {}
        func start() throws(SourceError) {}
        func stop() {}
    }

    /// A client that reads only when the test requests it.
    final class Asker {
        let descriptor: Int32
        private var received: [UInt8] = []
        private var waiting: Int32 = 0

        init(_ path: String) throws {
            descriptor = try StatusSocket.connected(to: path, timeout: 60)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }

        deinit { close(descriptor) }

        func transmit(_ text: String) { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

        /// Everything that has arrived. `nil` if the other end has closed.
        func read() -> String? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var isOpen = true
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else {
                    isOpen = count < 0 && errno == EAGAIN
                    break
                }
                received += buffer[..<count]
            }
            defer { received = [] }
            return isOpen || !received.isEmpty ? String(decoding: received, as: UTF8.self) : nil
        }

        /// Whether more has come since the last time it was asked.
        func isTakingMore() -> Bool {
            let before = waiting
            _ = ioctl(descriptor, UInt(FIONREAD), &waiting)
            return waiting != before
        }

        /// The statuses that have come.
        func statuses() -> [HubStatus] {
            (read() ?? "").split(separator: "\n").compactMap { StatusMessage.answer(Array($0.utf8))?.status }
        }
    }

    static let follow = #"{"vitalgate":1,"ask":"follow"}"# + "\n"
    static let status = #"{"vitalgate":1,"ask":"status"}"# + "\n"

    let clock = Clock()
    let loop: EventLoop
    let store: SampleStore
    let hub: Hub
    let server: StatusServer
    let frail = Frail()
    let folder: TemporaryFolder
    let machine: Machine
    var socket: String { folder.file("store.db.sock") }

    init() throws {
        folder = try TemporaryFolder()
        loop = EventLoop(clock: clock)
        let clock = clock.now
        machine = Machine(environment: [:], now: { clock }, zoneDirectory: "/nonexistent")
        store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: OneReadingTests.person, time: 0, isDemo: true))
        let live = LiveIngest(store: store, now: machine.now, zone: try .berlin, loop: loop)
        hub = Hub(live: live)
        server = StatusServer(hub: hub, machine: machine)
        hub.add(frail, policy: .retry)
        try SimulatedSensors.adopt(in: store, at: self.clock.now)
        hub.add(try SimulatedSensors(live: live), policy: .error)
        server.onInterest = { [unowned self] isFollowed in
            hub.onChange = isFollowed ? { [unowned self] in server.changed() } : nil
            hub.live.onCommit = isFollowed ? { [unowned self] in server.changed() } : {}
        }
        hub.apply(
            HubSettings(
                library: try Checkout.library, devices: try store.devices.adopted(),
                aliases: [:], zone: try .berlin))
        try server.start()
    }

    /// Lets time pass and runs due timers.
    func pass(_ time: Duration = .zero) {
        clock.uptime += time
        let (seconds, attoseconds) = time.components
        clock.now = Instant(microseconds: clock.now.microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        // Input read in one turn is answered in the next.
        for _ in 0..<4 { loop.turn(maximumWait: .zero) }
    }

    func ask(_ text: String) throws -> Asker {
        let asker = try Asker(socket)
        asker.transmit(text)
        pass()
        return asker
    }

    /// More devices than anybody has, the first with another name each time: long answers, and news without readings.
    func connectMany(_ name: String) throws {
        if frail.devices.isEmpty {
            let zone = try TimeZoneRules.berlin
            frail.devices = (1...HubStatus.maximumDevices).map { number in
                let adopted = AdoptedDevice(
                    address: "crowd:\(number)", key: "crowd:\(number)", profiles: [],
                    name: String(repeating: "x", count: 200), person: store.owner, adopted: 0)
                return HubDevice(LiveDevice(adopted, profiles: [], aliases: [:], zone: zone), state: "live")
            }
        }
        frail.devices[0].device.adopted.name = name
        hub.changed(frail)
        pass(.seconds(5))
    }

    func stop() throws {
        server.stop()
        try hub.stop()
    }
}
