import BlueZSource
import EventLoopKit
import ExportTesting
import FoundationEssentials
import Glibc
import HealthModel
import HomeAssistantKit
import HomeAssistantSource
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

@testable import Hub

/// A hub with a double of Home Assistant, real clocks, and a radio of its own that the test plays.
final class HouseBench {
    final class OwnRadio: RadioSource {
        var hasAdapter = true
        func adopt(_ description: DeviceDescription, memory: DeviceMemory) {}
        func release(_ address: BluetoothAddress) {}
        func confirm(_ token: CommitToken) {}
        func isLive(_ address: BluetoothAddress) -> Bool { false }
        func strength(of address: BluetoothAddress) -> Int? { -70 }
        func start() {}
        func stop() {}
    }

    let server: HomeAssistantServer
    let folder: TemporaryFolder
    let loop: EventLoop
    let store: SampleStore
    let hub: Hub
    let radio: RadioService
    let own = OwnRadio()
    let service: HomeAssistantService
    var notices: [SourceNotice] = []
    private let library: ProfileLibrary
    private let zone = TimeZoneRules(fixed: .utc)
    private var sources: [SourceConfiguration] = []
    private var frames = 0

    static let clock = AdvertListener.Clock(uptime: MachineClock.uptime, now: { HouseBench.now })

    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    init() throws {
        server = try HomeAssistantServer()
        folder = try TemporaryFolder()
        library = try ProfileLibrary.load(directories: [Self.root + "/DeviceProfiles"])
        loop = EventLoop(clock: RealClock())
        store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: "11111111-1111-4111-8111-111111111111", time: 0))
        let live = LiveIngest(store: store, now: { HouseBench.now }, zone: zone, loop: loop)
        hub = Hub(live: live)
        radio = RadioService(live: live, source: own)
        hub.add(radio, policy: .retry)
        service = HomeAssistantService(radio: radio, loop: loop, clock: Self.clock)
        hub.add(service, policy: .retry)
        hub.onNotice = { [weak self] in self?.notices.append($0) }
        live.onNotice = hub.onNotice
    }

    deinit { server.kill() }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private final class RealClock: SourceClock {
        var uptime: Duration { MachineClock.uptime() }
        var now: Instant { HouseBench.now }
    }

    /// Sets the token of the source `house`.
    func use(token: String) throws {
        try folder.write(Array(token.utf8), to: "token")
        chmod(folder.file("token"), 0o600)
        let text =
            #"{"house": {"kind": "homeassistant", "url": "\#(server.url)", "token": {"file": "\#(folder.file("token"))"}}}"#
        sources = try JSONDecoder().decode(NamedSettings<SourceConfiguration>.self, from: Data(text.utf8)).all
    }

    func adopt(_ addresses: [String], _ profile: String = "bthome-v2") throws {
        for address in addresses {
            let stored = AdoptedDevice.bluetooth + address
            try store.devices.save(
                AdoptedDevice(address: stored, key: stored, profiles: [profile], name: "", person: store.owner, adopted: 1))
        }
    }

    /// As the hub does on SIGHUP.
    func reload() throws {
        var settings = HubSettings(library: library, devices: try store.devices.adopted(), aliases: [:], zone: zone)
        settings.sources = sources
        hub.apply(settings)
    }

    /// Runs the loop until a condition holds.
    func wait(_ comment: Comment = "", until isTrue: () -> Bool) {
        let end = ContinuousClock.now + .seconds(30)
        while !isTrue(), ContinuousClock.now < end { loop.turn(maximumWait: .milliseconds(20)) }
        #expect(isTrue(), comment)
    }

    func waitUntilListening() {
        wait("listening") { self.source.map { $0.reason == nil && $0.radios?.isEmpty == false } ?? false }
    }

    /// The state of the source as the status shows it.
    var source: HubStatus.Source? { HubStatus(of: hub, started: .zero).sources.first { $0.name == "homeassistant" } }

    /// The hub's own radio hears an advertisement of BTHome.
    func receive(_ address: String, _ bytes: [UInt8]) throws {
        frames += 1
        let address = try #require(BluetoothAddress(address))
        let device = DeviceInformation().device(name: nil, address: address, addressIsDurable: true, profile: "bthome-v2")
        bytes.withUnsafeBytes {
            radio.received(
                RawFrame(
                    payload: .bytes($0), place: Place(.record, frames), received: Self.now, channel: "advert:FCD2", device: device
                ),
                of: address)
        }
    }

    /// A packet of BTHome with a temperature in 0.01 °C, and a packet number if there is one.
    static func packet(_ value: Int, number: Int? = nil) -> [UInt8] {
        [0x40] + (number.map { [0x00, UInt8($0 & 0xFF)] } ?? []) + [0x02, UInt8(value & 0xFF), UInt8(value >> 8)]
    }

    /// An advertisement with service data of BTHome.
    static func raw(_ packet: [UInt8]) -> String {
        "020106"
            + ([UInt8(packet.count + 3), 0x16, 0xD2, 0xFC] + packet).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The stored temperatures, in 0.01 °C, by address.
    func values() throws -> [String: [Int]] {
        var values: [String: [Int]] = [:]
        let cursor = try SampleStore(path: store.path, access: .read).samples.cursor(matching: SampleQuery())
        while let sample = try cursor.next()?.sample {
            values[String((sample.origin.device?.key ?? "").dropFirst("bluetooth:".count)), default: []].append(
                Int((sample.value * 100).rounded()))
        }
        return values
    }
}
