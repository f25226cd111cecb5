import EventLoopKit
import HealthModel
import SystemdKit

/// The services that a session needs from its source.
protocol SessionHost: AnyObject {
    var bus: SystemBus { get }
    var tree: ObjectTree { get }
    var configuration: BlueZConfiguration { get }
    var delegate: (any BlueZSourceDelegate)? { get }
    func requestTurn(_ session: DeviceSession)
    func releaseTurn(_ session: DeviceSession)
    func observed(_ observation: Recovery.Observation, by session: DeviceSession)
    func commit(_ session: DeviceSession)
}

/// One adopted device. It carries out the decisions of its ``ConnectionMachine``.
final class DeviceSession {
    let description: DeviceDescription
    var memory: DeviceMemory
    /// The path of BlueZ's object, while it exists.
    private(set) var path: String?
    var machine: ConnectionMachine
    unowned let host: any SessionHost
    var table = GattTable()
    var pipes: [CharacteristicName: NotificationPipe] = [:]
    var information = DeviceInformation()
    var evidence: ClockEvidence?
    var records: RecordAccess?
    var recordTimer: EventLoop.Timer?
    var conversation: Conversation?
    var pendingCursor: RecordCursor?
    var pendingToken: CommitToken?
    /// The number of links so far. It identifies answers that belong to an earlier link.
    var generation = 0
    /// The timer that reads the services again, shortly after their last change.
    var rearrangement: EventLoop.Timer?
    /// The characteristics that BlueZ removed on this link and has not added again.
    var lost: Set<CharacteristicName> = []
    private var timer: EventLoop.Timer?
    /// The number of frames passed on so far.
    var frames = 0
    /// Frames that arrived before the device had identified itself.
    var bufferedFrames: [BufferedFrame] = []
    var bufferTimer: EventLoop.Timer?
    /// Whether held frames were passed on after the maximum time. Then no more are held on this link.
    var isBufferingDisabled = false
    /// The key under which readings were passed on before the device had identified itself.
    var firstKey: String?
    /// Values that arrived before the services were known.
    var early: [EarlyValue] = []
    var earlyTimer: EventLoop.Timer?
    /// A record outside a collection that waits for its context.
    var loose: LooseRecord?
    var looseTimer: EventLoop.Timer?
    /// Pending reads, and the values that BlueZ signals twice because of them.
    var echoes = ReadEchoes()
    /// The Device Information fields read on this link or an earlier one.
    var reportedServices: Set<BluetoothUUID> = []
    /// The battery level that was last passed on since the link came up, and whether the battery service itself reported it.
    var battery: (level: UInt8, isOfService: Bool, received: Duration)?
    private var lastAdverts: [AdvertisedData: [UInt8]] = [:]
    private var lastManufacturers: [UInt16: [UInt8]] = [:]

    init(_ description: DeviceDescription, memory: DeviceMemory, host: any SessionHost) {
        self.description = description
        self.memory = memory
        self.host = host
        machine = ConnectionMachine(
            description, memory: memory, limits: host.configuration.limits, random: host.configuration.random)
    }

    var loop: EventLoop { host.bus.loop }
    var address: BluetoothAddress { description.address }

    func handle(_ event: ConnectionMachine.Event) {
        let before = machine.state
        let commands = machine.handle(event, at: loop.clock.uptime)
        deliverBufferedIfReady()
        // The level may have been known before the device. It is passed on when the device's key is final.
        if machine.state != before, machine.state == .live { batteryChanged() }
        if machine.state != before, [.waiting, .stopped].contains(machine.state) || machine.isBlocked { endLink() }
        for command in commands { carryOut(command) }
        timer?.cancel()
        timer = machine.deadline.map { deadline in
            loop.after(max(.zero, deadline - loop.clock.uptime)) { [weak self] in self?.handle(.tick) }
        }
    }

    private func carryOut(_ command: ConnectionMachine.Command) {
        switch command {
        case .requestTurn: host.requestTurn(self)
        case .releaseTurn: host.releaseTurn(self)
        case .connect: connect()
        case .disconnect:
            if let path { host.bus.call(.device(path, "Disconnect")) }
        case .perform(let step): perform(step)
        case .notify(let notice):
            host.delegate?.didReceive(SourceNotice(notice.weight, address.description, notice.text(for: address)))
        case .dropCache: dropCache()
        case .observe(let observation): host.observed(observation, by: self)
        }
    }

