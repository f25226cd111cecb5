/// The decisions about one device's connection. Pure: it has no I/O, no clock and no bus.
///
///     idle ─seen─▶ queued ─turn─▶ connecting ─▶ resolving ─▶ working(step…) ─▶ live ─▶ leaving ─▶ waiting ─▶ idle
///                                   └────────────┴──────────────┴── failure ────┴────▶ waiting (back-off) │ blocked
///
/// The steps, in this order: the subscriptions of a stream, Device Information (once), reading the clock (as evidence before anything is
/// set), the listed reads, subscriptions, stored records, and the confirmation of their commit. The clock is set last, because setting it
/// earlier would change the meaning of stored records.
struct ConnectionMachine {
    let description: DeviceDescription
    let limits: ConnectionLimits
    var state: State = .stopped
    /// The time of the next `tick`.
    var deadline: Duration?
    var informationKnown: Bool
    var hadGoodSession: Bool
    /// The characteristics whose notifications are enabled now.
    private(set) var subscribed: Set<CharacteristicName> = []

    private let random: () -> Double
    var steps: [Step] = []
    /// The steps that were done on this link and are still valid.
    private var done: Set<Step> = []
    /// Whether the device is bonded. BlueZ keeps the keys, and forgetting the device would lose them.
    var isBonded = false
    /// Whether a required bond is missing. Any device can use an address, so only the bond proves the device's identity.
    var lacksBond: Bool { description.needsBond && !isBonded }
    /// Optional characteristics that were unavailable or ended a link. They are not requested again.
    private var givenUp: Set<CharacteristicName> = []
    /// The number of links that ended while a characteristic was requested.
    private var strikes: [CharacteristicName: Int] = [:]
    /// The reason why the last attempt failed.
    private(set) var lastFailure: LinkFailure?
    /// The characteristics for which BlueZ's table was dropped.
    private var distrusted: Set<CharacteristicName> = []
    /// The characteristics whose last request for notifications was never answered.
    private var unanswered: Set<CharacteristicName> = []
    /// The time since which the device's measurements wait for its answers.
    var asksSince: Duration?
    private var available: Set<CharacteristicName> = []
    var failures = 0
    private var authenticationFailures = 0
    private var missingBefore: Set<CharacteristicName> = []
    private var staleFailures: [CharacteristicName: Int] = [:]
    private var repeats = 0
    var silence = Silence()
    var reportedNotices: Set<ConnectionNotice> = []
    private var lastSeen: Duration?
    var lastFrame: Duration = .zero
    private var hasTurn = false

    struct Silence {
        /// 0: no measure taken. 1: resubscribed.
        var tier = 0
        /// Consecutive reconnections without a frame.
        var rounds = 0
    }

    /// - Parameter random: returns a number from 0 up to 1, for the jitter.
    init(
        _ description: DeviceDescription, memory: DeviceMemory = DeviceMemory(), limits: ConnectionLimits = ConnectionLimits(),
        random: @escaping () -> Double
    ) {
        self.description = description
        self.limits = limits
        self.random = random
        informationKnown = memory.device != nil
        hadGoodSession = memory.hadGoodSession
    }

    mutating func handle(_ event: Event, at now: Duration) -> [Command] {
        switch event {
        case .start: return state == .stopped || isBlocked ? enterIdle(now) : []
        case .stop: return stop()
        case .seen: return seen(now)
        case .turn: return turn(now)
        case .connected: return connected(now)
        case .connectFailed(let failure): return connectFailed(failure, now)
        case .resolved(let names, let unchanged): return resolved(names, unchanged, now)
        case .linkLost:
            giveUpAccompaniment()
            return linkLost(now)
        case .finished(let step, let outcome): return finished(step, outcome, now)
        case .progress(let step): return progress(step, now)
        case .frame: return frame(now)
        case .servicesLost:
            // The device is silent until BlueZ shows the services again. That is not a reason to disconnect.
            if state == .live || isWorking { deadline = now + limits.resolve + limits.pause }
            return []
        case .bonded:
            isBonded = true
            return isBlocked ? enterIdle(now) : []
        case .unbonded:
            isBonded = false
            return lacksBond && state != .stopped && !isBlocked ? awaitBond() : []
        case .tick: return tick(now)
        }
    }

