import EventLoopKit
import HealthModel
import Ingestion
import Pipeline
import Profiles
import SampleStore

/// Simulated sensors as a source of the hub, to try it without devices. Their frames take the usual path. Device, manufacturer
/// and source mark the readings as simulated, and only a demo store accepts them.
package final class SimulatedSensors: HubSource {
    /// `simulation`.
    package let name = "simulation"
    /// Receives changes of devices.
    package weak var host: (any HubSourceHost)?
    private let live: LiveIngest
    private var running: [Running] = []
    private var isStarted = false

    private final class Running {
        let sensor: SimulatedSensor
        let device: LiveDevice
        var turn = 0
        var timer: EventLoop.Timer?

        init(_ sensor: SimulatedSensor, _ device: LiveDevice) {
            self.sensor = sensor
            self.device = device
        }
    }

    /// - Throws: ``StoreError`` of the kind `invalid` if it is not a demo store.
    package init(live: LiveIngest) throws(StoreError) {
        guard live.store.isDemo else { throw StoreError(.invalid, "\(live.store.path) is not a demo store") }
        self.live = live
    }

    /// Adopts the sensors, so that they are listed and read like other devices.
    package static func adopt(in store: SampleStore, at time: Instant) throws {
        let known = Set(try store.devices.adopted().map(\.address))
        for sensor in SimulatedSensor.all {
            let device = sensor.adopted(person: store.owner, at: time)
            if !known.contains(device.address) { try store.devices.save(device) }
        }
    }

    /// Whether the expected readings of each simulated sensor are durable.
    package var isDone: Bool { running.allSatisfy { live.isComplete($0.device) } }

    /// The adopted simulated sensors. Their state is `live` or `stopped`.
    package var devices: [HubDevice] { running.map { HubDevice($0.device, state: $0.timer == nil ? "stopped" : "live") } }

    /// Creates the adopted sensors again. They start with their first frame.
    package func apply(_ settings: HubSettings) {
        end()
        running = SimulatedSensor.all.compactMap { sensor in
            let address = AdoptedDevice.simulated + sensor.id
            guard let adopted = settings.devices.first(where: { $0.address == address }) else { return nil }
            let profiles = adopted.profiles.compactMap { settings.library[$0]?.simulated }
            let device = LiveDevice(adopted, profiles: profiles, aliases: settings.aliases, zone: settings.zone)
            device.expectedInterval = .seconds(sensor.interval.components.seconds)
            return Running(sensor, device)
        }
        if isStarted { begin() }
        host?.changed(self)
    }

    /// Starts the sensors. Each sends at once and then at its own interval. It never throws.
    package func start() throws(SourceError) {
        isStarted = true
        begin()
    }

    /// Stops sending and settles the held readings.
    package func stop() {
        isStarted = false
        end()
    }

    private func begin() { for each in running { send(each) } }

    private func end() {
        for each in running {
            each.timer?.cancel()
            each.timer = nil
            live.finishStream(of: each.device)
        }
    }

    private func send(_ each: Running) {
        for frame in each.sensor.frames(each.turn) {
            frame.bytes.withUnsafeBytes { bytes in
                live.receive(
                    RawFrame(
                        payload: .bytes(bytes), place: Place(.record, each.turn + 1), received: live.loop.clock.now,
                        channel: frame.channel, device: each.sensor.device),
                    of: each.device)
            }
        }
        each.turn += 1
        each.timer = live.loop.after(each.sensor.interval) { [weak self, weak each] in
            guard let self, let each else { return }
            send(each)
        }
        host?.changed(self)
    }
}
