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
/// - within a second for single readings, such as a weighing,
/// - together, ``commitEvery`` after the first waiting reading, for streams of devices that store nothing. While ``isHurried`` is
///   set, they are committed within a second too.
///
/// Each commit takes all waiting readings. While nothing arrives there is no timer and nothing is written.
public final class LiveIngest {
    /// The store that receives the readings.
    public let store: SampleStore
    /// The event loop of the ingest.
    public let loop: EventLoop
    /// The machine's time, for the ledger. A recording's time is the loop's.
    fileprivate let now: @Sendable () -> Instant
    private let ledger: DailyLedger
    private let isReplay: Bool
    /// The output that is not committed yet.
    private(set) var pending = Normaliser.Output()
    private var skipped: [SkipKind: Int] = [:]
    /// The number of readings that came in. The ledger counts its own separately, so that a lost reading is detected.
    private var entered = 0
    /// Devices with new facts to store, by address.
    private var changed: [String: AdoptedDevice] = [:]
    /// Called after the next commit.
    private var waiting: [() -> Void] = []
    /// When the waiting readings are written.
    private var due: (at: Duration, timer: EventLoop.Timer)?
    /// Whether there was a commit. The first one comes soon, so that the user sees that a new device works, and a program that
    /// follows the changes sees a running hub.
    private var hasCommitted = false
    private let units = UnitWatch()
    private var weighings = LiveEstimates()
    /// Comparisons of devices' clocks with ours that are not committed yet.
    private var comparisons: [ClockComparison] = []
    /// Changes of the store that come before any waiting sample.
    private var changes: [() throws -> Void] = []
    private var arrivals: Set<String> = []
    /// The people who share a device, by device key.
    private var shared: [String: Set<String>] = [:]
    /// Addresses of devices with readings that are durable.
    public private(set) var delivered: Set<String> = []
    private var failing: Failing?
    /// Devices with beats that wait for the end of their minute.
    private var gathering: [ObjectIdentifier: LiveDevice] = [:]
    private var isWatchingBeats = false
    /// Devices that have sent frames, by address, and those with a state that is not stored yet.
    private var heard: [String: LiveDevice] = [:]
    private var unsaved: Set<String> = []
    /// Devices with waiting samples.
    private var contributing: Set<String> = []
    /// The last stored states, by address.
    private var saved: [String: String] = [:]

    /// Consecutive failed writes with the same kind of error.
    private struct Failing {
        var error: any Error
        var attempts = 0
        /// The uptime of the first failure.
        var since: Duration
        /// The kind of the failure that was reported last.
        var told: StoreError.Kind?
    }

    /// Called with notices for the log. They never contain a value or a name.
    public var onNotice: (SourceNotice) -> Void = { _ in }
    /// Called with each event before it is processed. A recording uses it.
    public var onEvent: ((LiveEvent) -> Void)? {
        // A recording cannot contain beats from before its start.
        willSet { if onEvent == nil, newValue != nil { finishBeats() } }
    }
    /// Called before each commit.
    package var beforeCommit: (() -> Void)?
    /// Called after each commit.
    public var onCommit: () -> Void = {}
    /// Called after each failed commit that will be retried.
    public var onDelay: () -> Void = {}
    /// Called when the store cannot accept readings any more. Going on would lose readings.
    public var onFailure: (any Error) -> Void = { _ in }

    /// The formulas that estimate body composition from impedances, by person. Empty by default.
    public var estimates: [String: [ImpedanceFormula]] = [:] {
        didSet { weighings = LiveEstimates() }
    }

    /// The maximum time that a stream's readings wait, and so the amount that a power cut can lose.
    public var commitEvery = Duration.seconds(usualCommitSeconds) {
        didSet { if due != nil, failing == nil { arm(within: commitEvery) } }
    }

    /// Whether streams are committed within a second too. Setting it commits waiting readings at once.
    public var isHurried = false {
        didSet { if isHurried, !oldValue { commitDue() } }
    }