    var isBlocked: Bool { if case .blocked = state { true } else { false } }
    /// Whether the machine waits, with its link open, for services that were removed.
    var hasMoved: Bool { if case .blocked(.moved) = state { true } else { false } }
    private var isWorking: Bool { if case .working = state { true } else { false } }
    private var hasLink: Bool { state == .resolving || state == .live || state == .leaving || isWorking }

    // MARK: Towards the link

    private mutating func enterIdle(_ now: Duration) -> [Command] {
        state = .idle
        deadline = nil
        authenticationFailures = 0
        reportedNotices.subtract([.needsPairing, .bondRefused])
        return wasSeen(now) ? queue() : []
    }

    func wasSeen(_ now: Duration) -> Bool { lastSeen.map { now - $0 <= limits.seenFor } ?? false }

    private mutating func stop() -> [Command] {
        guard state != .stopped else { return [] }
        let disconnects = hasLink || state == .connecting
        state = .stopped
        deadline = nil
        steps = []
        subscribed = []
        return release() + (disconnects ? [.disconnect] : [])
    }

    private mutating func seen(_ now: Duration) -> [Command] {
        lastSeen = now
        return state == .idle ? queue() : []
    }

    mutating func queue() -> [Command] {
        guard description.presence != .adverts else { return [] }
        if lacksBond { return awaitBond() }
        state = .queued
        deadline = nil
        return [.requestTurn]
    }

    private mutating func turn(_ now: Duration) -> [Command] {
        guard state == .queued else { return [.releaseTurn] }
        hasTurn = true
        state = .connecting
        deadline = now + limits.connect
        return [.connect]
    }

    private mutating func connected(_ now: Duration) -> [Command] {
        switch state {
        case .connecting, .idle, .waiting, .queued:
            if lacksBond { return awaitBond() }
            state = .resolving
            deadline = now + limits.resolve
            return []
        case .stopped, .resolving, .working, .live, .leaving, .blocked: return []
        }
    }

    private mutating func connectFailed(_ failure: LinkFailure, _ now: Duration) -> [Command] {
        guard state == .connecting || state == .resolving else { return [] }
        return fail(failure, now)
    }

    private mutating func resolved(
        _ names: Set<CharacteristicName>, _ unchanged: Set<CharacteristicName>, _ now: Duration
    ) -> [Command] {
        switch state {
        case .connecting, .idle, .waiting, .queued, .resolving:
            if lacksBond { return awaitBond() }
            done = []
        // The services moved (Service Changed). Steps on unchanged services stay done, and the others are repeated.
        case .live, .working, .blocked(.moved): done = done.filter { $0.remainsDone(on: unchanged, of: description) }
        case .stopped, .leaving, .blocked: return []
        }
        let isLiving = state == .live || isWorking || isBlocked
        available = names
        subscribed = subscribed.filter { done.contains(.subscribe($0)) }
        repeats = 0
        asksSince = now
        let (plan, missing) = ConnectionPlan.steps(
            description, available: names, informationKnown: informationKnown, givenUp: givenUp)
        steps = plan.filter { !done.contains($0) }
        if distrusts(missing) { return dropCache(now) }
        // After a reconnection BlueZ would keep the wrong table permanently, and not even forgetting the device would help.
        if isLiving, isBonded, let name = missing.first { return block(.moved(name), disconnects: false) }
        // The first table may be incomplete, for example if the link was lost while BlueZ bonded. So report only what is missing twice.
        let again = missing.filter { missingBefore.contains($0) }
        missingBefore = Set(missing)
        return release() + again.flatMap { notify(.missing($0)) } + next(now)
    }