    private func connect() {
        guard let path else { return handle(.connectFailed(.unknownObject)) }
        // The machine ends the wait, a little later than BlueZ itself should.
        host.bus.call(.device(path, "Connect"), timeout: host.configuration.limits.connect * 2) { [weak self] answer in
            guard let self, let error = answer.failure else { return }
            if error.name == "org.bluez.Error.AlreadyConnected" { return handle(.connected) }
            host.delegate?.didReceive(SourceNotice(.detail, address.description, "connecting failed: \(error.name)"))
            handle(.connectFailed(LinkFailure(error)))
        }
    }

    // MARK: The tree

    /// Called when the device's object exists, or exists again.
    func found(at path: String) {
        self.path = path
        machine.isBonded = isBonded
        handle(.start)
        guard let properties = host.tree[path: path, interface: BlueZ.device] else { return }
        // RSSI exists only if the device was heard during this discovery (org.bluez.Device1, RSSI).
        if properties["RSSI"] != nil { handle(.seen) }
        useLink(properties)
    }

    /// Uses an existing link, even if another program opened it.
    private func useLink(_ properties: ObjectTree.Properties) {
        guard properties["Connected"]?.truth == true else { return }
        handle(.connected)
        if properties["ServicesResolved"]?.truth == true { resolve() }
    }

    /// Whether BlueZ keeps keys for the device. A pairing without stored keys ends with its link.
    private var isBonded: Bool {
        let properties = path.flatMap { host.tree[path: $0, interface: BlueZ.device] } ?? [:]
        return properties["Bonded"]?.truth ?? properties["Paired"]?.truth ?? false
    }

    func bondChanged() {
        guard let path, let properties = host.tree[path: path, interface: BlueZ.device] else { return }
        guard isBonded else { return handle(.unbonded) }
        let waited = machine.isBlocked
        handle(.bonded)
        // The bond was made over this link.
        if waited { useLink(properties) }
    }

    /// Called when the object was removed, possibly with its adapter or the daemon (story 4).
    func didDisappear() {
        path = nil
        handle(.linkLost)
        handle(.stop)
        endLink()
    }

    func changed(_ names: Set<String>) {
        guard let path, let properties = host.tree[path: path, interface: BlueZ.device] else { return }
        if names.contains("RSSI"), properties["RSSI"] != nil { handle(.seen) }
        if !names.isDisjoint(with: ["Bonded", "Paired"]) { bondChanged() }
        if names.contains("Connected") {
            handle(properties["Connected"]?.truth == true ? .connected : .linkLost)
        }
        if names.contains("ServicesResolved"), properties["ServicesResolved"]?.truth == true { servicesChanged() }
        if names.contains("ServiceData") || names.contains("ManufacturerData") { didReceiveAdvertisement() }
    }

    private func endLink() {
        rearrangement?.cancel()
        lost = []
        // The socket may still contain the device's last values, although D-Bus has already reported the end.
        for pipe in pipes.values { pipe.drain() }
        handOnLoose()
        echoes = ReadEchoes()
        isBufferingDisabled = false
        generation += 1
        pipes.removeAll()
        table = GattTable()
        if records != nil { recordEvent(.linkLost) }
        records = nil
        recordTimer?.cancel()
        endConversation()
        pendingToken = nil
        battery = nil
    }

    func characteristicChanged(_ path: String) {
        guard let value = host.tree[path: path, interface: BlueZ.characteristic]?["Value"]?.bytes else { return }
        guard let name = table.names[path] else { return didReceiveEarlyValue(path, value) }
        guard machine.subscribed.contains(name) || isWanted(name) else { return }
        for value in echoes.receive(name, value, at: loop.clock.uptime) { notified(name, value) }
    }

    func isWanted(_ name: CharacteristicName) -> Bool {
        description.allSubscriptions.contains(name) || description.accompaniments.contains(name)
    }

    // MARK: Frames