    /// The default interval in seconds. It writes a tenth of the data of a commit every second, and a power cut loses little of a stream.
    public static let usualCommitSeconds = 30
    private static let soon = Duration.seconds(1)
    /// The number of waiting samples from which a stream is committed each second, so that memory stays small. No stream sends
    /// this many in a minute.
    private static let manyPending = 4096
    /// How long a write waits for another process. Sources share the loop, and a serial port's buffer fills quickly.
    private static let patience = Duration.milliseconds(200)
    /// How long an import or a repair may lock the store before it is reported.
    private static let usualLock = Duration.seconds(15)
    /// How long a device that measures occasionally has to be silent until it counts as complete.
    public static let quiet = Duration.seconds(3)
    /// The maximum number of samples that wait while the store fails: about a day of a heart rate strap.
    private static let maximumPending = 100_000

    /// - Parameters: - zone: the zone of the ledger's days until ``use(zone:)`` changes it. - ingest: the ingest of a replayed
    ///   recording. It takes all readings, whatever the day, and no device is remembered.
    public init(
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
    public var failure: (any Error)? { failing?.error }
    /// The number of attempts that failed with that error.
    public var failures: Int { failing?.attempts ?? 0 }

    /// The number of samples that wait for a commit.
    public var waitingSamples: Int { pending.samples.count }

    /// Whether the store rejects the waiting readings for a reason that a restart of the hub may fix. It is false if the disk is
    /// full or another process locks the store: readings wait then.
    public var isStuck: Bool {
        guard let failure else { return false }
        guard let error = failure as? StoreError else { return true }
        return error.kind != .full && !error.isLockOfAnother
    }

    /// Whether the expected readings of a device are durable: a stream has begun, or another device has delivered everything.
    public func isComplete(_ device: LiveDevice) -> Bool {
        guard delivered.contains(device.adopted.address) else { return false }
        guard device.expectedInterval == nil, !device.isAdvertiser, let last = device.activity.last else { return true }
        return loop.clock.uptime - last.uptime >= Self.quiet
    }

    // MARK: What sources bring

    /// Processes a frame of a device. Its bytes are needed only during the call.
    public func receive(_ frame: RawFrame, of device: LiveDevice) {
        if heard[device.adopted.address] !== device {
            let before = heard.updateValue(device, forKey: device.adopted.address)
            recallState(of: device, after: before)
        }
        device.meet(frame)
        unsaved.insert(device.adopted.address)
        onEvent?(.frame(frame, device))
        let before = pending.samples.count
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
                        "its clock is wrong, as three of its readings show; its times are corrected as long as they say so"
                    note(SourceNotice(.information, device.adopted.bluetoothAddress ?? device.adopted.address, text))
                }
            }
            if device.adopted.counter != counter, !isReplay { changed[device.adopted.address] = device.adopted }
            arm(for: device, heldFor: .microseconds(loop.clock.now.microseconds &- frame.received.microseconds))
            watchBeats(of: device)
        // The counts reach the ledger with the next samples. Nothing is written for a device without new readings.
        case .skipped(let kind):
            skipped[kind, default: 0] += 1
            if device.takeCountingAnew() { noteCountingAnew(device) }
            if device.takeFlood() { noteFlood(device) }
        }
    }

    private func noteFlood(_ device: LiveDevice) {
        let text =
            "its advertisements bring more than \(device.readingsPerSecond) readings a second, and the rest is left out; somebody else may "
            + "send under its address; 'hub.readingsPerSecond' of the configuration takes more"
        note(SourceNotice(.warning, device.adopted.bluetoothAddress ?? device.adopted.address, text))
    }

    private func noteCountingAnew(_ device: LiveDevice) {
        let address = device.adopted.bluetoothAddress ?? device.adopted.address
        let text =
            "its encrypted packets count lower than those before, and none is taken: they are old ones, or its battery was changed; "
            + "after that, 'vitalgate devices adopt \(address) --bind-key KEY' takes them again"
        note(SourceNotice(.action, address, text))
    }

    /// Assigns the last samples of a shared device to its users. If the store cannot be read, they stay unassigned, and the user
    /// can assign them later.
    private func assign(from first: Int, of device: LiveDevice) {
        let sharers = device.adopted.sharers
        shared[device.key] = sharers.isEmpty ? nil : sharers
        do {
            try SharedScale(store: store).assign(&pending.samples, from: first, of: device)
        } catch {
            onNotice(SourceNotice(.warning, "store", "readings are left unassigned: \(error)"))
        }
    }

    /// Counts something that a source skipped, such as noise bytes before a frame.
    public func skip(_ kind: SkipKind, count: Int = 1) {
        onEvent?(.skip(kind, count))
        skipped[kind, default: 0] += count
    }

    /// Starts reading a device's whole memory, until the next settling.
    public func beginRecords(of device: LiveDevice) {
        onEvent?(.records(device))
        device.beginRecords()
    }

    /// Records a frame that cannot be read.
    public func refuse(_ refusal: Refusal) {
        onEvent?(.refuse(refusal))
        entered += refusal.readings
        pending.refusals.append(refusal)
        arm()
    }

    /// Returns the device for another zone, or the same object if the zone is the same. Readings received before are settled in
    /// the old zone.
    public func move(_ device: LiveDevice, to zone: TimeZoneRules) -> LiveDevice {
        guard device.zone != zone else { return device }
        finishStream(of: device)
        let moved = device.moved(to: zone)
        if heard[device.adopted.address] === device { heard[device.adopted.address] = moved }
        return moved
    }

    /// Ends the stream of a device and settles readings that were held for their time.
    public func finishStream(of device: LiveDevice) {
        onEvent?(.settle(device))
        let before = pending.samples.count
        finish(device)
        assign(from: before, of: device)
        if !pending.samples.isEmpty || !pending.refusals.isEmpty { arm(for: device) }
    }

    private func finish(_ device: LiveDevice) {
        entered += device.closeHeartbeats(into: &pending)
        gathering[ObjectIdentifier(device)] = nil
        device.finishStream(into: &pending)
    }

    /// Ends the series of devices that have fallen silent.
    private func watchBeats(of device: LiveDevice? = nil) {
        if let device { gathering[ObjectIdentifier(device)] = device.heartbeatsHeard == nil ? nil : device }
        guard !gathering.isEmpty, !isWatchingBeats, !isReplay else { return }
        isWatchingBeats = true
        _ = loop.after(Self.silence) { [weak self] in
            guard let self else { return }
            isWatchingBeats = false
            let last = loop.clock.now.microseconds &- Int64(Self.silence.components.seconds) * 1_000_000
            for device in gathering.values where (device.heartbeatsHeard?.microseconds ?? .min) <= last {
                finishStream(of: device)
            }
            watchBeats()
        }
    }

    /// The silence after which a minute of beats is over.
    private static let silence = Duration.seconds(60)

    /// Makes everything received from a device durable at once, with its stored facts, and then calls `confirm`. If the store
    /// fails for now, that happens later.
    public func commit(_ device: LiveDevice, confirm: @escaping () -> Void) {
        onEvent?(.commit(device))
        let before = pending.samples.count
        finish(device)
        assign(from: before, of: device)
        arrivals.insert(device.adopted.address)
        waiting.append(confirm)
        flush()
    }

    /// Stores a device's facts with the next commit.
    public func remember(_ device: AdoptedDevice) {
        changed[device.address] = device
        arm()
    }

    /// Takes the result of reading a device's clock. If it is off, its times are corrected from now on.
    /// - Parameters: - ahead: how far it is ahead of a right clock in our zone, in microseconds. - ofUTC: how far the time it
    ///   shows is ahead of UTC, in microseconds.
    public func learn(ahead: Int64, ofUTC: Int64, of device: LiveDevice) {
        let received = loop.clock.now
        onEvent?(.clock(ahead: ahead, ofUTC: ofUTC, at: received, device))
        let before = pending.samples.count
        let seconds = device.learn(ahead: ahead, ofUTC: ofUTC, received: received, into: &pending)
        assign(from: before, of: device)
        if received >= Normaliser.earliestHub {
            comparisons.append(
                ClockComparison(
                    device: device.key, shown: received.microseconds &+ ofUTC, received: received.microseconds,
                    ahead: seconds == nil ? nil : ofUTC))
            arm()
        }
        guard let seconds else { return }
        let text = "its clock is \(abs(seconds)) s \(seconds > 0 ? "ahead" : "behind"); its times are corrected by that"
        let subject = device.adopted.bluetoothAddress ?? device.adopted.address
        note(SourceNotice(.information, subject, text))
    }

    /// Lets a device's times be corrected as before the hub's restart. If the store cannot be read, the clock has to be learned
    /// again.
    package func recallClock(of device: LiveDevice) {
        device.lastComparison = { [store] in try? store.lastClockComparison(of: $0) }
    }

    /// Restores a device's state from its previous object, or else from the store.
    private func recallState(of device: LiveDevice, after before: LiveDevice?) {
        guard device.lastState == nil else { return }
        let state = before?.state
        device.lastState = { [store] address in state ?? (try? store.state(ofDevice: address)) }
    }

    /// Returns the states of the streams that differ from the stored ones.
    private func states(of addresses: Set<String>) -> [DeviceState] {
        addresses.sorted().compactMap { heard[$0]?.state }.filter { saved[$0.address] != $0.text }
    }

    /// Reports a notice and adds it to the ledger.
    fileprivate func note(_ notice: SourceNotice) {
        onNotice(notice)
        ledger.note(notice.description)
        arm()
    }

    /// Looks for wrong units after a commit, so that the commit does not wait for it.
    private func lookAtUnits() {
        do {
            for suspicion in try units.look(in: store) {
                let (stretch, series) = (suspicion.stretch, suspicion.series)
                let text =
                    "\(stretch.count) of its readings of \(series.type.id) \(suspicion.claim); "
                    + "'vitalgate migrate suggest' tells more"
                note(SourceNotice(.action, series.device.isEmpty ? series.source : series.device, text))
            }
        } catch {
            onNotice(SourceNotice(.warning, "store", "it could not be looked for wrong units: \(error)"))
        }
    }

    /// Estimates the committed weighings after a commit.
    private func estimate() {
        guard !estimates.isEmpty else { return }
        do {
            for text in try weighings.make(estimates, in: store, zone: ledger.zone, now: now()) {
                note(SourceNotice(.action, "estimates", text))
            }
        } catch {
            onNotice(SourceNotice(.warning, "store", "what a body is made of could not be estimated: \(error)"))
        }
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
    public func use(zone: TimeZoneRules) { ledger.zone = zone }
    package var zone: TimeZoneRules { ledger.zone }

    /// Commits the remaining readings and closes the ledger's account. All sources have to be stopped before.
    /// - Parameter state: the final state of the account.
    public func stop(state: String = "done") throws {
        finishBeats()
        disarm()
        try write()
        let states = states(of: unsaved)
        try store.save(states, isReplay: isReplay)
        try ledger.close(state: state)
        guard entered == ledger.accounted else {
            throw StoreError(
                .defect, "the ledger does not add up: \(entered) readings came in, \(ledger.accounted) are accounted for")
        }
    }

    // MARK: Commits

    /// Commits the waiting readings at once, for example before a power failure or when the user wants to see them.
    public func commitNow() {
        finishBeats()
        commitDue()
    }

    private func finishBeats() {
        // Sorted so that the order is the same in every run.
        for device in gathering.values.sorted(by: { $0.adopted.address < $1.adopted.address }) { finishStream(of: device) }
    }

    private func commitDue() {
        // A store that failed is retried on its own schedule.
        if due != nil, failing == nil { flush() }
    }

    /// Schedules the commit of a device's readings.
    /// - Parameter heldFor: how long the source has already kept them. It counts as waiting.
    private func arm(for device: LiveDevice, heldFor: Duration = .zero) {
        let mayWait = device.isStream && hasCommitted && !isHurried && pending.samples.count < Self.manyPending
        arm(within: mayWait ? max(.zero, commitEvery - max(.zero, heldFor)) : Self.soon)
    }

    /// Schedules a commit within the delay, unless an earlier one is scheduled.
    private func arm(within delay: Duration = soon) {
        let at = loop.clock.uptime + delay
        // A store that failed is retried on its own schedule, whatever arrives.
        if let due, due.at <= at || failing != nil { return }
        disarm()
        let timer = loop.after(delay) { [weak self] in
            self?.due = nil
            self?.flush()
        }
        due = (at, timer)
    }

    private func disarm() {
        due?.timer.cancel()
        due = nil
    }

    func flush() {
        disarm()
        beforeCommit?()
        do {
            try store.waiting(atMost: Self.patience) { try write() }
        } catch {
            failed(error)
            return
        }
        onEvent?(.flush)
        if failing?.told != nil { onNotice(SourceNotice(.information, "store", "it takes samples again")) }
        failing = nil
        hasCommitted = true
        delivered.formUnion(arrivals)
        arrivals.removeAll()
        let durable = waiting
        waiting.removeAll()
        for confirm in durable { confirm() }
        lookAtUnits()
        estimate()
        onCommit()
    }

    /// Handles a failed commit. Readings wait, up to a maximum, because a full disk can be cleared and a lock goes away. Other
    /// errors end the hub at once.
    private func failed(_ error: any Error) {
        let uptime = loop.clock.uptime
        let kind = (error as? StoreError)?.kind
        var next = Failing(error: error, since: uptime, told: failing?.told)
        if let failing, (failing.error as? StoreError)?.kind == kind {
            (next.attempts, next.since) = (failing.attempts, failing.since)
        }
        next.attempts += 1
        failing = next
        guard let kind, (error as? StoreError)?.mayPass ?? false else { return onFailure(error) }
        let isLocked = kind == .busy
        if next.told != kind, !isLocked || uptime - next.since >= Self.usualLock {
            failing?.told = kind
            onNotice(SourceNotice(.action, "store", "nothing can be committed, readings wait: \(error)"))
        }
        guard pending.samples.count < Self.maximumPending else { return onFailure(error) }
        arm(within: isLocked ? Self.soon : .seconds(1 << min(next.attempts - 1, 5)))
        onDelay()
    }

    private func write() throws {
        try store.checkPlace()
        while let change = changes.first {
            try change()
            changes.removeFirst()
        }
        try writeSamples()
        // After the samples, so that readings held until a comparison are released at once.
        for comparison in comparisons {
            try store.save(
                comparison,
                description: IngestDescription(
                    kind: .release, name: "clock of \(comparison.device)", received: now().microseconds))
        }
        comparisons.removeAll()
    }

    private func writeSamples() throws {
        if pending.samples.isEmpty, pending.refusals.isEmpty, skipped.isEmpty, !ledger.hasNotes {
            for device in changed.values { try store.remember(device) }
            changed.removeAll()
            return
        }
        let ingest = try ledger.today()
        for refusal in pending.refusals { ingest.refuse(refusal) }
        pending.refusals.removeAll(keepingCapacity: true)
        for (kind, count) in skipped { ingest.skip(kind, count: count) }
        skipped.removeAll(keepingCapacity: true)
        // Owners are decided again inside the transaction because an import may have stored the same weighing.
        var decided = pending.samples
        var mistakes: [EarlierMistakes] = []
        // The states of the streams are committed with their samples. Each is durable only with the other.
        let states = states(of: contributing)
        _ = try ingest.store(pending.samples, with: Array(changed.values)) {
            for state in states { try store.save(state, isReplay: isReplay) }
            try MeasurementIdentity.resolve(&$0, in: store)
            try SharedScale.assign(&$0, asKnownIn: store, sharedBy: shared)
            let assigned = try PersonHistory.assign(&$0, in: store)
            try store.complete(&$0, at: now())
            (decided, mistakes) = ($0, assigned.mistakes)
            return assigned.nobodys
        }
        for state in states { saved[state.address] = state.text }
        unsaved.subtract(contributing)
        contributing.removeAll()
        units.count(decided)
        if !estimates.isEmpty { weighings.count(decided, of: estimates) }
        pending.samples.removeAll(keepingCapacity: true)
        changed.removeAll()
        try ledger.writeNotes()
        for mistake in mistakes { try repair(mistake) }
    }
}

extension LiveIngest {
    /// Takes earlier weighings of someone else from a person. The rest are found with the next weighing.
    fileprivate func repair(_ mistake: EarlierMistakes) throws {
        guard let done = try mistake.repair(in: store, now: now(), owner: ProcessIdentity.current()) else { return }
        let text =
            "\(done.count) earlier weighings are of somebody else than later ones, and are nobody's now (unassigned); "
            + "'vitalgate migrate undo \(done.migration)' gives them back"
        note(SourceNotice(.action, "weights", text))
    }
}

extension GatedSample {
    /// Moves a time that comes from our own clock. The sample's identity keeps the original time.
    fileprivate mutating func move(by step: Int64) {
        sample.received.microseconds &+= step
        guard sample.timeOrigin != .device else { return }
        sample.start.microseconds &+= step
        sample.end.microseconds &+= step
        if sample.timeOrigin == .receipt, rule == .clockUnknown { (rule, frame) = (nil, nil) }
        sample.timeOrigin = .deviceCorrected
    }
}
