import EventLoopKit
import HealthModel
import Pipeline
import SampleStore

/// Takes what all live sources receive into the store: one writer, one ingest a day in the ledger.
///
///     live.receive(frame, of: device)
///     live.commit(device) { port.acknowledge() }   // only once it is durable
///
/// What is committed when, so that a power cut takes little and a card lasts (Decisions/0020):
///
/// - at once where a source asks for it, since then a device waits to be told that its records are safe;
/// - within a second what stands alone, such as a weighing;
/// - together, ``commitEvery`` after the first that waits, the streams of devices that keep nothing and go on anyway; within a second
///   while somebody wants them to be (``isHurried``).
///
/// Each commit takes all that waits. While nothing comes there is no timer, and nothing is written.
public final class LiveIngest {
    /// Where it takes them.
    public let store: SampleStore
    /// On which it works.
    public let loop: EventLoop
    /// The machine's time, for the ledger; a recording's is the loop's.
    fileprivate let now: @Sendable () -> Instant
    private let ledger: DailyLedger
    private let isReplay: Bool
    /// Not committed yet.
    private(set) var pending = Normaliser.Output()
    private var skipped: [SkipKind: Int] = [:]
    /// Readings that came in; the ledger's are counted apart, so that one lost on the way cannot stay unseen.
    private var entered = 0
    /// Devices with something to remember, by address.
    private var changed: [String: AdoptedDevice] = [:]
    /// To be called after the next commit.
    private var waiting: [() -> Void] = []
    /// When what waits is written.
    private var due: (at: Duration, timer: EventLoop.Timer)?
    /// Whether something was committed. The first commit comes soon: it shows a person that a new device works, and a program that follows
    /// the changes that there is a hub to ask.
    private var hasCommitted = false
    private let units = UnitWatch()
    private var weighings = LiveEstimates()
    /// Of devices' clocks with ours; not committed yet.
    private var comparisons: [ClockComparison] = []
    /// Of the store, to be made before any sample that waits is written.
    private var changes: [() throws -> Void] = []
    private var arrivals: Set<String> = []
    /// By device key: who shares a device.
    private var shared: [String: Set<String>] = [:]
    /// Addresses of devices of which something is durable.
    public private(set) var delivered: Set<String> = []
    private var failing: Failing?
    /// Devices whose beats wait for their minute to end.
    private var gathering: [ObjectIdentifier: LiveDevice] = [:]
    private var isWatchingBeats = false
    /// Devices that were heard, by address, and those heard since their state was stored last.
    private var heard: [String: LiveDevice] = [:]
    private var unsaved: Set<String> = []
    /// Those with samples that wait.
    private var contributing: Set<String> = []
    /// States as they were stored last, by address.
    private var saved: [String: String] = [:]

    /// Attempts to write that failed in one way, since the last that did not.
    private struct Failing {
        var error: any Error
        var attempts = 0
        /// The uptime of the first.
        var since: Duration
        /// Of what kind the failure was that was spoken of last.
        var told: StoreError.Kind?
    }

    /// For the log; never with a value or a name.
    public var onNotice: (SourceNotice) -> Void = { _ in }
    /// What passes this door, in its order, before anything is made of it; a recording listens here.
    public var onEvent: ((LiveEvent) -> Void)? {
        // A recording cannot know of beats that came before it.
        willSet { if onEvent == nil, newValue != nil { finishBeats() } }
    }
    /// Before each commit.
    package var beforeCommit: (() -> Void)?
    /// After each commit.
    public var onCommit: () -> Void = {}
    /// After each attempt to commit that failed and is made again.
    public var onDelay: () -> Void = {}
    /// The store takes nothing any more; going on would lose readings.
    public var onFailure: (any Error) -> Void = { _ in }

    /// By person: what is estimated of the impedances of a scale; nothing where nobody asked for it.
    public var estimates: [String: [ImpedanceFormula]] = [:] {
        didSet { weighings = LiveEstimates() }
    }

    /// How long a stream's readings wait at most for one another, and thus what a power cut can take of them.
    public var commitEvery = Duration.seconds(usualCommitSeconds) {
        didSet { if due != nil, failing == nil { arm(within: commitEvery) } }
    }

    /// Whether streams, too, are committed within a second; what waits when that begins is committed at once.
    public var isHurried = false {
        didSet { if isHurried, !oldValue { commitDue() } }
    }

    /// Writes a tenth of what a commit a second does, and is little to lose of what comes all day.
    public static let usualCommitSeconds = 30
    private static let soon = Duration.seconds(1)
    /// More than any streams bring in a minute: what comes so fast is written each second, and memory stays small.
    private static let manyPending = 4096
    /// While another process changes the store, sources must not wait for it with the loop: a serial port's buffer is soon full.
    private static let patience = Duration.milliseconds(200)
    /// An import or a repair that holds the store for so long is nothing to speak of.
    private static let usualLock = Duration.seconds(15)
    /// After so long without a reading, a device that measures now and then has delivered what it had.
    public static let quiet = Duration.seconds(3)
    /// Samples that wait for a store that fails: about a day of a strap.
    private static let maximumPending = 100_000

