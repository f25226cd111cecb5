import HealthModel
import Profiles
import SampleStore

/// The corrections in a machine's profiles, as repairs of a store.
package struct Corrections {
    package struct Entry {
        /// `profile/id`.
        package var name: String
        /// An explanation of the error, as written in the profile.
        package var note: String
        package var request: RepairRequest
    }

    /// The corrections of all profiles, by name.
    package let all: [Entry]

    /// - Parameter now: the time of the requests.
    package init(library: ProfileLibrary, now: Instant) {
        all = library.profiles.flatMap { profile in
            profile.corrections.map { correction in
                Entry(
                    name: "\(profile.id)/\(correction.id)", note: correction.note,
                    request: RepairRequest(
                        correction.repair, of: correction.conditions, takesAmbiguous: correction.takesAmbiguous, now: now))
            }
        }
    }

    /// Returns the corrections that would change something, with their plans.
    package func pending(in store: SampleStore) throws -> [(entry: Entry, plan: RepairPlan)] {
        try all.map { ($0, try store.repairs.plan($0.request)) }.filter { $0.1.repaired + $0.1.merged > 0 }
    }

    /// Applies all corrections except those that would reduce the number of readings. These need the user's consent.
    ///
    /// - Returns: the corrections that changed something, with the repair's number, and those that need consent, without one.
    package func apply(to store: SampleStore) throws -> [(entry: Entry, plan: RepairPlan, repairID: Int64?)] {
        try all.compactMap { entry in
            do {
                let (plan, repairID) = try store.repairs.apply(
                    entry.request, source: "profile \(entry.name)", owner: ProcessIdentity.current())
                return repairID.map { (entry, plan, $0) }
            } catch let fewer as FewerReadings {
                return (entry, fewer.plan, nil)
            }
        }
    }
}
