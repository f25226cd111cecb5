import HealthModel

/// A reason why a person has to look after the backups at a location. `doctor`, the page and the alerts share it.
package enum BackupTrouble: Hashable, Sendable {
    /// The newest backup could not be restored.
    case unrestorable
    /// Several attempts failed one after another.
    case failing
    /// The last backup was made this many days ago.
    case old(days: Int)
    /// The last proven backup is this many days old.
    case unproven(days: Int)

    /// The number of days in words about it, or 0.
    package var days: Int {
        switch self {
        case .unrestorable, .failing: 0
        case .old(let days), .unproven(let days): days
        }
    }

    /// Its kind, as it is written down for receivers of alerts.
    package var kind: String {
        switch self {
        case .unrestorable: "unrestorable"
        case .failing: "failing"
        case .old: "old"
        case .unproven: "unproven"
        }
    }
}

extension BackupState.Place {
    /// After how many days without a backup, and without a drill that succeeded, a person is told.
    package static let (oldDays, unprovenDays) = (3, 14)
    /// After how many failures one after another a person is told. Together, they take an hour.
    static let mostFailures = 3

    /// The whole days since a time. 0 if the clock was set back.
    static func days(since time: Int64, at now: Instant) -> Int { Int(max(0, now.microseconds - time) / 86_400_000_000) }

    /// Whether the last backup is too old.
    package func isOld(at now: Instant) -> Bool { made.map { Self.days(since: $0, at: now) >= Self.oldDays } ?? false }

    /// Whether the last proven backup is too old.
    package func isUnproven(at now: Instant) -> Bool {
        (proven ?? began).map { Self.days(since: $0, at: now) >= Self.unprovenDays } ?? false
    }

    /// What a person has to look after, the worst first.
    package func trouble(at now: Instant) -> BackupTrouble? {
        if drillFailure != nil { return .unrestorable }
        if failure != nil, (failures ?? 0) >= Self.mostFailures { return .failing }
        if let made, isOld(at: now) { return .old(days: Self.days(since: made, at: now)) }
        // It was never there.
        if made == nil, let away, Self.days(since: away, at: now) >= Self.oldDays { return .failing }
        if let time = proven ?? began, isUnproven(at: now) { return .unproven(days: Self.days(since: time, at: now)) }
        return nil
    }

    /// The time of the last good backup in a sense that fits the trouble, or `nil` if there is none.
    package func lastGood(_ trouble: BackupTrouble?) -> Instant? {
        switch trouble {
        case .unrestorable, .unproven: proven.map { Instant(microseconds: $0) }
        case .failing, .old, nil: made.map { Instant(microseconds: $0) }
        }
    }
}
