import EventLoopKit
import HealthModel
import Ingestion
import Pipeline
import PipelineTesting
import SampleStore
import Synchronization
import Testing

@testable import BlueZSource
@testable import Hub

/// A home with a hub that has no battery-backed clock: the machine, its store, and the devices' frames. The test sets the true time.
///
/// A power cut leaves the committed readings. After it, the machine's clock shows the time of the cut until a time server sets it.
final class SimulatedHome {
    static let minute: Int64 = 60_000_000
    static let hour = 60 * minute
    static let ben = "7f9c0000-0000-4000-8000-000000000002"

    /// A device of the home.
    enum Machine: UInt8, CaseIterable {
        case cuff = 1
        case resetCuff, thermometer, meter, scale

        var address: BluetoothAddress { BluetoothAddress("C0:01:02:03:04:0\(rawValue)") ?? RadioBench.address }
        var device: Device {
            Device(key: "Maker/\(self)/\(rawValue)", manufacturer: "Maker", model: "\(self)", serial: "\(rawValue)")
        }
        var profile: String {
            switch self {
            case .cuff, .resetCuff: "sig-blood-pressure"
            case .thermometer: "sig-health-thermometer"
            case .meter: "sig-glucose"
            case .scale: "etekcity-fit-8s"
            }
        }
        /// The value of the last digit.
        var digit: Double { self == .thermometer || self == .scale ? 0.01 : 0.1 }
        /// The person who uses it.
        var isBens: Bool { self == .resetCuff || self == .meter }
    }

    /// The machine's clock since a boot.
    final class Clock: SourceClock, Sendable {
        private let state: Mutex<(now: Instant, uptime: Duration)>

        init(_ now: Instant) { state = Mutex((now, .seconds(20))) }

        var now: Instant { state.withLock { $0.now } }
        var uptime: Duration { state.withLock { $0.uptime } }

        func pass(_ time: Int64) {
            state.withLock {
                $0.now.microseconds += time
                $0.uptime += .microseconds(time)
            }
        }

        func set(_ now: Instant) { state.withLock { $0.now = now } }
    }

    private let folder: TemporaryFolder
    private let library = Result { try Checkout.library }
    let zone: TimeZoneRules
    private(set) var store: SampleStore
    private(set) var clock: Clock
    private var live: LiveIngest?
    private var hub: Hub?
    private var service: RadioService?
    private var loop: EventLoop?
    private var hubClock: HubClock?
    private var onClockSet: (() -> Void)?
    private var isSynchronised = true
    private var boots = 0
    private var frames = 0
    /// The true time in microseconds.
    private(set) var now: Int64

    init(start: Int64) throws {
        folder = try TemporaryFolder()
        zone = try .berlin
        now = start
        clock = Clock(Instant(microseconds: start))
        store = try Self.open(folder)
        for machine in Machine.allCases {
            let address = DeviceAssembly.storedAddress(machine.address)
            var adopted = AdoptedDevice(
                address: address, key: machine.device.key, profiles: [machine.profile], name: "",
                person: machine.isBens ? Self.ben : store.owner, adopted: 1)
            adopted.device = machine.device
            try store.devices.save(adopted)
        }
        try boot()
    }

