/// What to do about one device, decided from events alone: no I/O, no clock, no bus.
///
///     idle ─seen─▶ queued ─turn─▶ connecting ─▶ resolving ─▶ working(step…) ─▶ live ─▶ leaving ─▶ waiting ─▶ idle
///                                   └────────────┴──────────────┴── failure ────┴────▶ waiting (back-off) │ blocked
///
/// The steps, in this order: the subscriptions of a stream, Device Information once, the clock read (evidence before anything is set), the listed reads, subscriptions,
/// stored records, their commit confirmed, and only then the clock set: a clock set earlier would change what stored records say.
struct ConnectionMachine {
    let description: DeviceDescription
    let limits: ConnectionLimits
    var state: State = .stopped
    /// When `tick` is wanted next.
    var deadline: Duration?
    var informationKnown: Bool
    var hadGoodSession: Bool
    /// What is enabled now.
    private(set) var subscribed: Set<CharacteristicName> = []

    private let random: () -> Double
    var steps: [Step] = []
    /// What was done on this link and stands.
    private var done: Set<Step> = []
    /// BlueZ keeps the keys of a bond; forgetting the device would lose them.
    var isBonded = false
    /// Anybody can speak under an address. Where the profile wants a bond, only the bond tells that it is the device.
    var lacksBond: Bool { description.needsBond && !isBonded }
    /// What nobody needs and what ended a link, or could not be had: it is not asked for again.
    private var givenUp: Set<CharacteristicName> = []
    /// Links that ended while it was asked for.
    private var strikes: [CharacteristicName: Int] = [:]
    /// Why the last attempt came to nothing.
    private(set) var lastFailure: LinkFailure?
    /// What BlueZ's table was dropped for.
    private var distrusted: Set<CharacteristicName> = []
    /// Since when the device is asked, while its measurements wait for its answers.
    var asksSince: Duration?
    private var available: Set<CharacteristicName> = []
    var failures = 0
    private var authenticationFailures = 0
    private var missingBefore: Set<CharacteristicName> = []
    private var staleFailures: [CharacteristicName: Int] = [:]
    private var repeats = 0
    var silence = Silence()
    var told: Set<ConnectionNotice> = []
    private var lastSeen: Duration?
    var lastFrame: Duration = .zero
    private var holdsTurn = false

    struct Silence {
        /// 0: all well; 1: resubscribed.
        var tier = 0
        /// Reconnections in a row without a frame.
        var rounds = 0
    }

    /// - Parameter random: 0 up to 1, for the jitter.
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
        case .resolved(let names, let kept): return resolved(names, kept, now)
        case .linkLost:
            giveUpAccompaniment()
            return linkLost(now)
        case .finished(let step, let outcome): return finished(step, outcome, now)
        case .progress(let step): return progress(step, now)
        case .frame: return frame(now)
        case .servicesGone:
            // The device is silent until BlueZ shows them again. That is no reason to hang up.
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
    /// It waits, over its link, for services that are gone.
    var hasMoved: Bool { if case .blocked(.moved) = state { true } else { false } }
    private var isWorking: Bool { if case .working = state { true } else { false } }
    private var hasLink: Bool { state == .resolving || state == .live || state == .leaving || isWorking }

    // MARK: Towards the link

