import Glibc
import HealthModel
import Ingestion
import SampleStore

extension HubStatus {
    /// Creates the status of a running hub.
    ///
    /// - Parameter started: the uptime at its start.
    init(of hub: Hub, started: Duration) {
        let (live, clock) = (hub.live, hub.live.loop.clock)
        let (now, uptime) = (clock.now, clock.uptime)
        self.init(time: now, store: Store(path: live.store.path, bytes: 0), zone: live.zone, live.store)
        store.failure = live.failure.map { Self.cut("\($0)", to: 500) } ?? store.failure
        store.commitSeconds = live.lastCommit.map { Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18 }
        today.waiting = live.waitingSamples
        let age = Int((uptime - started).components.seconds)
        self.hub = Process(process: getpid(), started: now.moved(by: started - uptime).inSeconds, uptime: age)
        sources = hub.sources.map { each in
            let missing = each.state == .running ? each.source.waitsFor : nil
            return Source(
                name: each.source.name, state: missing == nil ? each.state.rawValue : "waiting", started: each.started,
                retry: each.retriesAt.map { now.moved(by: $0 - uptime).inSeconds },
                reason: (each.error.map { "\($0)" } ?? missing).map { Self.cut($0, to: 500) },
                wrongTokens: each.source.wrongTokens, refusedForLoad: each.source.refusedForLoad,
                refusals: each.source.refusals.isEmpty ? nil : each.source.refusals, adverts: each.source.adverts,
                radios: each.source.adverts == nil
                    ? nil : each.source.radios.prefix(Self.maximumRadios).map { Self.cut($0, to: 100) })
        }
        sources += hub.processes().map { process in
            Source(
                name: process.name, state: process.started == nil || process.failure != nil ? "waiting" : "running",
                started: process.started.map { now.moved(by: $0 - uptime).inSeconds },
                retry: process.retriesAt.map { now.moved(by: $0 - uptime).inSeconds },
                reason: process.failure.map { Self.cut($0, to: 500) })
        }
        for each in hub.sources {
            for device in each.source.devices {
                guard devices.count < Self.maximumDevices else {
                    devicesLeftOut += 1
                    continue
                }
                devices.append(Device(device, source: each, store: live.store, uptime: uptime))
            }
        }
    }

    /// Creates the status of a store on which no hub runs.
    package init(of store: SampleStore, zone: TimeZoneRules, at now: Instant) throws(StoreError) {
        self.init(time: now, store: Store(path: store.path, bytes: 0), zone: zone, store)
        let (adopted, aliases) = (try store.devices.adopted(), try store.devices.aliases())
        devicesLeftOut = max(0, adopted.count - Self.maximumDevices)
        for device in adopted.prefix(Self.maximumDevices) {
            devices.append(
                Device(
                    address: Self.cut(device.address, to: 200), name: Self.name(of: device),
                    last: try store.samples.lastStart(ofDevice: aliases[device.storageKey] ?? device.storageKey)))
        }
    }

    private init(time: Instant, store known: Store, zone: TimeZoneRules, _ samples: SampleStore) {
        self.time = time
        store = known
        store.path = StatusSocket.canonical(known.path)
        store.bytes = samples.bytes
        backups = Self.backups(ofStore: store.path)
        update = UpdateState(in: UpdateState.folder)
        let days = CalendarIntervals(.day, zone: zone)
        let midnight = days.start(of: days.index(of: time))
        do throws(StoreError) {
            today = Today(since: midnight, try samples.ledger.readingCounts(since: midnight.microseconds))
            quarantine = try samples.quarantine.summary().prefix(Self.maximumRules).map {
                Quarantined(rule: Self.cut($0.rule, to: 200), count: $0.count, since: $0.since)
            }
        } catch {
            today = Today(since: midnight)
            today.failure = Self.cut("\(error)", to: 500)
            store.failure = today.failure
        }
    }

    fileprivate static func name(of device: AdoptedDevice) -> String {
        cut(device.name.isEmpty ? device.device?.name ?? device.device?.model ?? "" : device.name, to: 100)
    }

    /// Truncates texts, which come from devices and systems and may have any length.
    fileprivate static func cut(_ text: String, to length: Int) -> String {
        text.count > length ? "\(text.prefix(length - 1))…" : text
    }
}

extension HubStatus.Device {
    fileprivate init(_ seen: HubDevice, source: SupervisedSource, store: SampleStore, uptime: Duration) {
        let (device, activity) = (seen.device, seen.device.activity)
        address = HubStatus.cut(device.adopted.address, to: 200)
        name = HubStatus.name(of: device.adopted)
        self.source = source.source.name
        state = source.state == .running ? HubStatus.cut(seen.state, to: 100) : source.state.rawValue
        reason = source.state == .running ? seen.reason.map { HubStatus.cut($0, to: 400) } : nil
        last = activity.last?.time ?? ((try? store.samples.lastStart(ofDevice: device.key)) ?? nil)
        rate = activity.rate(at: uptime).map { ($0 * 10).rounded() / 10 }
        expectedInterval = device.expectedInterval.map { Double($0.components.seconds) }
        silentSince = activity.isSilent(expecting: device.expectedInterval, at: uptime) ? activity.last?.time : nil
        battery = activity.battery
        receivers = seen.receptions.isEmpty ? nil : seen.receptions
    }
}

extension Hub {
    /// The uptime at which the status changes without an event: a device becomes silent, or a minute of its rate is over.
    var nextTimedChange: Duration? {
        let uptime = live.loop.clock.uptime
        let activities = sources.flatMap { $0.source.devices }.map(\.device)
        var next = activities.compactMap { $0.activity.silence(expecting: $0.expectedInterval) }.filter { $0 > uptime }.min()
        if activities.contains(where: { $0.activity.rate(at: uptime) != nil }) {
            let minute = Duration.seconds((uptime.components.seconds / 60 + 1) * 60)
            next = min(next ?? minute, minute)
        }
        return next
    }
}

extension Instant {
    /// The time in whole seconds because a time derived from two clocks is not more precise.
    fileprivate var inSeconds: Instant { Instant(seconds: microseconds / 1_000_000) }

    func moved(by time: Duration) -> Instant {
        let (seconds, attoseconds) = time.components
        return Instant(microseconds: microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
