import BlueZSource
import EventLoopKit
import HealthModel
import HomeAssistantSource
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// The source's interface for the service.
package protocol RadioSource: AnyObject {
    /// Reads a device from now on. It replaces the device adopted under the same address.
    func adopt(_ description: DeviceDescription, memory: DeviceMemory)
    /// Stops reading a device. Its bond stays.
    func release(_ address: BluetoothAddress)
    /// Confirms that everything passed on before the token is durable.
    func confirm(_ token: CommitToken)
    /// Whether the device is delivering.
    func isLive(_ address: BluetoothAddress) -> Bool
    /// Returns the reason why the device does not deliver, for the user.
    func waitsFor(_ address: BluetoothAddress) -> String?
    /// Returns the strength at which the device was heard last in dBm, or `nil` if it is unknown.
    func strength(of address: BluetoothAddress) -> Int?
    var hasAdapter: Bool { get }
    /// Starts the source. Called only if there is an adopted device.
    func start()
    func stop()
}

extension RadioSource {
    /// `nil` by default.
    package func waitsFor(_ address: BluetoothAddress) -> String? { nil }
    /// `nil` by default.
    package func strength(of address: BluetoothAddress) -> Int? { nil }
}

extension BlueZSource: RadioSource {}

/// The radio as a source of the hub. It passes the frames of adopted Bluetooth devices to the live ingest, and its confirmations
/// back.
package final class RadioService: HubSource, BlueZSourceDelegate {
    /// `radio`.
    package let name = "radio"
    /// Receives notices and changes of devices.
    package weak var host: (any HubSourceHost)?
    private let live: LiveIngest
    private let source: any RadioSource
    private var known: [BluetoothAddress: Known] = [:]
    private var aliases: [String: String] = [:]
    /// Keys that several devices share, and those that were reported.
    private var shared: Set<String> = []
    private var reportedSharedKeys: Set<String> = []
    private var isStarted = false
    private var isOpen = false
    private var receptions: [BluetoothAddress: Receptions] = [:]
    /// Whether other receivers listen for the hub.
    package var hasReceivers = false

    private struct Known {
        var device: LiveDevice
        /// The device as the user configured it. New facts from the device are not a change.
        var adopted: AdoptedDevice
        var description: DeviceDescription
    }

    /// - Parameter source: the Bluetooth source, whose delegate must be this object.
    package init(live: LiveIngest, source: any RadioSource) {
        self.live = live
        self.source = source
    }

    /// Whether the expected readings of each adopted Bluetooth device are durable.
    package var isDone: Bool { known.values.allSatisfy { live.isComplete($0.device) } }

    /// A text if there are devices to read but no adapter. `doctor` finds the cause. Devices that only advertise can be read by other
    /// receivers.
    package var waitsFor: String? {
        guard isOpen, !source.hasAdapter else { return nil }
        if hasReceivers, known.values.allSatisfy({ $0.description.presence == .adverts }) { return nil }
        return "no Bluetooth adapter responds: run `vitalgate doctor`"
    }

    /// Adopted Bluetooth devices by address. Their state is `live` or `waiting`.
    package var devices: [HubDevice] {
        known.sorted { $0.key < $1.key }.map {
            let received = receptions[$0] ?? Receptions()
            let isLive = source.isLive($0) || received.isReceivedByOthers(at: live.loop.clock.now)
            return HubDevice(
                $1.device, state: isLive ? "live" : "waiting", reason: isLive ? nil : source.waitsFor($0),
                receptions: received.best)
        }
    }

    /// Adopts new and changed Bluetooth devices at the source, and releases removed ones.
    package func apply(_ settings: HubSettings) {
        let assembly = DeviceAssembly(library: settings.library)
        var found: Set<BluetoothAddress> = []
        for adopted in settings.devices where adopted.bluetoothAddress != nil {
            for id in adopted.profiles where settings.library[id] == nil {
                notify(
                    .action, adopted.bluetoothAddress ?? "",
                    "there is no profile \(id): run `vitalgate profile list` for a list")
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
                    // A recording contains a device's settings once, so they are repeated after a change.
                    adopt(adopted, description, profiles, settings)
                }
                continue
            }
            adopt(adopted, description, profiles, settings)
        }
        aliases = settings.aliases
        for (address, deleted) in known where !found.contains(address) {
            live.finishStream(of: deleted.device)
            known[address] = nil
            receptions[address] = nil
            source.release(address)
        }
        findShared()
        if isStarted { open() }
        host?.changed(self)
    }

    private func findShared() {
        let keys = Dictionary(grouping: known.values, by: \.device.key)
        shared = Set(keys.filter { $1.count > 1 }.keys).subtracting(reportedSharedKeys)
    }

    /// Reports a key shared by several devices because cheap devices may all have the same serial number. A device with a new
    /// address also has its old key, but the old address is then not in range.
    private func reportSharedKey(_ device: LiveDevice, _ address: BluetoothAddress) {
        let key = device.key
        guard shared.contains(key),
            let other = known.first(where: { $0.value.device !== device && $0.value.device.key == key && source.isLive($0.key) })
        else { return }
        shared.remove(key)
        reportedSharedKeys.insert(key)
        notify(
            .action, "\(address)",
            "another device in range reports the same identity (\(other.key)), so their readings are stored as one device: "
                + "run `vitalgate devices part \(address)` to separate them")
    }

    private func adopt(
        _ adopted: AdoptedDevice, _ description: DeviceDescription, _ profiles: [Profile], _ settings: HubSettings
    ) {
        var adopted = adopted
        if let old = known[description.address] {
            live.finishStream(of: old.device)
            // The last counter may not be durable yet.
            if old.adopted.adopted == adopted.adopted {
                adopted.counter = [adopted.counter, old.device.adopted.counter].compactMap(\.self).max()
            }
        }
        let device = LiveDevice(adopted, profiles: profiles, aliases: settings.aliases, zone: settings.zone)
        device.readingsPerSecond = settings.readingsPerSecond
        device.gathersHeartbeats = settings.gathersHeartbeats
        device.expectedInterval = description.expectedInterval
        device.hasRecords = description.recordAccess != nil || description.dialogue?.reportsRecordsWithClock == true
        live.recallClock(of: device)
        known[description.address] = Known(device: device, adopted: adopted, description: description)
        source.adopt(description, memory: adopted.memory)
    }

    /// Starts the source if there is an adopted device. It never throws.
    package func start() throws(SourceError) {
        isStarted = true
        open()
    }

    /// Without a device there is no need to connect to the bus.
    private func open() {
        guard !isOpen, !known.isEmpty else { return }
        isOpen = true
        source.start()
    }

    /// Stops the source and settles the held readings of each device.
    package func stop() {
        isStarted = false
        if isOpen { source.stop() }
        isOpen = false
        for each in known.values { live.finishStream(of: each.device) }
    }

    // MARK: Events of the source

    /// Passes a frame to the ingest. Frames of unknown devices are dropped.
    package func received(_ frame: RawFrame, of address: BluetoothAddress) {
        guard let device = known[address]?.device else { return }
        if frame.hearing == nil, frame.channel.hasPrefix("advert:") {
            receptions[address, default: Receptions()].note(name, source.strength(of: address), at: frame.received)
        }
        live.receive(frame, of: device)
        if !shared.isEmpty { reportSharedKey(device, address) }
        host?.changed(self)
    }

    /// Passes on an advertisement that another receiver heard, as if the hub had heard it. Those of unknown devices are dropped.
    ///
    /// - Parameter receivers: the name of the receivers that it comes from, such as that of a Home Assistant.
    package func received(_ advert: HomeAssistantAdvert, from receivers: String) {
        guard let known = known[advert.address] else { return }
        let clock = live.loop.clock
        let arrived = clock.now.moved(by: advert.arrived - clock.uptime)
        let receivedAt = arrived.moved(by: .zero - advert.age)
        let device =
            known.device.sender
            ?? DeviceInformation().device(
                name: advert.name, address: advert.address, addressIsDurable: true, profile: known.description.profile)
        var receptions = receptions[advert.address] ?? Receptions()
        if advert.replay == nil { receptions.note("\(receivers): \(advert.radioName)", advert.strength, at: receivedAt) }
        for part in known.description.adverts {
            for bytes in part.frames(in: advert.parts) {
                receptions.frames += 1
                bytes.withUnsafeBytes { raw in
                    var frame = RawFrame(
                        payload: .bytes(raw), place: Place(.record, receptions.frames), received: receivedAt,
                        channel: part.channel,
                        device: device)
                    frame.hearing = Hearing(receiver: "\(receivers) \(advert.radio)", arrived: arrived, replay: advert.replay)
                    received(frame, of: advert.address)
                }
            }
        }
        self.receptions[advert.address] = receptions
    }

    /// Stores the facts about the device, commits, and confirms the token when that is durable.
    package func commit(_ token: CommitToken, memory: DeviceMemory) {
        guard let device = known[token.address]?.device else { return }
        if device.adopted.learn(memory) {
            live.remember(device.adopted)
            findShared()
        }
        live.commit(device) { [weak self] in self?.source.confirm(token) }
    }

    /// Stores new facts about a device with the next commit.
    package func remember(_ memory: DeviceMemory, for address: BluetoothAddress) {
        guard let device = known[address]?.device, device.adopted.learn(memory) else { return }
        live.remember(device.adopted)
        findShared()
    }

    /// Passes on a comparison of the device's clock. Its times are corrected if it is off.
    package func learned(_ evidence: ClockEvidence, for address: BluetoothAddress) {
        guard let device = known[address]?.device else { return }
        live.learn(
            ahead: evidence.ahead, ofUTC: evidence.shown.microseconds &- evidence.received.microseconds, of: device)
    }

    /// Passes the notice to the hub and reports a change.
    package func didReceive(_ notice: SourceNotice) {
        host?.didReceive(notice)
        host?.changed(self)
    }

    private func notify(_ weight: SourceNotice.Weight, _ component: String, _ text: String) {
        didReceive(SourceNotice(weight, component, text))
    }
}

extension AdoptedDevice {
    /// The user's settings, without facts from the device.
    var decisions: AdoptedDevice {
        var decisions = AdoptedDevice(
            address: address, key: "", profiles: profiles, name: name, person: person, adopted: adopted)
        decisions.bindKey = bindKey
        decisions.ownKey = ownKey
        decisions.sharedBy = sharedBy
        decisions.users = users
        return decisions
    }
}