    // MARK: The steps

    mutating func next(_ now: Duration) -> [Command] {
        guard !steps.isEmpty else { return goLive(now) }
        let step = steps.removeFirst()
        state = .working(step)
        // Records and dialogues have their own time limits, and the commit depends on the caller.
        let hasOwnTimeLimit = step == .converse || step == .collect || step == .commit
        deadline = hasOwnTimeLimit ? nil : now + limits.step
        let slow = notifyIfSlow(now)
        if hasOwnTimeLimit { asksSince = nil }
        return slow + [.perform(step)]
    }

    private mutating func finished(_ step: Step, _ outcome: Outcome, _ now: Duration) -> [Command] {
        guard state == .working(step) else { return [] }
        switch outcome {
        case .done:
            repeats = 0
            done.insert(step)
            if step == .information { informationKnown = true }
            if case .subscribe(let name) = step {
                subscribed.insert(name)
                unanswered.remove(name)
                staleFailures[name] = nil
                distrusted.remove(name)
                reportedNotices.subtract([.staleCache(name), .notEnabled(name), .missing(name)])
            }
            if case .unsubscribe(let name) = step {
                subscribed.remove(name)
                done.remove(.subscribe(name))
            }
            return next(now)
        case .failed(let failure): return failed(step, failure, now)
        }
    }

    /// Gives up an optional characteristic. A battery that needs a bond, or a broken service, must not cost the rest of the device.
    mutating func giveUpAccompaniment() {
        guard case .working(let step) = state, let name = accompaniment(step) else { return }
        strikes[name, default: 0] += 1
        if strikes[name] == 2 { givenUp.insert(name) }
    }

    private func accompaniment(_ step: Step) -> CharacteristicName? {
        switch step {
        case .read(let name), .subscribe(let name), .unsubscribe(let name):
            description.accompaniments.contains(name) ? name : nil
        default: nil
        }
    }

    private mutating func failed(_ step: Step, _ failure: LinkFailure, _ now: Duration) -> [Command] {
        if let name = accompaniment(step), failure != .inProgress || repeats >= limits.repeats {
            repeats = 0
            if [.noAnswer, .notConnected, .notReady, .unknownObject].contains(failure) {
                giveUpAccompaniment()
                return fail(failure, now)
            }
            if failure == .authentication || failure == .accessDenied { givenUp.insert(name) }
            return next(now)
        }
        switch failure {
        case .noAnswer, .authentication, .notConnected, .notReady, .accessDenied, .unknownObject, .absent:
            return fail(failure, now)
        case .inProgress, .procedureRunning:
            // BlueZ has not finished an earlier operation, often another client's StopNotify. It will be done in a moment.
            guard repeats < limits.repeats else { break }
            repeats += 1
            steps.insert(step, at: 0)
            deadline = now + limits.pause
            return []
        case .stale, .acquired, .other: break
        }
        repeats = 0
        // The uncollected records depend on the clock as it is, so setting it would change their meaning.
        if step == .collect { steps.removeAll { $0 == .setClock } }
        guard case .subscribe(let name) = step else { return next(now) }
        // If BlueZ did not answer our own request, no other program has the notifications.
        if failure == .acquired, unanswered.contains(name), distrusts([name]) { return dropCache(now) }
        if failure == .stale {
            if distrusts([name]) { return dropCache(now) }
            staleFailures[name, default: 0] += 1
            if staleFailures[name] == 1 { return fail(.stale, now) }
            return notify(.staleCache(name)) + next(now)
        }
        return notify(.notEnabled(name)) + next(now)
    }

    /// Makes BlueZ forget the device over the link whose table was wrong. BlueZ then disconnects by itself. After another link it would
    /// keep that table (seen with 5.66). The device is discovered again when it advertises.
    private mutating func dropCache(_ now: Duration) -> [Command] {
        [.dropCache] + wait(limits.resolve, now)
    }