    /// - Parameters:
    ///   - zone: the zone of the ledger's days, until ``use(zone:)`` gives another.
    ///   - ingest: of a recording that is replayed: takes all of it, whatever day it is, and no device is remembered.
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

    /// Why nothing can be committed, while that is so.
    public var failure: (any Error)? { failing?.error }
    /// Attempts to write that failed in that way.
    public var failures: Int { failing?.attempts ?? 0 }

    /// How many samples wait for a commit.
    public var waitingSamples: Int { pending.samples.count }

    /// Whether the store does not take what waits, and starting the hub again may mend that. It does not where the disk is full or
    /// another process holds the store: then readings wait.
    public var isStuck: Bool {
        guard let failure else { return false }
        guard let error = failure as? StoreError else { return true }
        return error.kind != .full && !error.isLockOfAnother
    }

    /// Whether what is to be expected of a device is durable: a stream has begun, or what else it had has come.
    public func isComplete(_ device: LiveDevice) -> Bool {
        guard delivered.contains(device.adopted.address) else { return false }
        guard device.expectedInterval == nil, !device.isAdvertiser, let last = device.activity.last else { return true }
        return loop.clock.uptime - last.uptime >= Self.quiet
    }

    // MARK: What sources bring

    /// Takes a frame of a device; its bytes are needed no longer than the call.
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
            // What a battery says comes with the link, before the device has measured anything.
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
        // Counts reach the ledger with the next samples: nothing is written for a device that says nothing new.
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

    /// Whose the last samples are, where the device is shared. Where the store cannot tell what it knows, they stay nobody's: a person can
    /// assign them later.
    private func assign(from first: Int, of device: LiveDevice) {
        let sharers = device.adopted.sharers
        shared[device.key] = sharers.isEmpty ? nil : sharers
        do {
            try SharedScale(store: store).assign(&pending.samples, from: first, of: device)
        } catch {
            onNotice(SourceNotice(.warning, "store", "readings are left unassigned: \(error)"))
        }
    }

    /// Counts something that a source left out, such as bytes of noise before a frame.
    public func skip(_ kind: SkipKind, count: Int = 1) {
        onEvent?(.skip(kind, count))
        skipped[kind, default: 0] += count
    }

    /// What comes of a device from now on, up to the next settling, is its whole memory.
    public func beginRecords(of device: LiveDevice) {
        onEvent?(.records(device))
        device.beginRecords()
    }

    /// Notes what came as a frame and cannot be read as one.
    public func refuse(_ refusal: Refusal) {
        onEvent?(.refuse(refusal))
        entered += refusal.readings
        pending.refusals.append(refusal)
        arm()
    }

    /// The device for another zone; the same object where the zone is the same. What was received is read in the zone of before.
    public func move(_ device: LiveDevice, to zone: TimeZoneRules) -> LiveDevice {
        guard device.zone != zone else { return device }
        finishStream(of: device)
        let moved = device.moved(to: zone)
        if heard[device.adopted.address] === device { heard[device.adopted.address] = moved }
        return moved
    }

    /// Ends the stream of a device: what was held back for its time is settled.
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

    /// Beats of a device that has fallen silent are not waited for.
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

    /// A minute of beats is over for a device that said nothing for so long.
    private static let silence = Duration.seconds(60)

    /// Makes all that came of a device durable at once, together with what is known of it; then calls `confirm`, later where the store
    /// fails for now.
    public func commit(_ device: LiveDevice, confirm: @escaping () -> Void) {
        onEvent?(.commit(device))
        let before = pending.samples.count
        finish(device)
        assign(from: before, of: device)
        arrivals.insert(device.adopted.address)
        waiting.append(confirm)
        flush()
    }

    /// Keeps what is known of a device with the next commit.
    public func remember(_ device: AdoptedDevice) {
        changed[device.address] = device
        arm()
    }

    /// A device's clock was read. Its times are corrected from now on where it is off.
    /// - Parameters:
    ///   - ahead: how far it is ahead of a right clock in our zone, in microseconds.
    ///   - ofUTC: how far what it shows is ahead of UTC, in microseconds.
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

    /// Has a device's times corrected as they were before the hub was started. Where the store cannot tell, its clock is learned anew.
    package func recallClock(of device: LiveDevice) {
        device.lastComparison = { [store] in try? store.lastClockComparison(of: $0) }
    }

    /// Has a device go on where it was: in the object that read it before, else in the store.
    private func recallState(of device: LiveDevice, after before: LiveDevice?) {
        guard device.lastState == nil else { return }
        let state = before?.state
        device.lastState = { [store] address in state ?? (try? store.state(ofDevice: address)) }
    }

