/// What discovery is asked to report (BlueZ, org.bluez.Adapter1, SetDiscoveryFilter).
public struct DiscoveryFilter: Hashable, Sendable {
    /// Empty: devices of any service.
    public var services: [BluetoothUUID] = []
    /// Each advertisement is told, also one that repeats the last; it costs work, so only where adverts carry readings.
    public var duplicates = false

    /// Devices of any service, without repetitions.
    public init() {}
}

/// Keeps discovery as it is wanted, whatever BlueZ claims: pure, answers and properties in, calls out.
///
/// BlueZ may say that it discovers when it does not, refuse to start what is not running and to stop what is (stories 2, 3). So the
/// property alone is never believed, a failed stop is never an error of what was found, and contradictions go to the recovery.
struct DiscoveryMachine {
    enum State: Equatable {
        case off
        case configuring
        case starting
        /// Start said "in progress": whatever session there is, is stopped first.
        case clearing
        case startingAgain
        case on
        case stopping
        /// Waits before the next try.
        case waiting
    }

    enum Call: Equatable {
        case configure, start, stop
    }

    enum Event: Equatable {
        case want(DiscoveryFilter?)
        case answered(Call, LinkFailure?)
        /// The property.
        case discovering(Bool)
        case restart
        /// The adapter or the daemon is gone, and with it every session.
        case lost
        case tick
    }

    enum Command: Equatable {
        case configure(DiscoveryFilter)
        case start
        case stop
        case observe(Recovery.Observation)
    }

    private(set) var state: State = .off
    private(set) var deadline: Duration?
    private var wanted: DiscoveryFilter?
    private var claimed = false
    private var restarting = false
    private var stopTries = 0
    private var startTries = 0

    /// BlueZ pauses discovery while it connects, so that a false claim has to last.
    private let tolerance: Duration = .seconds(60)
    private let pause: Duration = .seconds(5)

    init() {}

    mutating func handle(_ event: Event, at now: Duration) -> [Command] {
        switch event {
        case .want(let filter): return want(filter)
        case .answered(let call, let failure): return answered(call, failure, now)
        case .discovering(let value):
            claimed = value
            if state == .on { deadline = value ? nil : deadline ?? now + tolerance }
            return []
        case .restart:
            guard state == .on || state == .waiting else { return [] }
            restarting = true
            return stop()
        case .lost:
            state = .off
            deadline = nil
            claimed = false
            return []
        case .tick: return tick(now)
        }
    }

    private mutating func want(_ filter: DiscoveryFilter?) -> [Command] {
        let before = wanted
        wanted = filter
        switch state {
        case .off: return filter == nil ? [] : begin()
        case .on:
            guard let filter else { return stop() }
            // A filter can be replaced while discovery runs.
            return filter == before ? [] : [.configure(filter)]
        case .waiting:
            if filter == nil {
                state = .off
                deadline = nil
            }
            return []
        case .configuring, .starting, .clearing, .startingAgain, .stopping: return []
        }
    }

    private mutating func begin() -> [Command] {
        guard let wanted else { return [] }
        state = .configuring
        deadline = nil
        return [.configure(wanted)]
    }

    private mutating func stop() -> [Command] {
        state = .stopping
        deadline = nil
        return [.stop]
    }

    private mutating func answered(_ call: Call, _ failure: LinkFailure?, _ now: Duration) -> [Command] {
        switch (state, call) {
        case (.configuring, .configure):
            switch failure {
            case .notReady?, .unknownObject?, .accessDenied?: return wait(pause, now)
            case .noAnswer?: return [.observe(.noAnswer)] + wait(pause * 6, now)
            // A filter only spares work: discovery goes without.
            default: return start(.starting)
            }
        case (.starting, .start), (.startingAgain, .start): return started(failure, now)
        case (.clearing, .stop): return start(.startingAgain)
        case (.stopping, .stop): return stopped(failure, now)
        default: return []
        }
    }

    private mutating func start(_ next: State) -> [Command] {
        state = next
        deadline = nil
        return [.start]
    }

    private mutating func started(_ failure: LinkFailure?, _ now: Duration) -> [Command] {
        let wasRestart = restarting
        switch failure {
        case nil:
            restarting = false
            startTries = 0
            state = .on
            deadline = claimed ? nil : now + tolerance
            let report: [Command] = wasRestart ? [.observe(.carriedOut(.restartDiscovery, succeeded: true))] : []
            return report + (wanted == nil ? stop() : [])
        case .inProgress? where state == .starting && startTries < 3:
            // BlueZ answers so while it ends another operation, as after its own start or while it connects.
            startTries += 1
            deadline = now + .seconds(2)
            return []
        case .inProgress? where state == .starting:
            startTries = 0
            state = .clearing
            return [.stop]
        case .inProgress?:
            // Nothing to stop, and nothing can be started: the daemon lies to itself (story 2).
            return [.observe(.contradiction)] + wait(pause * 6, now)
        case .noAnswer?: return [.observe(.noAnswer)] + wait(pause * 6, now)
        default: return wait(pause, now)
        }
    }

    private mutating func stopped(_ failure: LinkFailure?, _ now: Duration) -> [Command] {
        if failure == .inProgress, stopTries < 3 {
            stopTries += 1
            deadline = now + .seconds(1)
            return []
        }
        // "No discovery started" is as good as stopped.
        stopTries = 0
        state = .off
        deadline = nil
        let report: [Command] = failure == .noAnswer ? [.observe(.noAnswer)] : []
        return report + begin()
    }

    private mutating func wait(_ delay: Duration, _ now: Duration) -> [Command] {
        state = .waiting
        deadline = now + delay
        return []
    }

    private mutating func tick(_ now: Duration) -> [Command] {
        guard let due = deadline, now >= due else { return [] }
        deadline = nil
        switch state {
        case .waiting:
            state = .off
            return begin()
        case .stopping: return [.stop]
        case .starting: return [.start]
        case .on:
            // It was started, and BlueZ has said for long that it does not discover.
            restarting = true
            return stop()
        case .off, .configuring, .clearing, .startingAgain: return []
        }
    }
}