    /// Handles a notification or an indication.
    /// - Parameter received: the time of receipt, or nil for now.
    func notified(_ name: CharacteristicName, _ value: [UInt8], received: Duration? = nil) {
        if machine.lacksBond { return }
        if description.accompaniments.contains(name) { return deliverAccompaniment(name, value) }
        if joinsLoose(name, value) { return }
        let isRecord = description.recordAccess.map { $0.measurement == name || $0.context == name } ?? false
        if let access = description.recordAccess, name == access.controlPoint {
            recordEvent(.indicated(value))
        } else if isRecord, isCollecting {
            recordEvent(name == description.recordAccess?.measurement ? .measured(value) : .context(value))
        } else if conversation != nil {
            dialogueEvent(.received(name, value))
        } else if name == Self.batteryLevel {
            deliverBatteryLevel(value, isOfService: true)
        } else if !buffersUntilContext(name, value, received) {
            deliver("gatt:\(name.characteristic)", value, received: received)
        }
        // Only notifications that had to be enabled prove that the device accepts the hub, because plain reads need no bond.
        if !memory.hadGoodSession {
            memory.hadGoodSession = true
            host.delegate?.remember(memory, for: address)
        }
        handle(.frame)
    }

    private var isCollecting: Bool {
        if case .working(.collect) = machine.state { return records != nil }
        return false
    }

    /// The device as far as it is known.
    var device: Device {
        if let device = memory.device { return device }
        let properties = path.flatMap { host.tree[path: $0, interface: BlueZ.device] } ?? [:]
        // Incomplete information would give a different key.
        let known = firstKey == nil && isKeyKnown ? information : DeviceInformation()
        var device = known.device(
            name: properties["Name"]?.text, address: address, addressIsDurable: hasDurableAddress, profile: description.profile)
        if let firstKey { device.key = firstKey }
        return device
    }

    /// Whether all fields for the key were read, even if others are missing.
    var isKeyKnown: Bool {
        guard !reportedServices.isEmpty else { return false }
        return DeviceInformation.keyFields.allSatisfy { field in
            reportedServices.contains(field)
                || table.characteristics[CharacteristicName(ConnectionPlan.deviceInformation, field)] == nil
        } && information.hasKey
    }

    var hasDurableAddress: Bool {
        let properties = path.flatMap { host.tree[path: $0, interface: BlueZ.device] } ?? [:]
        return DeviceInformation.isDurable(address, type: properties["AddressType"]?.text, bonded: isBonded)
    }

    /// Handles an advertisement with data. Only a change is an arrival, so data that BlueZ remembers from before is never passed on (story
    /// 13).
    func didReceiveAdvertisement() {
        guard !description.adverts.isEmpty, let path, let properties = host.tree[path: path, interface: BlueZ.device] else {
            return
        }
        let parts = AdvertisedData.all(in: properties)
        for part in description.adverts where part != .anyManufacturer {
            guard let data = parts[part] else { continue }
            // BlueZ reports everything it ever heard with each change. If there are several kinds of data, only changed data was in this
            // advertisement.
            if parts.count > 1, lastAdverts[part] == data { continue }
            lastAdverts[part] = data
            deliver(part.channel, data)
        }
        if description.adverts.contains(.anyManufacturer) { deliverManufacturerData(parts) }
    }

    /// Handles devices that send readings instead of a company's number. BlueZ keeps many old ones. The new one is known from the second
    /// change on, or at once if there is only one.
    private func deliverManufacturerData(_ parts: [AdvertisedData: [UInt8]]) {
        var fresh: [(UInt16, [UInt8])] = []
        for (part, data) in parts {
            guard case .manufacturer(let company) = part, parts.count == 1 || lastManufacturers[company] != data else { continue }
            fresh.append((company, data))
            // More companies than any device was seen to use. A forgotten value is passed on once more.
            if lastManufacturers.count > 1024 { lastManufacturers.removeAll() }
            lastManufacturers[company] = data
        }
        guard fresh.count == 1, let (company, data) = fresh.first else { return }
        deliver(AdvertisedData.anyManufacturer.channel, AdvertisedData.frame(company: company, data))
    }
}