    /// Whether to drop BlueZ's table because of these characteristics. This is done once until they work, and never if it costs a bond,
    /// which only the user can restore.
    private mutating func distrusts(_ names: [CharacteristicName]) -> Bool {
        guard !isBonded, !names.isEmpty, !distrusted.isSuperset(of: names) else { return false }
        distrusted.formUnion(names)
        return true
    }

    private mutating func goLive(_ now: Duration) -> [Command] {
        // None of the subscriptions could be enabled, so the link is useless.
        if !description.allSubscriptions.isEmpty, subscribed.isDisjoint(with: description.allSubscriptions) {
            return fail(.other, now)
        }
        state = .live
        failures = 0
        lastFailure = nil
        authenticationFailures = 0
        asksSince = nil
        reportedNotices = reportedNotices.filter { if case .unanswered = $0 { false } else { true } }
        reportedNotices.subtract([.needsPairing, .bondRefused, .accessDenied, .notResolved])
        lastFrame = now
        deadline = quietLimit.map { now + $0 }
        return [.observe(.worked)]
    }

    // MARK: Failure

    mutating func fail(_ failure: LinkFailure, _ now: Duration) -> [Command] {
        failures += 1
        lastFailure = failure
        switch failure {
        case .authentication:
            authenticationFailures += 1
            // Without a bond, retrying is useless. With one, a device that is busy or out of range may refuse once or twice. After that
            // only a new bond helps, and endless retries would drain its battery (story 8).
            let bond: ConnectionNotice = hadGoodSession ? .bondRefused : .needsPairing
            if bond == .needsPairing || authenticationFailures > limits.authenticationRetries { return block(bond) }
        case .accessDenied: return block(.accessDenied)
        case .noAnswer where state == .connecting:
            // BlueZ normally ends each attempt by itself. If it does not, BlueZ is stuck. A step without an answer may be the device's
            // fault.
            return [.observe(.noAnswer)] + leave(after: backOff(), now)
        case .noAnswer:
            if case .working(.subscribe(let name)) = state { unanswered.insert(name) }
            if case .working(let step) = state { return notify(.unanswered(step.waitedFor)) + leave(after: backOff(), now) }
        case .absent, .inProgress, .notReady, .notConnected, .stale, .acquired, .procedureRunning, .unknownObject, .other: break
        }
        return leave(after: backOff(), now)
    }

    /// Waits for the user to create a bond. Keeps a link of another program, because the bond may be made over it.
    private mutating func awaitBond() -> [Command] {
        block(.needsPairing, disconnects: hasLink || state == .connecting)
    }

    private mutating func block(_ notice: ConnectionNotice, disconnects: Bool = true) -> [Command] {
        state = .blocked(notice)
        deadline = nil
        steps = []
        subscribed = []
        return release() + notify(notice) + (disconnects ? [.disconnect] : [])
    }

    mutating func leave(after delay: Duration, _ now: Duration) -> [Command] {
        // Disconnect also cancels an unanswered Connect (BlueZ, org.bluez.Device1, Disconnect).
        wait(delay, now) + [.disconnect]
    }

    mutating func wait(_ delay: Duration, _ now: Duration) -> [Command] {
        state = .waiting
        steps = []
        subscribed = []
        deadline = now + delay
        return release()
    }

    /// 1, 2, 4 … seconds up to the limit. The upper half is random, so that twenty devices do not reconnect at once.
    func backOff() -> Duration {
        let doubled = limits.backOff * Int(1 << min(max(failures - 1, 0), 12))
        return min(doubled, limits.maximumBackOff) * (0.5 + 0.5 * random())
    }

    private mutating func release() -> [Command] {
        guard hasTurn || state == .stopped else { return [] }
        hasTurn = false
        return [.releaseTurn]
    }

    mutating func notify(_ notice: ConnectionNotice) -> [Command] {
        reportedNotices.insert(notice).inserted ? [.notify(notice)] : []
    }
}
