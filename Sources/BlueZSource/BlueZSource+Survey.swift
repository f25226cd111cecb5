import SystemdKit

/// The result of listening to one device without adopting it: its advertisements, its characteristics, and its notifications.
package struct DeviceSurvey: Sendable {
    package struct Frame: Hashable, Sendable {
        /// The time since the survey began.
        package var after: Duration
        /// The channel: `advert:FCD2`, `gatt:2A37`, or a UUID instead of the four digits.
        package var channel: String
        package var bytes: [UInt8]

        package init(after: Duration, channel: String, bytes: [UInt8]) {
            (self.after, self.channel, self.bytes) = (after, channel, bytes)
        }
    }

    package struct Characteristic: Hashable, Sendable {
        package var service: BluetoothUUID
        package var uuid: BluetoothUUID
        /// Its operations, in BlueZ's words, such as `notify`.
        package var flags: [String]
    }

    package internal(set) var name: String?
    /// The services that it advertises or offers.
    package internal(set) var services: [BluetoothUUID] = []
    /// Its characteristics, or empty if it was not connected.
    package internal(set) var characteristics: [Characteristic] = []
    /// The frames in the order in which they arrived.
    package internal(set) var frames: [Frame] = []
    /// The reason why it could not be connected.
    package internal(set) var failure: BusError?

    /// Creates an empty result.
    package init() {}

    /// The maximum number of frames. Even a device that sends a hundred times a second is known after that.
    static let maximum = 4096
}

extension BlueZSource {
    /// Listens to one device, adopted or not. The only writes are those that enable notifications.
    ///
    /// - Parameters:
    ///   - duration: the time to listen to advertisements, and again to notifications if the device is connected.
    ///   - connects: whether to connect. The device must be in range and must not be adopted.
    ///   - completion: receives the result, or nil if the device was not heard.
    package func survey(
        _ address: BluetoothAddress, for duration: Duration, connects: Bool, completion: @escaping (DeviceSurvey?) -> Void
    ) {
        let survey = SurveyRun(self, address, duration, connects: connects, completion)
        beginScan()
        survey.listen()
    }
}

/// One survey. Its pending callbacks keep it alive.
private final class SurveyRun {
    private let source: BlueZSource
    private let address: BluetoothAddress
    private let duration: Duration
    private let connects: Bool
    private let completion: (DeviceSurvey?) -> Void
    private let begun: Duration
    private var survey = DeviceSurvey()
    private var wasReceived = false
    private var last: [AdvertisedData: [UInt8]] = [:]
    private var subscriptions: [BusSubscription] = []

    private static let look = Duration.milliseconds(100)
    /// BlueZ gives up earlier by itself. Reading a table of services takes seconds.
    private static let connecting = Duration.seconds(40)
    private static let resolving = Duration.seconds(30)

    init(
        _ source: BlueZSource, _ address: BluetoothAddress, _ duration: Duration, connects: Bool,
        _ completion: @escaping (DeviceSurvey?) -> Void
    ) {
        (self.source, self.address, self.duration, self.connects, self.completion) = (
            source, address, duration, connects, completion
        )
        begun = source.bus.loop.clock.uptime
    }

    private var elapsed: Duration { source.bus.loop.clock.uptime - begun }

    // MARK: Advertisements

    func listen() {
        if let device = source.nearby.first(where: { $0.address == address }) {
            wasReceived = true
            survey.name = device.name ?? survey.name
            note(device.services)
            for (kind, bytes) in device.data.sorted(by: { "\($0.key)" < "\($1.key)" })
            where kind != .anyManufacturer && last[kind] != bytes {
                last[kind] = bytes
                add(kind.channel, bytes)
            }
        }
        guard elapsed < duration else { return didFinishScan() }
        source.bus.loop.after(Self.look) { [self] in listen() }
    }

    private func didFinishScan() {
        source.endScan()
        guard wasReceived else { return completion(nil) }
        guard connects, let path = source.path(of: address) else { return completion(survey) }
        source.bus.call(.device(path, "Connect"), timeout: Self.connecting) { [self] answer in
            if let error = answer.failure { return finish(path, because: error) }
            resolve(path, until: elapsed + Self.resolving)
        }
    }

    // MARK: Its services

    private func resolve(_ path: String, until end: Duration) {
        guard source.tree[path: path, interface: BlueZ.device]?["ServicesResolved"]?.truth != true else { return subscribe(path) }
        guard elapsed < end else {
            return finish(path, because: BusError("org.bluez.Error.Failed", "it did not report its services"))
        }
        source.bus.loop.after(Self.look) { [self] in resolve(path, until: end) }
    }

    private func subscribe(_ path: String) {
        let table = GattTable(of: path, in: source.tree)
        let sorted = table.characteristics.sorted { $0.value.path < $1.value.path }
        survey.characteristics = sorted.map {
            DeviceSurvey.Characteristic(service: $0.key.service, uuid: $0.key.characteristic, flags: $0.value.flags.sorted())
        }
        note(sorted.map(\.key.service))
        for (name, characteristic) in sorted where !characteristic.flags.isDisjoint(with: ["notify", "indicate"]) {
            let rule =
                "type='signal',sender='\(BlueZ.service)',path='\(characteristic.path)',interface='org.freedesktop.DBus.Properties',"
                + "member='PropertiesChanged'"
            let channel = "gatt:\(name.characteristic)"
            let subscription = source.bus.subscribe(rule) { [weak self] signal in
                guard let self, signal.arguments.count >= 2,
                    let bytes = signal.arguments[1].members["Value"]?.bytes
                else { return }
                add(channel, bytes)
            }
            if let subscription { subscriptions.append(subscription) }
            // A characteristic that needs a bond refuses, and the others continue.
            source.bus.call(.characteristic(characteristic.path, "StartNotify"), timeout: .seconds(10)) { _ in }
        }
        source.bus.loop.after(duration) { [self] in finish(path, because: nil) }
    }

    private func finish(_ path: String, because error: BusError?) {
        survey.failure = error
        subscriptions.removeAll()
        source.bus.call(.device(path, "Disconnect"), timeout: .seconds(10)) { [self] _ in completion(survey) }
    }

    private func note(_ services: [BluetoothUUID]) {
        for service in services where !survey.services.contains(service) { survey.services.append(service) }
    }

    private func add(_ channel: String, _ bytes: [UInt8]) {
        guard survey.frames.count < DeviceSurvey.maximum else { return }
        survey.frames.append(DeviceSurvey.Frame(after: elapsed, channel: channel, bytes: bytes))
    }
}
