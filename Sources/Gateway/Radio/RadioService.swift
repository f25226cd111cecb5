import BlueZSource
import EventLoopKit
import HealthModel
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// What the service needs of the source.
public protocol RadioSource: AnyObject {
    /// Reads a device from now on; what was adopted under its address before is replaced.
    func adopt(_ description: DeviceDescription, memory: DeviceMemory)
    /// Stops reading a device. Its bond stays.
    func release(_ address: BluetoothAddress)
    /// What was handed on before the token was given is durable.
    func confirm(_ token: CommitToken)
    /// Whether the device delivers now.
    func isLive(_ address: BluetoothAddress) -> Bool
    /// Why the device does not deliver, in words for a person.
    func waitsFor(_ address: BluetoothAddress) -> String?
    /// Whether there is an adapter to work with.
    var hasAdapter: Bool { get }
    /// Begins to work; called only when there is an adopted device.
    func start()
    /// Leaves all devices.
    func stop()
}

extension RadioSource {
    /// Nothing is known of it.
    public func waitsFor(_ address: BluetoothAddress) -> String? { nil }
}

extension BlueZSource: RadioSource {}

/// The radio as a part of the hub: hands the frames of adopted Bluetooth devices to the live ingest, and what is durable back.
public final class RadioService: HubSource, BlueZSourceDelegate {
    /// `radio`.
    public let name = "radio"
    /// Hears of notices, and of changes to devices.
    public weak var host: (any HubSourceHost)?
    private let live: LiveIngest
    private let source: any RadioSource
    private var known: [BluetoothAddress: Known] = [:]
    private var aliases: [String: String] = [:]
    /// Keys by which several devices go, and those of which a person was told.
    private var shared: Set<String> = []
    private var toldOfShared: Set<String> = []
    private var isStarted = false
    private var isOpen = false

    private struct Known {
        var device: LiveDevice
        /// As the person left it; what the device makes known of itself is no change.
        var adopted: AdoptedDevice
        var description: DeviceDescription
    }

    /// - Parameter source: the Bluetooth source, which has to call this object as its delegate.
    public init(live: LiveIngest, source: any RadioSource) {
        self.live = live
        self.source = source
    }

    /// Whether what is expected of each adopted Bluetooth device is durable.
    public var isDone: Bool { known.values.allSatisfy { live.isComplete($0.device) } }

    /// An adapter, while there are devices to read and none is there: `doctor` finds out why.
    public var waitsFor: String? {
        isOpen && !source.hasAdapter ? "no Bluetooth adapter answers; `vitalgate doctor` finds out why" : nil
    }

    /// Adopted Bluetooth devices by address; their state is `live` or `waiting`.
    public var devices: [HubDevice] {
        known.sorted { $0.key < $1.key }.map {
            HubDevice($1.device, state: source.isLive($0) ? "live" : "waiting", reason: source.waitsFor($0))
        }
    }

    /// Adopts new and changed Bluetooth devices at the source, and releases those that are gone.
    public func apply(_ settings: HubSettings) {
        let assembly = DeviceAssembly(library: settings.library)
        var found: Set<BluetoothAddress> = []
        for adopted in settings.devices where adopted.bluetoothAddress != nil {
            for id in adopted.profiles where settings.library[id] == nil {
                told(
                    .action, adopted.bluetoothAddress ?? "",
                    "there is no profile \(id); `vitalgate profile list` shows those there are")
            }
            guard let description = assembly.description(of: adopted) else { continue }
            found.insert(description.address)
            let profiles = assembly.readers(of: adopted)
            if let old = known[description.address], old.description == description, old.adopted.decisions == adopted.decisions,
                aliases == settings.aliases
            {
                let device = live.move(old.device, to: settings.zone)
                known[description.address]?.device = device
                device.read(by: profiles)
                device.readingsPerSecond = settings.readingsPerSecond
                if device.gathersHeartbeats != settings.gathersHeartbeats {
                    // A recording tells a device's settings once: it is told anew where they change.
                    adopt(adopted, description, profiles, settings)
                }
                continue
            }
            adopt(adopted, description, profiles, settings)
        }
        aliases = settings.aliases
        for (address, gone) in known where !found.contains(address) {
            live.finishStream(of: gone.device)
            known[address] = nil
            source.release(address)
        }
        findShared()
        if isStarted { open() }
        host?.changed(self)
    }

