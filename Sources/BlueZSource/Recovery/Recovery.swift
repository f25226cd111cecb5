/// Which layer is stuck, and what is tried: from the least disturbing to asking a person. Pure: observations in, decisions out.
///
/// A hub on which nothing happens is healthy: silence alone never reaches the layers that devices share (story 12). Those are touched
/// only where something was asked and never answered, or answered with a contradiction (stories 1, 2).
struct Recovery {
    enum Layer: String, Equatable, Sendable {
        case subscription, link, discovery, adapter, daemon
    }

    enum Observation: Equatable {
        /// Something arrived or was answered as it should be.
        case worked
        /// A device says nothing; up to which layer that device's own machine has gone.
        case silent(Layer)
        /// A call was never answered.
        case noAnswer
        /// BlueZ contradicts itself about discovery.
        case contradiction
        /// Discovery was restarted or the adapter power-cycled, as decided.
        case carriedOut(Action, succeeded: Bool)
    }

    enum Action: Equatable, Sendable {
        case resubscribe
        case reconnect
        case restartDiscovery
        case powerCycle
        case tellPerson
    }

    /// What was decided, for the log.
    struct Decision: Equatable {
        var layer: Layer
        var action: Action
        var reason: String
        /// Whether the source has to do it; the others a device's machine does by itself.
        var isOurs: Bool { action == .restartDiscovery || action == .powerCycle || action == .tellPerson }
    }

    /// This many unanswered calls in a row before a layer that is shared is touched; one may be a device's own fault.
    private let evidenceNeeded = 2
    /// Within this time they count as being in a row.
    private let window: Duration = .seconds(600)
    /// At least this long between two tries of one tier, doubling up to the longest.
    private let pause: Duration = .seconds(120)
    private let longestPause: Duration = .seconds(21_600)

    private var evidence: [Duration] = []
    private var tier = 0
    private var tries = 0
    private var notBefore: Duration = .zero
    private var lastWorked: Duration?
    private var told = false

    init() {}

    mutating func note(_ observation: Observation, at now: Duration) -> Decision? {
        switch observation {
        case .worked:
            // Whatever was stuck is not: all tiers start anew.
            self = Recovery()
            lastWorked = now
            return nil
        case .silent(let layer):
            let action: Action = layer == .subscription ? .resubscribe : .reconnect
            return Decision(layer: layer, action: action, reason: "the link is up and nothing comes")
        case .noAnswer: return escalate("a call to BlueZ was never answered", needed: evidenceNeeded, now)
        case .contradiction: return escalate("BlueZ contradicts itself about discovery", needed: 1, now)
        case .carriedOut(_, let succeeded):
            // What fails to restart is stuck itself.
            return succeeded ? nil : escalate("the restart failed", needed: 1, now)
        }
    }

    private mutating func escalate(_ reason: String, needed: Int, _ now: Duration) -> Decision? {
        evidence.removeAll { now - $0 > window }
        evidence.append(now)
        guard evidence.count >= needed, now >= notBefore else { return nil }
        // A device that talks shows that the adapter works: then at most discovery is restarted, which disturbs nobody.
        let isHealthy = lastWorked.map { now - $0 < .seconds(30) } ?? false
        if isHealthy, tier > 0 { return nil }
        evidence.removeAll()
        let decision: Decision
        switch tier {
        case 0: decision = Decision(layer: .discovery, action: .restartDiscovery, reason: reason)
        case 1: decision = Decision(layer: .adapter, action: .powerCycle, reason: reason)
        default:
            if told { return nil }
            told = true
            decision = Decision(layer: .daemon, action: .tellPerson, reason: reason)
        }
        if tier < 2 { tier += 1 }
        tries += 1
        notBefore = now + min(pause * Int(1 << min(tries - 1, 12)), longestPause)
        return decision
    }
}