    private static func open(_ folder: TemporaryFolder) throws -> SampleStore {
        try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: OneReadingTests.person, time: 0))
    }

    /// Starts the hub's program.
    private func boot() throws {
        let (clock, zone, store) = (clock, zone, store)
        let loop = EventLoop(clock: clock)
        let live = LiveIngest(store: store, now: { clock.now }, zone: zone, loop: loop)
        let hub = Hub(live: live)
        let service = RadioService(live: live, source: RadioBench.Source())
        hub.add(service, policy: .retry)
        let questions = HubClock.Questions(
            boot: "boot-\(boots)", isSynchronised: { [unowned self] in self.isSynchronised }, keepsTime: false,
            watch: { [unowned self] in
                self.onClockSet = $0
                return self
            })
        let hubClock = HubClock(hub: hub, questions: questions)
        try hubClock.start()
        hub.apply(HubSettings(library: try library.get(), devices: try store.devices.adopted(), aliases: [:], zone: zone))
        (self.loop, self.live, self.hub, self.service, self.hubClock) = (loop, live, hub, service, hubClock)
    }

    /// The power fails. It returns after a while, and the machine's clock continues with the time of the cut.
    func cutPower(for time: Int64) throws {
        (live, hub, service, hubClock, loop, onClockSet) = (nil, nil, nil, nil, nil, nil)
        now += time
        clock = Clock(clock.now)
        isSynchronised = false
        boots += 1
        store = try Self.open(folder)
        try boot()
    }

    /// A time server sets the machine's clock.
    func synchronise() {
        guard !isSynchronised else { return }
        clock.set(Instant(microseconds: now))
        isSynchronised = true
        onClockSet?()
        pass(2_000_000)
    }

    /// Restarts the hub's program.
    func restart() throws {
        try hub?.stop()
        try boot()
    }

    func pass(_ time: Int64) {
        now += time
        clock.pass(time)
        loop?.turn(maximumWait: .zero)
    }

    func pass(until time: Int64) { if time > now { pass(time - now) } }

    func stop() throws { try hub?.stop() }

    func receive(_ channel: String, _ bytes: [UInt8], of machine: Machine) {
        frames += 1
        bytes.withUnsafeBytes {
            service?.received(
                RawFrame(
                    payload: .bytes($0), place: Place(.record, frames), received: clock.now, channel: channel,
                    device: machine.device),
                of: machine.address)
        }
    }

    /// The hub reads the clock of a device that shows this time.
    func compare(_ machine: Machine, shown: Int64) {
        service?.learned(
            ClockEvidence(
                shown: WallTime(microseconds: shown), received: clock.now,
                expected: clock.now.wallTime(at: zone.offset(at: clock.now))),
            for: machine.address)
    }

    // MARK: Frames

    /// Date Time (GATT Specification Supplement, 3.72).
    private static func stamp(_ shown: Int64) -> [UInt8] {
        let (days, time) = shown.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        let date = Calendar.date(days: Int(days))
        let seconds = time / 1_000_000
        return [
            UInt8(date.year & 0xFF), UInt8(date.year >> 8), UInt8(date.month), UInt8(date.day), UInt8(seconds / 3600),
            UInt8(seconds / 60 % 60), UInt8(seconds % 60),
        ]
    }

    /// Sends a measurement with its digits, and the time on the device's clock.
    func send(_ machine: Machine, digits: Int, shown: Int64, number: Int) {
        let (low, high) = (UInt8(digits & 0xFF), UInt8(digits >> 8))
        switch machine {
        case .cuff, .resetCuff:
            // SFLOAT with the exponent -1. The diastolic pressure is 60, and the mean one 70.
            receive("gatt:2A35", [0x02, low, 0xF0 | high, 60, 0, 70, 0] + Self.stamp(shown), of: machine)
        case .thermometer: receive("gatt:2A1C", [0x02, low, high, 0, 0xFE] + Self.stamp(shown), of: machine)
        case .meter:
            // Tenths of a mg/dL in kg/L: the exponent is -6.
            receive(
                "gatt:2A18", [0x02, UInt8(number & 0xFF), UInt8(number >> 8)] + Self.stamp(shown) + [low, 0xA0 | high, 0x11],
                of: machine)
        case .scale:
            let grams = digits * 10
            receive(
                "advert:manufacturer:06D0",
                [
                    1, machine.rawValue, 4, 3, 2, 1, 0xC0, 0, 0, 0, UInt8(grams & 0xFF), UInt8(grams >> 8 & 0xFF),
                    UInt8(grams >> 16), 0, 0, 1, 0,
                    0, 0, UInt8(number & 0xFF),
                ], of: machine)
        }
    }
}
