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

/// The suspicions of each person. The first search reads all samples of some types. Later ones read what changed. Each runs on its own
/// thread.
final class SuspicionCache: Sendable {
    private struct Entry {
        var known = KnownSuspicions()
        var isSearching = false
    }

    private let entries = Mutex<[String: Entry]>([:])
    /// The time that a page waits for a search.
    private static let timeout = DispatchTimeInterval.milliseconds(100)

    /// Returns the suspicions of a person.
    ///
    /// - Returns: The suspicions, and whether a search is still running. They are then those of the search before.
    func suspicions(of session: PageSession, _ core: ServiceCore) -> (all: [Suspicion], isSearching: Bool) {
        let person = session.person
        let before = entries.withLock { entries -> KnownSuspicions? in
            guard entries[person]?.isSearching != true else { return nil }
            entries[person, default: Entry()].isSearching = true
            return entries[person]?.known
        }
        if let before {
            let end = DispatchSemaphore(value: 0)
            detach { [self] in
                let known = (try? Self.search(session, before, core)) ?? before
                entries.withLock { $0[person] = Entry(known: known) }
                end.signal()
            }
            _ = end.wait(timeout: .now() + Self.timeout)
        }
        return entries.withLock { ($0[person]?.known.all ?? [], $0[person]?.isSearching ?? false) }
    }

    /// The suspicions of a person that an earlier search found.
    func known(of person: String) -> [Suspicion] { entries.withLock { $0[person]?.known.all ?? [] } }

    private static func search(_ session: PageSession, _ before: KnownSuspicions, _ core: ServiceCore) throws -> KnownSuspicions {
        let records = try core.readers.lendRecords(of: session)
        return try withExtendedLifetime(records) { try records.suspicions(after: before) }
    }
}

extension PageCall {
    /// The person's suspicions, and whether a search is still running. They are the same for the whole page.
    func suspicions() throws -> (all: [Suspicion], isSearching: Bool) {
        if let known = retained.suspicions { return known }
        let found = site.suspicions.suspicions(of: try person(), core)
        retained.suspicions = found
        return found
    }

    /// The numbers of the person's readings that need a decision.
    func doubts() throws -> DoubtCounts {
        DoubtCounts(
            quarantined: try records().quarantineCounts(),
            suspicious: Dictionary(grouping: try suspicions().all, by: \.series.type).mapValues(\.count))
    }
}