    private func findShared() {
        let keys = Dictionary(grouping: known.values, by: \.device.key)
        shared = Set(keys.filter { $1.count > 1 }.keys).subtracting(toldOfShared)
    }

    /// Cheap devices of one make may all have the same serial number. One that came back under another address has its earlier key, too: but
    /// then the earlier address is not there at the same time.
    private func tellOfSharedKey(_ device: LiveDevice, _ address: BluetoothAddress) {
        let key = device.key
        guard shared.contains(key),
            let other = known.first(where: { $0.value.device !== device && $0.value.device.key == key && source.isLive($0.key) })
        else { return }
        shared.remove(key)
        toldOfShared.insert(key)
        told(
            .action, "\(address)",
            "it says the same of itself as \(other.key), and both are here: their readings go by one key, as of one device; "
                + "`vitalgate devices part \(address)` tells them apart from now on")
    }

    private func adopt(
        _ adopted: AdoptedDevice, _ description: DeviceDescription, _ profiles: [Profile], _ settings: HubSettings
    ) {
        var adopted = adopted
        if let old = known[description.address] {
            live.finishStream(of: old.device)
            // What was counted last may not be durable yet.
            if old.adopted.adopted == adopted.adopted {
                adopted.counter = [adopted.counter, old.device.adopted.counter].compactMap(\.self).max()
            }
        }
        let device = LiveDevice(adopted, profiles: profiles, aliases: settings.aliases, zone: settings.zone)
        device.readingsPerSecond = settings.readingsPerSecond
        device.gathersHeartbeats = settings.gathersHeartbeats
        device.expectedInterval = description.expectedInterval
        device.hasRecords = description.recordAccess != nil || description.dialogue?.tellsRecords == true
        live.recallClock(of: device)
        known[description.address] = Known(device: device, adopted: adopted, description: description)
        source.adopt(description, memory: adopted.memory)
    }

    /// Starts the source once there is an adopted device; it never throws.
    public func start() throws(SourceError) {
        isStarted = true
        open()
    }

    /// Without a device there is nothing to connect to the bus for.
    private func open() {
        guard !isOpen, !known.isEmpty else { return }
        isOpen = true
        source.start()
    }

    /// Stops the source, and settles what was held back of each device.
    public func stop() {
        isStarted = false
        if isOpen { source.stop() }
        isOpen = false
        for each in known.values { live.finishStream(of: each.device) }
    }

    // MARK: What the source says

    /// Hands a frame to the ingest; one of a device that is not adopted is dropped.
    public func received(_ frame: RawFrame, of address: BluetoothAddress) {
        guard let device = known[address]?.device else { return }
        live.receive(frame, of: device)
        if !shared.isEmpty { tellOfSharedKey(device, address) }
        host?.changed(self)
    }

    /// Keeps what is known of the device, commits, and confirms the token when that is durable.
    public func commit(_ token: CommitToken, memory: DeviceMemory) {
        guard let device = known[token.address]?.device else { return }
        if device.adopted.learn(memory) {
            live.remember(device.adopted)
            findShared()
        }
        live.commit(device) { [weak self] in self?.source.confirm(token) }
    }

    /// Keeps what is new about a device with the next commit.
    public func remember(_ memory: DeviceMemory, for address: BluetoothAddress) {
        guard let device = known[address]?.device, device.adopted.learn(memory) else { return }
        live.remember(device.adopted)
        findShared()
    }

    /// Compares the device's clock with the hub's; its times are corrected where it is off.
    public func learned(_ evidence: ClockEvidence, for address: BluetoothAddress) {
        guard let device = known[address]?.device else { return }
        live.learn(
            ahead: evidence.ahead, ofUTC: evidence.shown.microseconds &- evidence.received.microseconds, of: device)
    }

    /// Hands the notice to the hub, and says that something changed.
    public func told(_ notice: SourceNotice) {
        host?.told(notice)
        host?.changed(self)
    }

    private func told(_ weight: SourceNotice.Weight, _ subject: String, _ text: String) {
        told(SourceNotice(weight, subject, text))
    }
}

extension AdoptedDevice {
    /// What a person decided, without what the device makes known of itself.
    var decisions: AdoptedDevice {
        var decisions = AdoptedDevice(
            address: address, key: "", profiles: profiles, name: name, subject: subject, adopted: adopted)
        decisions.bindKey = bindKey
        decisions.ownKey = ownKey
        decisions.sharedBy = sharedBy
        decisions.users = users
        return decisions
    }
}
