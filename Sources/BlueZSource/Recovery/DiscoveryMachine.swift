/// The filter for discovery (BlueZ, org.bluez.Adapter1, SetDiscoveryFilter).
package struct DiscoveryFilter: Hashable, Sendable {
    /// The services, or empty for devices with any service.
    package var services: [BluetoothUUID] = []
    /// Whether each advertisement is reported, even if it repeats the last one. This costs work, so it is set only if adverts contain
    /// readings.
    package var duplicates = false

    /// Creates a filter for devices with any service, without repetitions.
    package init() {}
}

/// Keeps discovery in the wanted state despite contradictory reports from BlueZ. Pure: answers and properties in, calls out.
///
/// BlueZ may report discovery when it is not running, refuse to start it when it is stopped, and refuse to stop it when it is running
/// (stories 2, 3). So the property alone is never trusted, a failed stop never invalidates the devices found, and contradictions go to the
/// recovery.
struct DiscoveryMachine {
    enum State: Equatable {
        case off
        case configuring
        case starting
        /// The start returned "in progress", so any existing session is stopped first.
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
        case discovering(Bool)
        case restart
        /// The adapter or the daemon is gone, and every session with it.
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

    /// BlueZ pauses discovery while it connects, so a wrong report counts only if it lasts this long.
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
            // A filter only saves work, so discovery continues without one.
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
            // BlueZ returns this while it ends another operation, for example after its own start or while it connects.
            startTries += 1
            deadline = now + .seconds(2)
            return []
        case .inProgress? where state == .starting:
            startTries = 0
            state = .clearing
            return [.stop]
        case .inProgress?:
            // BlueZ can neither stop nor start discovery, so the daemon's state is inconsistent (story 2).
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
        // "No discovery started" counts as stopped.
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
            // Discovery was started, but BlueZ has reported for a long time that it does not run.
            restarting = true
            return stop()
        case .off, .configuring, .clearing, .startingAgain: return []
        }
    }
}
