import BlueZSource
import CommandLineKit
import EventLoopKit
import HealthModel
import HomeAssistantSource
import Hub
import SampleStore

/// The devices that the radios of the configured Home Assistants hear, for commands.
final class ReceiverScan {
    /// Called with each device that was heard, as far as it is known.
    var onDevice: (NearbyDevice) -> Void = { _ in }
    private let context: CommandContext
    private let loop: EventLoop
    private var listeners: [(name: String, listener: AdvertListener)] = []
    private var devices: [BluetoothAddress: NearbyDevice] = [:]
    private var receptions: [BluetoothAddress: [String: Int?]] = [:]
    private var failures: [String: String] = [:]

    /// A device that was heard longer ago is not in range.
    private static let range = Duration.seconds(60)
    private static let maximumDevices = 10_000

    /// Begins to listen.
    init(_ context: CommandContext, loop: EventLoop) throws {
        (self.context, self.loop) = (context, loop)
        for source in try context.configuration().sources {
            let listener = AdvertListener(
                source.settings, addresses: nil, clock: .init(uptime: MachineClock.uptime, now: context.machine.now))
            listeners.append((source.name, listener))
            loop.watch(listener.descriptor) { [weak self] _ in self?.receive(from: source.name, listener) }
            listener.start()
        }
    }

    /// Whether a Home Assistant is configured.
    var isThere: Bool { !listeners.isEmpty }

    /// Ends it, and reports those that could not be heard.
    func stop() {
        for (name, listener) in listeners {
            loop.unwatch(listener.descriptor)
            listener.stop(waiting: .seconds(1))
            if let failure = failures[name] { context.warn("\(name): \(failure)") }
        }
        listeners = []
    }

    private func receive(from name: String, _ listener: AdvertListener) {
        let batch = listener.take()
        switch batch.state {
        case .connecting: break
        case .listening: failures[name] = nil
        case .failed(let reason), .refused(let reason): failures[name] = reason
        }
        for advert in batch.adverts where advert.age <= Self.range { take(advert, from: name) }
    }

    private func take(_ advert: HomeAssistantAdvert, from name: String) {
        guard devices[advert.address] != nil || devices.count < Self.maximumDevices else { return }
        let receiver = "\(name): \(advert.radioName)"
        var device =
            devices[advert.address]
            ?? NearbyDevice(
                address: advert.address, addressIsDurable: true, name: nil, strength: nil, services: [], adverts: [],
                isBonded: false, isConnected: false, adapter: receiver)
        device.name = advert.name ?? device.name
        device.services = Set(device.services + advert.services).sorted()
        device.data.merge(advert.parts) { $1 }
        device.adverts = Set(device.data.keys)
        receptions[advert.address, default: [:]][receiver] = .some(advert.strength)
        let best = receptions[advert.address, default: [:]].max { ($0.value ?? .min, $1.key) < ($1.value ?? .min, $0.key) }
        (device.strength, device.adapter) = (best?.value, best?.key ?? receiver)
        devices[advert.address] = device
        onDevice(device)
    }

    /// Returns the devices together with those that the hub's own radio heard, strongest first.
    func merged(with own: [NearbyDevice]) -> [NearbyDevice] {
        var all = devices
        for each in own {
            guard let other = all[each.address] else {
                all[each.address] = each
                continue
            }
            var device = each
            device.name = each.name ?? other.name
            device.services = Set(each.services + other.services).sorted()
            device.data.merge(other.data) { own, _ in own }
            device.adverts = Set(device.data.keys)
            all[each.address] = device
        }
        return all.values.sorted { ($0.strength ?? .min, $1.address) > ($1.strength ?? .min, $0.address) }
    }

    /// Returns who hears a device and at which strength in dBm, the strongest first.
    func receivers(of device: NearbyDevice) -> [(name: String, strength: Int?)] {
        receptions[device.address, default: [:]].map { (name: $0.key, strength: $0.value) }
            .sorted { ($0.strength ?? .min, $1.name) > ($1.strength ?? .min, $0.name) }
    }
}
