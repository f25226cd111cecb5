/// The decisions about stuck layers, from the least disruptive measure to notifying the user. Pure: observations in, decisions out.
///
/// A hub without events is healthy, so silence alone never affects the layers that devices share (story 12). Those are restarted only if a
/// request was never answered, or was answered with a contradiction (stories 1, 2).
struct Recovery {
    enum Layer: String, Equatable, Sendable {
        case subscription, link, discovery, adapter, daemon
    }

    enum Observation: Equatable {
        /// Data arrived, or a request was answered correctly.
        case worked
        /// A device is silent. Its own machine has acted up to this layer.
        case silent(Layer)
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
        case notifyUser
    }

    struct Decision: Equatable {
        var layer: Layer
        var action: Action
        var reason: String
        /// Whether the source must carry it out. A device's machine does the other actions by itself.
        var isOurs: Bool { action == .restartDiscovery || action == .powerCycle || action == .notifyUser }
    }

    /// The number of consecutive unanswered calls before a shared layer is restarted. One may be a device's own fault.
    private let evidenceNeeded = 2
    /// The time within which calls count as consecutive.
    private let window: Duration = .seconds(600)
    /// The minimum time between two tries of one tier. It doubles up to `maximumPause`.
    private let pause: Duration = .seconds(120)
    private let maximumPause: Duration = .seconds(21_600)

    private var evidence: [Duration] = []
    private var tier = 0
    private var tries = 0
    private var notBefore: Duration = .zero
    private var lastWorked: Duration?
    private var didReport = false

    init() {}

    mutating func note(_ observation: Observation, at now: Duration) -> Decision? {
        switch observation {
        case .worked:
            // Nothing is stuck any more, so reset all tiers.
            self = Recovery()
            lastWorked = now
            return nil
        case .silent(let layer):
            let action: Action = layer == .subscription ? .resubscribe : .reconnect
            return Decision(layer: layer, action: action, reason: "connected, but no readings arrive")
        case .noAnswer: return escalate("a call to BlueZ was never answered", needed: evidenceNeeded, now)
        case .contradiction: return escalate("BlueZ contradicts itself about discovery", needed: 1, now)
        case .carriedOut(_, let succeeded):
            // A layer that cannot be restarted is stuck itself.
            return succeeded ? nil : escalate("the restart failed", needed: 1, now)
        }
    }

    private mutating func escalate(_ reason: String, needed: Int, _ now: Duration) -> Decision? {
        evidence.removeAll { now - $0 > window }
        evidence.append(now)
        guard evidence.count >= needed, now >= notBefore else { return nil }
        // Data from a device proves that the adapter works. Then at most discovery is restarted, which affects no device.
        let isHealthy = lastWorked.map { now - $0 < .seconds(30) } ?? false
        if isHealthy, tier > 0 { return nil }
        evidence.removeAll()
        let decision: Decision
        switch tier {
        case 0: decision = Decision(layer: .discovery, action: .restartDiscovery, reason: reason)
        case 1: decision = Decision(layer: .adapter, action: .powerCycle, reason: reason)
        default:
            if didReport { return nil }
            didReport = true
            decision = Decision(layer: .daemon, action: .notifyUser, reason: reason)
        }
        if tier < 2 { tier += 1 }
        tries += 1
        notBefore = now + min(pause * Int(1 << min(tries - 1, 12)), maximumPause)
        return decision
    }
}
