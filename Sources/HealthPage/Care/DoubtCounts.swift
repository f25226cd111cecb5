import Dispatch
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore
import Synchronization

/// The numbers of a person's readings that need a decision, by type: quarantined readings, and intervals that look wrong.
struct DoubtCounts: Sendable {
    var quarantined: [SampleType: Int] = [:]
    var suspicious: [SampleType: Int] = [:]

    /// The number of entries on the page for data quality.
    var all: Int { quarantined.values.reduce(0, +) + suspicious.values.reduce(0, +) }

    /// Both numbers of a type. A blood pressure has those of its two pressures.
    func counts(of type: SampleType) -> (quarantined: Int, suspicious: Int) {
        let types = type.id == BloodPressure.type ? [type, .bloodPressureSystolic, .bloodPressureDiastolic] : [type]
        return (
            types.reduce(0) { $0 + quarantined[$1, default: 0] }, types.reduce(0) { $0 + suspicious[$1, default: 0] }
        )
    }
}

/// Remembers the suspicions of each person, since a search reads all samples of some types. It searches again after a change of these
/// types, on its own thread.
final class SuspicionCache: Sendable {
    private struct Entry {
        var anchor: Anchor?
        var counts: [SampleType: Int] = [:]
        var isSearching = false
    }

    private let entries = Mutex<[String: Entry]>([:])
    /// The time that a page waits for a search.
    private static let patience = DispatchTimeInterval.milliseconds(100)

    /// The number of suspicious intervals by type. If a search takes longer than a moment, the numbers are those of the search before.
    func counts(of subject: String, _ core: ServiceCore) throws -> [SampleType: Int] {
        let known = entries.withLock { $0[subject] }
        if let known, known.isSearching { return known.counts }
        guard try isOutdated(known, subject, core) else { return known?.counts ?? [:] }
        let isMine = entries.withLock { entries in
            defer { entries[subject, default: Entry()].isSearching = true }
            return entries[subject]?.isSearching != true
        }
        guard isMine else { return known?.counts ?? [:] }
        let end = DispatchSemaphore(value: 0)
        detach { [self] in
            let found = try? Self.search(subject, core)
            entries.withLock { entries in
                let before = entries[subject]
                entries[subject] = Entry(
                    anchor: found?.anchor ?? before?.anchor, counts: found?.counts ?? before?.counts ?? [:])
            }
            end.signal()
        }
        _ = end.wait(timeout: .now() + Self.patience)
        return entries.withLock { $0[subject]?.counts ?? [:] }
    }

    /// Whether samples of a type that may look wrong have changed since the last search.
    private func isOutdated(_ known: Entry?, _ subject: String, _ core: ServiceCore) throws -> Bool {
        guard let anchor = known?.anchor else { return true }
        let reader = try core.readers.lend(to: nil)
        return withExtendedLifetime(reader) {
            // An anchor of a restored backup is unknown to the store.
            guard let changed = try? reader.store.changedTypes(after: anchor) else { return true }
            guard changed.types.isDisjoint(with: MisunitDetector.types) else { return true }
            entries.withLock { $0[subject]?.anchor = changed.anchor }
            return false
        }
    }

    private static func search(_ subject: String, _ core: ServiceCore) throws -> (anchor: Anchor, counts: [SampleType: Int]) {
        let hub = try core.readers.lend(to: nil)
        let anchor = try withExtendedLifetime(hub) { try hub.store.latestAnchor() }
        let reader = try core.readers.lend(toPerson: subject)
        return try withExtendedLifetime(reader) {
            let counts = Dictionary(grouping: try reader.store.suspicions(), by: \.series.type).mapValues(\.count)
            return (anchor, counts)
        }
    }
}

extension PageCall {
    /// The numbers of the person's readings that need a decision.
    func doubts() throws -> DoubtCounts {
        let subject = try person().subject
        return DoubtCounts(
            quarantined: try hubReader().store.quarantinedCounts(of: subject),
            suspicious: try site.suspicions.counts(of: subject, core))
    }
}
