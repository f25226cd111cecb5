import EventLoopKit
import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

@testable import BlueZSource

/// A service with a store and a clock of the test's, and a source that the test plays.
final class RadioBench {
    static let address = BluetoothAddress("C0:01:02:03:04:01") ?? { preconditionFailure("an address") }()
    static let device = Device(key: "Maker/Meter/42", manufacturer: "Maker", model: "Meter", serial: "42")

    final class Clock: SourceClock {
        var uptime = Duration.seconds(1000)
        var now = FixedClock().now
    }

    final class Source: RadioSource {
        var adopted: [(description: DeviceDescription, memory: DeviceMemory)] = []
        var released: [BluetoothAddress] = []
        var confirmed: [CommitToken] = []
        var onConfirm: (CommitToken) -> Void = { _ in }
        func adopt(_ description: DeviceDescription, memory: DeviceMemory) { adopted.append((description, memory)) }
        func release(_ address: BluetoothAddress) { released.append(address) }
        func confirm(_ token: CommitToken) {
            confirmed.append(token)
            onConfirm(token)
        }
        var away: Set<BluetoothAddress> = []
        func isLive(_ address: BluetoothAddress) -> Bool { !away.contains(address) }
        var hasAdapter = true
        func start() {}
        func stop() {}
    }

    let clock = Clock()
    let source = Source()
    let loop: EventLoop
    let store: SampleStore
    private(set) var live: LiveIngest
    private(set) var hub: Hub
    private(set) var service: RadioService
    var notices: [SourceNotice] = []
    private let folder: TemporaryFolder
    private let library: ProfileLibrary
    private let zone: TimeZoneRules
    private var frames = 0

    init() throws {
        folder = try TemporaryFolder()
        library = try Checkout.library
        zone = try .berlin
        loop = EventLoop(clock: clock)
        store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: OneReadingTests.person, time: 0))
        live = Self.live(store, zone, loop)
        hub = Hub(live: live)
        service = RadioService(live: live, source: source)
        hub.add(service, policy: .retry)
        hub.onNotice = { [weak self] in self?.notices.append($0) }
        live.onNotice = hub.onNotice
    }

    private static func live(_ store: SampleStore, _ zone: TimeZoneRules, _ loop: EventLoop) -> LiveIngest {
        let now = FixedClock().now
        return LiveIngest(
            store: store, now: { now }, zone: zone, loop: loop)
    }

    /// A new run of the hub continues with the content of the store.
    func restartHub() throws {
        let next = RadioService(live: Self.live(store, zone, loop), source: source)
        next.apply(try settings())
    }

    /// `hub.heartbeats: "series"`.
    var gathersHeartbeats = false
    var estimates: [String: [ImpedanceFormula]] = [:]

    func settings() throws -> HubSettings {
        var settings = HubSettings(
            library: library, devices: try store.devices.adopted(), aliases: try store.devices.aliases(), zone: zone)
        settings.gathersHeartbeats = gathersHeartbeats
        settings.estimates = estimates
        return settings
    }

    /// Does what a hub does on SIGHUP.
    func reload() throws { hub.apply(try settings()) }

    func stop() throws { try hub.stop() }

    /// Moves the hub to another zone and restarts its service there.
    func travel(to zone: TimeZoneRules) throws {
        try hub.stop()
        live = Self.live(store, zone, loop)
        hub = Hub(live: live)
        service = RadioService(live: live, source: source)
        hub.add(service, policy: .retry)
        var settings = try settings()
        settings.zone = zone
        hub.apply(settings)
    }

    /// Compares the device's clock, which is this many seconds ahead of the zone's local time.
    func compareClocks(
        ahead seconds: Int64 = 0, zoneHours: Int32 = 1, of address: BluetoothAddress = RadioBench.address
    ) {
        let expected = clock.now.wallTime(at: ZoneOffset(seconds: zoneHours * 3600))
        service.learned(
            ClockEvidence(
                shown: WallTime(microseconds: expected.microseconds + seconds * 1_000_000), received: clock.now,
                expected: expected),
            for: address)
    }

    func adopt(_ profiles: String..., at address: BluetoothAddress = RadioBench.address) throws {
        let address = DeviceAssembly.storedAddress(address)
        try store.devices.save(
            AdoptedDevice(address: address, key: address, profiles: profiles, name: "", person: store.owner, adopted: 1))
        try reload()
    }

    /// - Parameter continues: it belongs to the frame before it, and has its place.
    func receive(
        _ channel: String, _ bytes: [UInt8], after delay: Duration = .zero, continues: Bool = false, commitsFirst: Bool = true,
        of address: BluetoothAddress = RadioBench.address
    ) {
        if commitsFirst { pass(delay) }
        if !continues { frames += 1 }
        bytes.withUnsafeBytes {
            service.received(
                RawFrame(
                    payload: .bytes($0), place: Place(.record, frames), received: clock.now, channel: channel, device: Self.device
                ),
                of: address)
        }
    }

    func pass(_ time: Duration) {
        clock.uptime += time
        let (seconds, attoseconds) = time.components
        clock.now = Instant(microseconds: clock.now.microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        loop.turn(maximumWait: .zero)
    }

    func reader() throws -> SampleStore { try SampleStore(path: store.path, access: .read) }

    func samples() throws -> [StoredSample] {
        let cursor = try reader().samples.cursor(matching: SampleQuery())
        var samples: [StoredSample] = []
        while let sample = try cursor.next() { samples.append(sample) }
        return samples
    }

    /// A record of 2026-11-20T06:00:00 on the device's clock.
    static func glucose(number: UInt16, year: Int = 2026, hour: UInt8 = 6, minute: UInt8 = 0) -> [UInt8] {
        [
            0x02, UInt8(number & 0xFF), UInt8(number >> 8), UInt8(year & 0xFF), UInt8(year >> 8), 11, 20, hour, minute, 0, 0x64,
            0xB0,
            0x11,
        ]
    }
}
