import HealthModel
import Pipeline
import SampleStore

/// The state of a target: what the store knows of it, and what it still has to receive.
package struct TargetStatus {
    package var name: String
    /// The kind, or `nil` if the target is no longer in the configuration.
    package var kind: ExporterKind?
    /// The progress, or `nil` before the first delivery.
    package var progress: Target?
    /// The number of changes that it does not have yet.
    package var waiting: Int
    /// The number of samples that it rejected.
    package var setAside: Int
    /// The target's message for the last change that it rejected.
    package var refusal: String?
    /// The seconds since the oldest waiting change was received.
    package var lag: Int

    /// Whether it is in the configuration and delivers.
    package var isDelivering: Bool { kind != nil && (progress?.state ?? .delivering) == .delivering }

    /// Returns the state of targets of the configuration, in their order.
    ///
    /// - Parameter removed: Whether to add targets that are no longer in the configuration.
    package static func all(
        _ configured: [TargetConfiguration], in store: SampleStore, withRemoved removed: Bool = false, at now: Instant
    ) throws -> [TargetStatus] {
        let known = try store.targets.all()
        var all = try configured.map { target in
            try TargetStatus(target.name, target.kind, known.first { $0.name == target.name }, store, now)
        }
        guard removed else { return all }
        for target in known where !configured.contains(where: { $0.name == target.name }) {
            all.append(try TargetStatus(target.name, nil, target, store, now))
        }
        return all
    }

    private init(_ name: String, _ kind: ExporterKind?, _ progress: Target?, _ store: SampleStore, _ now: Instant) throws {
        (self.name, self.kind, self.progress) = (name, kind, progress)
        waiting = try progress.map(store.targets.changesWaiting) ?? Int(store.lastChange())
        let rejected = try store.targets.setAsideSummary(of: name)
        (setAside, refusal) = (rejected.count, rejected.words)
        lag = waiting == 0 ? 0 : try Self.lag(progress, store, now)
    }

    private struct Enough: Error {}

    private static func lag(_ progress: Target?, _ store: SampleStore, _ now: Instant) throws -> Int {
        var received: Instant?
        let anchor = progress?.backlog?.anchor ?? progress?.anchor ?? .beginning
        // The anchor is unknown if the store was restored from a backup. `targets verify` is the remedy.
        guard try store.changes.knows(anchor) else { return 0 }
        do {
            try store.changes.read(after: anchor, types: nil) { change, _ in
                received =
                    switch change {
                    case .added(let stored): stored.sample.received
                    case .deleted(let deletion): deletion.sample.received
                    }
                throw Enough()
            }
        } catch is Enough {}
        guard let received else { return 0 }
        return Int(max(0, now.microseconds - received.microseconds) / 1_000_000)
    }
}
