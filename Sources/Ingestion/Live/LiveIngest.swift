import EventLoopKit
import HealthModel
import Pipeline
import SampleStore

/// Stores the readings of all live sources: one writer, and one ingest in the ledger for each day.
///
///     live.receive(frame, of: device)
///     live.commit(device) { port.acknowledge() }   // only once it is durable
///
/// Commits are timed so that a power cut loses little and an SD card lasts (Decisions/0020):
///
/// - at once if a source asks for it, because a device then waits for confirmation that its records are safe,
/// - at once for single measurements over a connection, because BlueZ confirms an indication before the hub has it,
/// - within a second for other single readings, such as an advertised weight,
/// - together, ``commitEvery`` after the first waiting reading, for streams of devices that store nothing. While ``needsPromptCommits`` is
///   set, they are committed within a second too.
///
/// Each commit takes all waiting readings. While nothing arrives there is no timer and nothing is written.
package final class LiveIngest {
    /// The store that receives the readings.
    package let store: SampleStore
    package let loop: EventLoop
    /// The machine's time, for the ledger. A recording's time is the loop's.
    let now: @Sendable () -> Instant
    let ledger: DailyLedger
    let isReplay: Bool
    /// The output that is not committed yet.
    var pending = Normaliser.Output()
    var skipped: [SkipKind: Int] = [:]
    /// The number of readings that came in. The ledger counts its own separately, so that a lost reading is detected.
    var entered = 0
    /// Devices with new facts to store, by address.
    var changed: [String: AdoptedDevice] = [:]
    /// Called after the next commit.
    var waiting: [() -> Void] = []
    /// When the waiting readings are written.
    var due: (at: Duration, timer: EventLoop.Timer)?
    /// Whether there was a commit. The first one comes soon, so that the user sees that a new device works, and a program that
    /// follows the changes sees a running hub.
    var hasCommitted = false
    /// The duration of the last commit, or `nil` before the first one.
    package internal(set) var lastCommit: Duration?
    let units = UnitWatch()
    var weighings = LiveEstimates()
    /// Comparisons of devices' clocks with ours that are not committed yet.
    var comparisons: [ClockComparison] = []
    /// Changes of the store that come before any waiting sample.
    var changes: [() throws -> Void] = []
    var arrivals: Set<String> = []
    /// The people who share a device, by device key.
    var shared: [String: Set<String>] = [:]
    /// Addresses of devices with readings that are durable.
    package internal(set) var delivered: Set<String> = []
    var failing: Failing?
    /// Devices with beats that wait for the end of their minute.
    var gathering: [ObjectIdentifier: LiveDevice] = [:]
    var isWatchingBeats = false
    /// Devices that have sent frames, by address, and those with a state that is not stored yet.
    var activeDevices: [String: LiveDevice] = [:]
    var unsaved: Set<String> = []
    /// Devices with waiting samples.
    var contributing: Set<String> = []
    /// The last stored states, by address.
    var saved: [String: String] = [:]

    /// Consecutive failed writes with the same kind of error.
    struct Failing {
        var error: any Error
        var attempts = 0
        /// The uptime of the first failure.
        var since: Duration
        /// The kind of the failure that was reported last.
        var reported: StoreError.Kind?
    }

    /// Called with notices for the log. They never contain a value or a name.
    package var onNotice: (SourceNotice) -> Void = { _ in }
    /// Called with each event before it is processed. A recording uses it.
    package var onEvent: ((LiveEvent) -> Void)? {
        // A recording cannot contain beats from before its start.
        willSet { if onEvent == nil, newValue != nil { finishBeats() } }
        didSet { if let unconfirmedBoot { onEvent?(.boot(unconfirmedBoot)) } }
    }
    /// The boot of the machine, while nothing has confirmed its clock.
    package var unconfirmedBoot: String? {
        didSet {
            if unconfirmedBoot != oldValue { onEvent?(.boot(unconfirmedBoot)) }
            for device in activeDevices.values { device.unconfirmedBoot = unconfirmedBoot }
            unsaved.formUnion(activeDevices.keys)
        }
    }
    package var beforeCommit: (() -> Void)?
    /// Called after each commit.
    package var onCommit: () -> Void = {}
    /// Called after each failed commit that will be retried.
    package var onDelay: () -> Void = {}
    /// Called when the store cannot accept readings any more. Going on would lose readings.
    package var onFailure: (any Error) -> Void = { _ in }

    /// The formulas that estimate body composition from impedances, by person. Empty by default.
    package var estimates: [String: [ImpedanceFormula]] = [:] {
        didSet { weighings = LiveEstimates() }
    }

    /// The maximum time that a stream's readings wait, and so the amount that a power cut can lose.
    package var commitEvery = Duration.seconds(defaultCommitSeconds) {
        didSet { if due != nil, failing == nil { arm(within: commitEvery) } }
    }

    /// Whether streams are committed within a second too. Setting it commits waiting readings at once.
    package var needsPromptCommits = false {
        didSet { if needsPromptCommits, !oldValue { commitDue() } }
    }

    /// The default interval in seconds. It writes a tenth of the data of a commit every second, and a power cut loses little of a stream.
    package static let defaultCommitSeconds = 30
    static let soon = Duration.seconds(1)
    /// The number of waiting samples from which a stream is committed each second, so that memory stays small. No stream sends
    /// this many in a minute.
    static let manyPending = 4096
    /// How long a write waits for another process. Sources share the loop, and a serial port's buffer fills quickly.
    static let timeout = Duration.milliseconds(200)
    /// How long an import or a repair may lock the store before it is reported.
    static let defaultLock = Duration.seconds(15)
    /// How long a device that measures occasionally has to be silent until it counts as complete.
    package static let quiet = Duration.seconds(3)
    /// The maximum number of samples that wait while the store fails: about a day of a heart rate strap.
    static let maximumPending = 100_000

    /// - Parameters: - zone: the zone of the ledger's days until ``use(zone:)`` changes it. - ingest: the ingest of a replayed
    ///   recording. It takes all readings, whatever the day, and no device is remembered.
    package init(
        store: SampleStore, now: @escaping @Sendable () -> Instant, zone: TimeZoneRules, loop: EventLoop,
        replaying ingest: Ingest? = nil
    ) {
        isReplay = ingest != nil
        self.store = store
        self.now = now
        self.loop = loop
        ledger = DailyLedger(store: store, now: now, zone: zone, replaying: ingest)
    }

    /// The error that prevents commits, or `nil`.
    package var failure: (any Error)? { failing?.error }
    package var failures: Int { failing?.attempts ?? 0 }

    package var waitingSamples: Int { pending.samples.count }

    /// Whether the store rejects the waiting readings for a reason that a restart of the hub may fix. It is false if the disk is
    /// full or another process locks the store: readings wait then.
    package var isStuck: Bool {
        guard let failure else { return false }
        guard let error = failure as? StoreError else { return true }
        return error.kind != .full && !error.isLockOfAnother
    }

    /// Whether the expected readings of a device are durable: a stream has begun, or another device has delivered everything.
    package func isComplete(_ device: LiveDevice) -> Bool {
        guard delivered.contains(device.adopted.address) else { return false }
        guard device.expectedInterval == nil, !device.isAdvertiser, let last = device.activity.last else { return true }
        return loop.clock.uptime - last.uptime >= Self.quiet
    }

    // MARK: What sources bring

    /// Processes a frame of a device. Its bytes are needed only during the call.
    package func receive(_ frame: RawFrame, of device: LiveDevice) {
        if activeDevices[device.adopted.address] !== device {
            let before = activeDevices.updateValue(device, forKey: device.adopted.address)
            recallState(of: device, after: before)
        }
        device.unconfirmedBoot = unconfirmedBoot
        device.meet(frame)
        unsaved.insert(device.adopted.address)
        onEvent?(.frame(frame, device))
        let (before, refused) = (pending.samples.count, pending.refusals.count)
        let counter = device.adopted.counter
        switch device.interpret(frame, at: loop.clock.uptime, into: &pending) {
        case .readings(let count, let leftOut):
            entered += count
            contributing.insert(device.adopted.address)
            if let leftOut { skipped[leftOut, default: 0] += 1 }
            assign(from: before, of: device)
            device.activity.count(count, at: frame.received, uptime: loop.clock.uptime)
            var levels = 0
            for gated in pending.samples[before...] where gated.sample.origin.type == .batteryLevel {
                device.activity.battery = gated.sample.value
                levels += 1
            }
            // The battery level arrives with the connection, before the device has measured anything.
            if count > levels { arrivals.insert(device.adopted.address) }
            if let evidence = device.takeEvidence() {
                comparisons.append(evidence)
                if evidence.ahead != nil {
                    let text =
                        "two of its readings show that its clock is wrong, and its times are corrected while that is so"
                    note(SourceNotice(.information, device.adopted.bluetoothAddress ?? device.adopted.address, text))
                }
            }
            if device.adopted.counter != counter, !isReplay { changed[device.adopted.address] = device.adopted }
            arm(for: device, bufferedFor: .microseconds(loop.clock.now.microseconds &- frame.received.microseconds))
            watchBeats(of: device)
            // A local time that occurs twice waits for the order of the next ones. The device may send none, and has forgotten it.
            if !isReplay, device.isConfirmedAtOnce, pending.samples.count - before + pending.refusals.count - refused < count {
                _ = loop.after(Self.quiet) { [weak self, weak device] in
                    guard let self, let device, let last = device.activity.last,
                        loop.clock.uptime - last.uptime >= Self.quiet
                    else { return }
                    finishStream(of: device)
                }
            }
        // The counts reach the ledger with the next samples. Nothing is written for a device without new readings.
        case .skipped(let kind):
            skipped[kind, default: 0] += 1
            if device.takeCounterRestartNotice() { noteCounterRestart(device) }
            if device.takeFloodNotice() { noteFlood(device) }
        }
    }

    func noteFlood(_ device: LiveDevice) {
        let text =
            "it advertises more than \(device.readingsPerSecond) readings per second, and the rest are ignored. "
            + "Another device may be using its address. Raise the limit with 'hub.readingsPerSecond' in the configuration"
        note(SourceNotice(.warning, device.adopted.bluetoothAddress ?? device.adopted.address, text))
    }

    func noteCounterRestart(_ device: LiveDevice) {
        let address = device.adopted.bluetoothAddress ?? device.adopted.address
        let text =
            "its encrypted packets have lower counters than before and are ignored: they are old, or its battery was changed. "
            + "After a battery change, run 'vitalgate devices adopt \(address) --bind-key KEY'"
        note(SourceNotice(.action, address, text))
    }

    /// Assigns the last samples of a shared device to its users. If the store cannot be read, they stay unassigned, and the user
    /// can assign them later.
    func assign(from first: Int, of device: LiveDevice) {
        let sharers = device.adopted.sharers
        shared[device.key] = sharers.isEmpty ? nil : sharers
        do {
            try SharedScale(store: store).assign(&pending.samples, from: first, of: device)
        } catch {
            onNotice(SourceNotice(.warning, "store", "readings are left unassigned: \(error)"))
        }
    }

    /// Counts something that a source skipped, such as noise bytes before a frame.
    package func skip(_ kind: SkipKind, count: Int = 1) {
        onEvent?(.skip(kind, count))
        skipped[kind, default: 0] += count
    }

    /// Starts reading a device's whole memory, until the next settling.
    package func beginRecords(of device: LiveDevice) {
        onEvent?(.records(device))
        device.beginRecords()
    }

    /// Records a frame that cannot be read.
    package func refuse(_ refusal: Refusal) {
        onEvent?(.refuse(refusal))
        entered += refusal.readings
        pending.refusals.append(refusal)
        arm()
    }

    /// Returns the device for another zone, or the same object if the zone is the same. Readings received before are settled in
    /// the old zone.
    package func move(_ device: LiveDevice, to zone: TimeZoneRules) -> LiveDevice {
        guard device.zone != zone else { return device }
        finishStream(of: device)
        let moved = device.moved(to: zone)
        if activeDevices[device.adopted.address] === device { activeDevices[device.adopted.address] = moved }
        return moved
    }

    /// Ends the stream of a device and settles readings that were held for their time.
    package func finishStream(of device: LiveDevice) {
        onEvent?(.finish(device))
        let before = pending.samples.count
        finish(device)
        assign(from: before, of: device)
        if !pending.samples.isEmpty || !pending.refusals.isEmpty { arm(for: device) }
    }

    func finish(_ device: LiveDevice) {
        entered += device.closeHeartbeats(into: &pending)
        gathering[ObjectIdentifier(device)] = nil
        device.finishStream(into: &pending)
    }

    /// Ends the series of devices that have fallen silent.
    func watchBeats(of device: LiveDevice? = nil) {
        if let device { gathering[ObjectIdentifier(device)] = device.lastHeartbeatReceived == nil ? nil : device }
        guard !gathering.isEmpty, !isWatchingBeats, !isReplay else { return }
        isWatchingBeats = true
        _ = loop.after(Self.silence) { [weak self] in
            guard let self else { return }
            isWatchingBeats = false
            let last = loop.clock.now.microseconds &- Int64(Self.silence.components.seconds) * 1_000_000
            for device in gathering.values where (device.lastHeartbeatReceived?.microseconds ?? .min) <= last {
                finishStream(of: device)
            }
            watchBeats()
        }
    }

    /// The silence after which a minute of beats is over.
    static let silence = Duration.seconds(60)

    /// Makes everything received from a device durable at once, with its stored facts, and then calls `confirm`. If the store
    /// fails for now, that happens later.
    package func commit(_ device: LiveDevice, confirm: @escaping () -> Void) {
        onEvent?(.commit(device))
        let before = pending.samples.count
        finish(device)
        assign(from: before, of: device)
        arrivals.insert(device.adopted.address)
        waiting.append(confirm)
        flush()
    }

    /// Handles a step of our own clock, in microseconds: moves the waiting readings, and corrects the stored ones before anything
    /// else is stored.
    ///
    /// - Parameter correct: corrects the stored readings. It is called again if the store fails for now.
    package func clockWasSet(by step: Int64, correct: @escaping () throws -> Void) {
        onEvent?(.step(step))
        for index in pending.samples.indices { pending.samples[index].move(by: step) }
        // A clock that agreed with ours was equally wrong.
        comparisons = comparisons.compactMap { $0.moved(by: step) }
        changes.append(correct)
        flush()
    }

    /// Changes the store after the changes that are already waiting, and before any waiting sample. `change` is called again if
    /// the store fails for now.
    package func change(_ change: @escaping () throws -> Void) {
        changes.append(change)
        arm()
    }

    /// Whether the store is still in its place. If not, the hub ends.
    package func hasStore() -> Bool {
        do throws(StoreError) {
            try store.checkPlace()
            return true
        } catch {
            failed(error)
            return false
        }
    }

    /// Sets the zone of local times and of the ledger's days.
    package func use(zone: TimeZoneRules) { ledger.zone = zone }
    package var zone: TimeZoneRules { ledger.zone }

    /// Commits the remaining readings and closes the ledger's account. All sources have to be stopped before.
    /// - Parameter state: the final state of the account.
    package func stop(state: String = "done") throws {
        finishBeats()
        disarm()
        try write()
        let states = states(of: unsaved)
        try store.devices.save(states, isReplay: isReplay)
        try ledger.close(state: state)
        guard entered == ledger.accounted else {
            throw StoreError(
                .defect, "the ledger does not add up: \(entered) readings received, \(ledger.accounted) accounted for")
        }
    }
}

extension GatedSample {
    /// Moves a time that comes from our own clock. The sample's identity keeps the original time.
    mutating func move(by step: Int64) {
        sample.received.microseconds &+= step
        guard sample.timeOrigin != .device else { return believeIfFresh() }
        sample.start.microseconds &+= step
        sample.end.microseconds &+= step
        if sample.timeOrigin == .receipt, rule == .clockUnknown { (rule, frame) = (nil, nil) }
        sample.timeOrigin = .deviceCorrected
    }

    /// Releases a reading that was quarantined only because our own clock was wrong.
    private mutating func believeIfFresh() {
        guard rule == .clockUnknown, sample.metadata?[ClockDoubt.timesKey] == nil,
            (sample.received.microseconds &- sample.start.microseconds).magnitude < UInt64(StampTrust.fresh)
        else { return }
        (rule, frame) = (nil, nil)
        stamp?.doubt = nil
        stamp?.isFresh = true
        let rest = sample.metadata?.entries.filter { $0.key != ClockDoubt.key }.map { ($0.key, $0.value) } ?? []
        sample.metadata = rest.isEmpty ? nil : Metadata(rest)
    }
}
