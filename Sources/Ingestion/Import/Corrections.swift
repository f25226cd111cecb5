import HealthModel
import Profiles
import SampleStore

/// The corrections of a machine's profiles, as repairs of a store.
public struct Corrections {
    /// One correction.
    public struct Entry {
        /// `profile/id`.
        public var name: String
        /// What went wrong, for people, as the profile says it.
        public var note: String
        /// The repair, as the store plans and makes it.
        public var request: MigrationRequest
    }

    /// Of all profiles, by name.
    public let all: [Entry]

    /// - Parameter now: the time that the requests carry.
    public init(library: ProfileLibrary, now: Instant) {
        all = library.profiles.flatMap { profile in
            profile.corrections.map { correction in
                Entry(
                    name: "\(profile.id)/\(correction.id)", note: correction.note,
                    request: MigrationRequest(
                        correction.repair, of: correction.conditions, takesAmbiguous: correction.takesAmbiguous, now: now))
            }
        }
    }

    /// Those that would change something, with what they would do.
    public func pending(in store: SampleStore) throws -> [(entry: Entry, plan: MigrationPlan)] {
        try all.map { ($0, try store.plan($0.request)) }.filter { $0.1.repaired + $0.1.merged > 0 }
    }

    /// Applies all of them but those that would make fewer readings, which a person is asked for.
    ///
    /// - Returns: those that changed something, with the repair's number, and those that wait for a person, without one.
    public func apply(to store: SampleStore) throws -> [(entry: Entry, plan: MigrationPlan, migration: Int64?)] {
        try all.compactMap { entry in
            do {
                let (plan, migration) = try store.migrate(
                    entry.request, source: "profile \(entry.name)", owner: ProcessIdentity.current())
                return migration.map { (entry, plan, $0) }
            } catch let fewer as FewerReadings {
                return (entry, fewer.plan, nil)
            }
        }
    }
}