    /// What is known of the streams, where it is another than was stored.
    private func states(of addresses: Set<String>) -> [DeviceState] {
        addresses.sorted().compactMap { heard[$0]?.state }.filter { saved[$0.address] != $0.text }
    }

    /// Says it, and has the ledger remember it.
    fileprivate func note(_ notice: SourceNotice) {
        onNotice(notice)
        ledger.note(notice.description)
        arm()
    }

    /// Behind a commit: nothing waits for it.
    private func lookAtUnits() {
        do {
            for suspicion in try units.look(in: store) {
                let (stretch, series) = (suspicion.stretch, suspicion.series)
                let text =
                    "\(stretch.count) of its readings of \(series.type.id) would fit far better in \(stretch.fits.code) than in "
                    + "\(stretch.taken.code); 'vitalgate migrate suggest' tells more"
                note(SourceNotice(.action, series.device.isEmpty ? series.source : series.device, text))
            }
        } catch {
            onNotice(SourceNotice(.warning, "store", "it could not be looked for wrong units: \(error)"))
        }
    }

    /// Behind a commit: what it brought of weighings.
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

    /// Our own clock was set, by so many microseconds: moves what waits, and has what is stored corrected before anything more is.
    ///
    /// - Parameter correct: corrects what is stored; called again where the store fails for now.
    package func clockWasSet(by step: Int64, correct: @escaping () throws -> Void) {
        onEvent?(.step(step))
        for index in pending.samples.indices { pending.samples[index].move(by: step) }
        // A clock that agreed with ours was as wrong.
        comparisons = comparisons.compactMap { $0.moved(by: step) }
        changes.append(correct)
        flush()
    }

    /// Has the store changed behind the changes that wait for it already, and before any sample that does; `change` is called again where
    /// the store fails for now.
    package func change(_ change: @escaping () throws -> Void) {
        changes.append(change)
        arm()
    }

    /// Whether the store is still where it was; the hub ends where it is not.
    package func hasStore() -> Bool {
        do throws(StoreError) {
            try store.checkPlace()
            return true
        } catch {
            failed(error)
            return false
        }
    }

    /// Reads local times, and tells one day from the next, by another zone.
    public func use(zone: TimeZoneRules) { ledger.zone = zone }
    package var zone: TimeZoneRules { ledger.zone }

    /// Commits what is left and closes the ledger's account. Every source has been stopped before.
    /// - Parameter state: how the account is closed.
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

    /// Commits what waits, without waiting any longer: the power is about to fail, or somebody wants to see it.
    public func commitNow() {
        finishBeats()
        commitDue()
    }

    private func finishBeats() {
        // In an order that does not change from run to run.
        for device in gathering.values.sorted(by: { $0.adopted.address < $1.adopted.address }) { finishStream(of: device) }
    }

    private func commitDue() {
        // A store that failed is tried again in its own time.
        if due != nil, failing == nil { flush() }
    }

    /// Of a device's readings.
    /// - Parameter heldFor: how long their source kept them: it counts as waiting.
    private func arm(for device: LiveDevice, heldFor: Duration = .zero) {
        let mayWait = device.isStream && hasCommitted && !isHurried && pending.samples.count < Self.manyPending
        arm(within: mayWait ? max(.zero, commitEvery - max(.zero, heldFor)) : Self.soon)
    }

    /// Has what waits committed by then, or before where that is settled already.
    private func arm(within delay: Duration = soon) {
        let at = loop.clock.uptime + delay
        // A store that failed is tried again in its own time, whatever comes meanwhile.
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

    /// A full disk may be mended, and a lock goes away: readings wait, up to a point. What no waiting mends ends the hub at once, with what
    /// is durable as it is.
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
        // Behind the samples: what is held for want of a comparison is released at once.
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
        // Whose they are is decided again, where nobody writes meanwhile: an import may have brought the same weighing.
        var decided = pending.samples
        var mistakes: [EarlierMistakes] = []
        // What the devices' streams are at goes with their samples: each is durable only with the other.
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
    /// Takes earlier weighings of somebody else from a person. What is left is found with the next weighing.
    fileprivate func repair(_ mistake: EarlierMistakes) throws {
        guard let done = try mistake.repair(in: store, now: now(), owner: ProcessIdentity.current()) else { return }
        let text =
            "\(done.count) earlier weighings are of somebody else than later ones, and are nobody's now (unassigned); "
            + "'vitalgate migrate undo \(done.migration)' gives them back"
        note(SourceNotice(.action, "weights", text))
    }
}

extension GatedSample {
    /// Moves what has its time from our own clock; who it is stays what that clock said.
    fileprivate mutating func move(by step: Int64) {
        sample.received.microseconds &+= step
        guard sample.timeOrigin != .device else { return }
        sample.start.microseconds &+= step
        sample.end.microseconds &+= step
        if sample.timeOrigin == .receipt, rule == .clockUnknown { (rule, frame) = (nil, nil) }
        sample.timeOrigin = .deviceCorrected
    }
}
