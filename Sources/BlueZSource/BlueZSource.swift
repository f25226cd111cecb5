import EventLoopKit
import HealthModel
import Pipeline
import SystemdKit

package struct BlueZConfiguration {
    /// The addresses of the adapters to use. Empty means all.
    package var adapters: Set<BluetoothAddress> = []
    /// Whether an adapter that is off is switched on.
    package var powersAdapters = true
    /// Returns the local time at an instant, for devices with a clock.
    package var wallTime: (Instant) -> WallTime
    /// Returns a random number from 0 up to 1, for the jitter of back-offs.
    package var random: () -> Double
    var limits = ConnectionLimits()

    /// - Parameters:
    ///   - wallTime: returns the local time at an instant.
    ///   - random: returns a number from 0 up to 1, once for each back-off.
    package init(wallTime: @escaping (Instant) -> WallTime, random: @escaping () -> Double) {
        self.wallTime = wallTime
        self.random = random
    }
}

/// Bluetooth LE through BlueZ. The source passes on the frames of adopted devices only. It handles services and bytes, not their meaning.
///
///     let loop = EventLoop(clock: clock)
///     let source = BlueZSource(bus: SystemBus(loop: loop), configuration: configuration)
///     source.delegate = gateway
///     source.adopt(strap, memory: memory)
///     source.start()
///     loop.run()
///
/// Everything runs on the loop's thread, and nothing blocks it.
package final class BlueZSource: SessionHost {
    /// The receiver of frames and notices, such as the hub. The reference is weak.
    package weak var delegate: (any BlueZSourceDelegate)?
    /// The connection to D-Bus that the whole source uses.
    package let bus: SystemBus
    let configuration: BlueZConfiguration
    let tree: ObjectTree
    private(set) var sessions: [BluetoothAddress: DeviceSession] = [:]
    private(set) var adapters: [String: AdapterController] = [:]
    private var paths: [String: DeviceSession] = [:]
    private var tokens = 0
    private var scans = 0
    private var didReportRefusal = false
    private var didReportLoss = false
    private var didReportTooManyDevices = false
    private var isStopping = false
    var scanned: Set<String> = []
    let agent: PairingAgent
    /// The dialogue that asks the user during pairing, to be set before ``start()``. The reference is weak.
    package var dialogue: (any PairingDialogue)? {
        get { agent.dialogue }
        set { agent.dialogue = newValue }
    }

    /// Creates a source that does nothing before ``start()``.
    ///
    /// - Parameter bus: a bus that is not open yet. The source opens and closes it.
    package init(bus: SystemBus, configuration: BlueZConfiguration) {
        self.bus = bus
        self.configuration = configuration
        tree = ObjectTree(bus: bus)
        agent = PairingAgent(bus: bus) { [tree] in tree.owner }
        tree.onChange = { [weak self] in self?.changed($0) }
        tree.rank = { [weak self] in self?.rank(of: $0) }
    }

    /// Opens the bus and waits for BlueZ. If the bus or the daemon goes away, waits for it again.
    package func start() {
        bus.onConnected = { [weak self] in
            self?.didReportLoss = false
            self?.tree.start()
        }
        bus.onLost = { [weak self] error in
            guard let self else { return }
            tree.stop()
            guard !didReportLoss else { return }
            didReportLoss = true
            notify(.warning, "D-Bus", "\(error.name), reconnecting")
        }
        bus.open()
    }

    /// Leaves all devices and closes the connection to the bus.
    package func stop() {
        isStopping = true
        defer { isStopping = false }
        for session in sessions.values { end(session) }
        for adapter in adapters.values { adapter.want(nil) }
        tree.stop()
        bus.close()
    }

    // MARK: Devices

    /// Reads a device from now on. It replaces the device that was adopted under its address before.
    package func adopt(_ description: DeviceDescription, memory: DeviceMemory) {
        release(description.address)
        let session = DeviceSession(description, memory: memory, host: self)
        sessions[description.address] = session
        for path in devicePaths { attach(path) }
        // The device was not adopted until now, so it or its services may have been omitted from the tree.
        if tree.isFull { tree.fill() } else if let path = session.path { tree.updateRank(path) }
        updateDiscovery()
    }

    /// Stops reading a device. Its bond stays.
    package func release(_ address: BluetoothAddress) {
        guard let session = sessions.removeValue(forKey: address) else { return }
        end(session)
        paths = paths.filter { $0.value !== session }
        updateDiscovery()
    }

    private func end(_ session: DeviceSession) {
        session.handle(.stop)
        // The device will not identify itself or list its characteristics any more.
        session.handOnEarly(isKnown: false)
        session.deliverBuffered()
    }

    /// Confirms that everything passed on before the token was created is durable.
    package func confirm(_ token: CommitToken) {
        guard let session = sessions[token.address], session.pendingToken == token else { return }
        session.committed()
    }

    /// Whether the device delivers now.
    package func isLive(_ address: BluetoothAddress) -> Bool { sessions[address]?.machine.state == .live }

    /// Returns the reason why the device does not deliver, for users. It is nil if the device delivers or only advertises.
    package func waitsFor(_ address: BluetoothAddress) -> String? {
        guard let session = sessions[address] else { return nil }
        if adapters.isEmpty { return "a Bluetooth adapter" }
        return session.machine.waitsFor(address)
    }

    /// Returns the strength at which the device was heard last in dBm, or nil if it is unknown (org.bluez.Device1, RSSI).
    package func strength(of address: BluetoothAddress) -> Int? {
        sessions[address]?.path.flatMap { tree[path: $0, interface: BlueZ.device]?["RSSI"]?.integer }.map { Int($0) }
    }

    package var hasAdapter: Bool { !adapters.isEmpty }

    // MARK: What sessions ask for

    func requestTurn(_ session: DeviceSession) { adapter(of: session)?.requestTurn(session) }
    func releaseTurn(_ session: DeviceSession) { for adapter in adapters.values { adapter.releaseTurn(session) } }

    func observed(_ observation: Recovery.Observation, by session: DeviceSession) {
        adapter(of: session)?.observed(observation, about: session.address.description)
    }

    func commit(_ session: DeviceSession) {
        tokens += 1
        let token = CommitToken(address: session.address, number: tokens)
        session.pendingToken = token
        var memory = session.memory
        memory.records = session.pendingCursor
        delegate?.commit(token, memory: memory)
    }

    private func adapter(of session: DeviceSession) -> AdapterController? {
        session.path.flatMap { tree[path: $0, interface: BlueZ.device]?["Adapter"]?.text }.flatMap { adapters[$0] }
    }

    func notify(_ weight: SourceNotice.Weight, _ component: String, _ text: String) {
        delegate?.didReceive(SourceNotice(weight, component, text))
    }

    // MARK: The tree

    private var devicePaths: [String] { tree.objects.compactMap { $0.value[BlueZ.device] == nil ? nil : $0.key } }

    private func changed(_ change: ObjectTree.Change) {
        switch change {
        case .filled:
            didReportRefusal = false
            for (path, interfaces) in tree.objects where interfaces[BlueZ.adapter] != nil { addAdapter(path) }
            for path in devicePaths { attach(path) }
            updateDiscovery()
            agent.register()
        case .emptied:
            if !isStopping { notify(.warning, "bluetoothd", "bluetoothd stopped, waiting for it to come back") }
            for session in paths.values { session.didDisappear() }
            paths.removeAll()
            for adapter in adapters.values { adapter.stop() }
            adapters.removeAll()
        case .refused(let error):
            guard !didReportRefusal else { return }
            didReportRefusal = true
            let denied = LinkFailure(error) == .accessDenied
            notify(
                denied ? .action : .warning, denied ? "D-Bus" : "bluetoothd",
                denied
                    ? ConnectionNotice.accessDeniedText
                    : "it does not respond (\(error.name)): run `systemctl status bluetooth` and `vitalgate doctor`")
        case .full:
            guard !didReportTooManyDevices else { return }
            didReportTooManyDevices = true
            notify(
                .warning, "bluetoothd",
                "it reports too many devices, or too many attributes of one device: devices that are not adopted are ignored first"
            )
        case .added(let path, let interface): added(path, interface)
        case .removed(let path, let interface): removed(path, interface)
        case .changed(let path, let interface, let names): propertiesChanged(path, interface, names)
        }
    }

    private func added(_ path: String, _ interface: String) {
        switch interface {
        case BlueZ.adapter:
            addAdapter(path)
            updateDiscovery()
        case BlueZ.device:
            // Phones with changing addresses pass by all day, so heard devices are kept only during a scan.
            if scans > 0 { scanned.insert(path) }
            attach(path)
            paths[path]?.didReceiveAdvertisement()
        case BlueZ.characteristic, BlueZ.gattService: session(above: path)?.characteristicAdded()
        case BlueZ.battery: paths[path]?.batteryChanged()
        default: break
        }
    }

    /// Returns the session of the device that a service or characteristic belongs to: `…/dev_XX_XX_XX_XX_XX_XX/serviceNNNN/charNNNN`.
    private func session(above path: String) -> DeviceSession? {
        path.firstRange(of: "/service").flatMap { paths[String(path[..<$0.lowerBound])] }
    }

    private func removed(_ path: String, _ interface: String) {
        switch interface {
        case BlueZ.adapter:
            notify(.warning, path, "the adapter was removed, and its devices wait for it")
            adapters.removeValue(forKey: path)?.stop()
        case BlueZ.device:
            scanned.remove(path)
            guard let session = paths.removeValue(forKey: path) else { return }
            session.didDisappear()
            // Only discovery can find it again.
            updateDiscovery()
        case BlueZ.characteristic: session(above: path)?.characteristicRemoved(path)
        default: break
        }
    }

    private func propertiesChanged(_ path: String, _ interface: String, _ names: Set<String>) {
        switch interface {
        case BlueZ.characteristic where names.contains("Value"):
            // …/dev_XX_XX_XX_XX_XX_XX/serviceNNNN/charNNNN
            guard let service = path.lastIndex(of: "/"), let device = path[..<service].lastIndex(of: "/") else { return }
            paths[String(path[..<device])]?.characteristicChanged(path)
        case BlueZ.device:
            // Phones with changing addresses pass by all day, so heard devices are kept only during a scan.
            if scans > 0 { scanned.insert(path) }
            paths[path]?.changed(names)
            if names.contains("Connected") { updateDiscovery() }
        case BlueZ.battery: paths[path]?.batteryChanged()
        case BlueZ.adapter: adapters[path]?.changed(names)
        default: break
        }
    }

    private func addAdapter(_ path: String) {
        guard adapters[path] == nil else { return }
        if !configuration.adapters.isEmpty {
            guard let address = tree[path: path, interface: BlueZ.adapter]?["Address"]?.text.flatMap({ BluetoothAddress($0) }),
                configuration.adapters.contains(address)
            else { return }
        }
        let adapter = AdapterController(path: path, source: self)
        adapters[path] = adapter
        adapter.start()
    }

    /// Only adopted devices have a session. Advertisements of other devices go no further than here (DESIGN, promise 9).
    private func attach(_ path: String) {
        guard paths[path] == nil, let properties = tree[path: path, interface: BlueZ.device],
            let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }), let session = sessions[address],
            session.path == nil, let adapter = properties["Adapter"]?.text, adapters[adapter] != nil
        else { return }
        if let chosen = session.description.adapter,
            tree[path: adapter, interface: BlueZ.adapter]?["Address"]?.text != chosen.description
        {
            return
        }
        paths[path] = session
        session.found(at: path)
    }

    // MARK: Discovery

    func beginScan() {
        scans += 1
        scanned.removeAll()
        updateDiscovery()
    }

    func endScan() {
        scans -= 1
        updateDiscovery()
    }

    func updateDiscovery() {
        let filter = self.filter()
        for adapter in adapters.values { adapter.want(filter) }
    }

    /// Returns the discovery filter, or nil if no device is missing and no device sends by advertisements. Discovery is filtered by service
    /// only if all missing devices advertise one.
    func filter() -> DiscoveryFilter? {
        var filter = DiscoveryFilter()
        if scans > 0 { return filter }
        let missing = sessions.values.filter { session in
            if !session.description.adverts.isEmpty { return true }
            guard let path = session.path else { return true }
            return tree[path: path, interface: BlueZ.device]?["Connected"]?.truth != true && !session.machine.isBlocked
        }
        if missing.isEmpty { return nil }
        filter.duplicates = missing.contains { !$0.description.adverts.isEmpty }
        // BlueZ compares only the list of services, so a device that only advertises service data would be filtered out.
        let isFiltered = missing.allSatisfy { !$0.description.services.isEmpty && $0.description.adverts.isEmpty }
        if isFiltered { filter.services = Set(missing.flatMap(\.description.services)).sorted() }
        return filter
    }
}