    private mutating func enterIdle(_ now: Duration) -> [Command] {
        state = .idle
        deadline = nil
        authenticationFailures = 0
        told.subtract([.needsPairing, .bondRefused])
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
        holdsTurn = true
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
        _ names: Set<CharacteristicName>, _ kept: Set<CharacteristicName>, _ now: Duration
    ) -> [Command] {
        switch state {
        case .connecting, .idle, .waiting, .queued, .resolving:
            if lacksBond { return awaitBond() }
            done = []
        // Its services moved (Service Changed): what still stands stays, and the rest is done again.
        case .live, .working, .blocked(.moved): done = done.filter { $0.stands(on: kept, of: description) }
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
        // To hang up and connect again would have BlueZ keep the wrong table for good, so that not even forgetting the device helps.
        if isLiving, isBonded, let name = missing.first { return block(.moved(name), disconnects: false) }
        // The first table may be incomplete, as where the link was lost while BlueZ bonded: only what is missing again is missing.
        let again = missing.filter { missingBefore.contains($0) }
        missingBefore = Set(missing)
        return release() + again.flatMap { tell(.missing($0)) } + next(now)
    }

    // MARK: The steps

    mutating func next(_ now: Duration) -> [Command] {
        guard !steps.isEmpty else { return goLive(now) }
        let step = steps.removeFirst()
        state = .working(step)
        // Records and dialogues have time limits of their own, and a commit is the caller's to make.
        let takesItsTime = step == .converse || step == .collect || step == .commit
        deadline = takesItsTime ? nil : now + limits.step
        let slow = tellIfSlow(now)
        if takesItsTime { asksSince = nil }
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
                staleFailures[name] = nil
                distrusted.remove(name)
                told.subtract([.staleCache(name), .notEnabled(name), .missing(name)])
            }
            if case .unsubscribe(let name) = step {
                subscribed.remove(name)
                done.remove(.subscribe(name))
            }
            return next(now)
        case .failed(let failure): return failed(step, failure, now)
        }
    }

    /// A battery that wants a bond, or a service that is not what it says, is no reason to do without the device.
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
            // BlueZ has not finished what came before, often an earlier client's StopNotify: a moment later it has.
            guard repeats < limits.repeats else { break }
            repeats += 1
            steps.insert(step, at: 0)
            deadline = now + limits.pause
            return []
        case .stale, .other: break
        }
        repeats = 0
        // Records that were not collected were written by the device's clock as it is; setting it would change what they say.
        if step == .collect { steps.removeAll { $0 == .setClock } }
        guard case .subscribe(let name) = step else { return next(now) }
        if failure == .stale {
            if distrusts([name]) { return dropCache(now) }
            staleFailures[name, default: 0] += 1
            if staleFailures[name] == 1 { return fail(.stale, now) }
            return tell(.staleCache(name)) + next(now)
        }
        return tell(.notEnabled(name)) + next(now)
    }

    /// BlueZ forgets the device over the link on which the table was found wrong, and hangs up itself. After another link it would keep that
    /// table (seen with 5.66). It is found anew when it is heard.
    private mutating func dropCache(_ now: Duration) -> [Command] {
        [.dropCache] + wait(limits.resolve, now)
    }

    /// Whether the table that BlueZ keeps is to be dropped for the sake of these: once, until they work, and never at the price of a
    /// bond, which only a person can make again.
    private mutating func distrusts(_ names: [CharacteristicName]) -> Bool {
        guard !isBonded, !names.isEmpty, !distrusted.isSuperset(of: names) else { return false }
        distrusted.formUnion(names)
        return true
    }

    private mutating func goLive(_ now: Duration) -> [Command] {
        // Nothing of what is wanted could be enabled: the link is of no use.
        if !description.allSubscriptions.isEmpty, subscribed.isDisjoint(with: description.allSubscriptions) {
            return fail(.other, now)
        }
        state = .live
        failures = 0
        lastFailure = nil
        authenticationFailures = 0
        asksSince = nil
        told = told.filter { if case .unanswered = $0 { false } else { true } }
        told.subtract([.needsPairing, .bondRefused, .accessDenied, .notResolved])
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
            // Without a bond there is nothing to retry. With one, a device that was busy or out of range may refuse once or twice;
            // after that only a new bond helps, and trying for ever would drain its battery (story 8).
            let bond: ConnectionNotice = hadGoodSession ? .bondRefused : .needsPairing
            if bond == .needsPairing || authenticationFailures > limits.authenticationRetries { return block(bond) }
        case .accessDenied: return block(.accessDenied)
        case .noAnswer where state == .connecting:
            // BlueZ ends each attempt by itself; where it does not, it is stuck. A step without an answer may be the device's fault.
            return [.observe(.noAnswer)] + leave(after: backOff(), now)
        case .noAnswer:
            if case .working(let step) = state { return tell(.unanswered(step.waitedFor)) + leave(after: backOff(), now) }
        case .absent, .inProgress, .notReady, .notConnected, .stale, .procedureRunning, .unknownObject, .other: break
        }
        return leave(after: backOff(), now)
    }

    /// Only a person makes a bond. A link that another program holds may be the one over which it is made.
    private mutating func awaitBond() -> [Command] {
        block(.needsPairing, disconnects: hasLink || state == .connecting)
    }

    private mutating func block(_ notice: ConnectionNotice, disconnects: Bool = true) -> [Command] {
        state = .blocked(notice)
        deadline = nil
        steps = []
        subscribed = []
        return release() + tell(notice) + (disconnects ? [.disconnect] : [])
    }

    mutating func leave(after delay: Duration, _ now: Duration) -> [Command] {
        // Disconnect also cancels a Connect that was not answered (BlueZ, org.bluez.Device1, Disconnect).
        wait(delay, now) + [.disconnect]
    }

    mutating func wait(_ delay: Duration, _ now: Duration) -> [Command] {
        state = .waiting
        steps = []
        subscribed = []
        deadline = now + delay
        return release()
    }

    /// 1, 2, 4 … seconds up to the limit, the upper half of it by chance, so that twenty devices do not come at once.
    func backOff() -> Duration {
        let doubled = limits.backOff * Int(1 << min(max(failures - 1, 0), 12))
        return min(doubled, limits.longestBackOff) * (0.5 + 0.5 * random())
    }

    private mutating func release() -> [Command] {
        guard holdsTurn || state == .stopped else { return [] }
        holdsTurn = false
        return [.releaseTurn]
    }

    mutating func tell(_ notice: ConnectionNotice) -> [Command] { told.insert(notice).inserted ? [.tell(notice)] : [] }
}
