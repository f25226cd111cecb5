import HealthModel
import SampleStore

/// The latest sample of each type and person.
package enum LatestSamples {
    /// The maximum time that a sample may be ahead of the hub's clock, in microseconds. Samples further ahead do not describe the
    /// present.
    package static let leeway: Int64 = 120_000_000

    /// Reads the latest samples, sorted by type and person.
    ///
    /// - Parameters:
    ///   - types: The types, or `nil` for all.
    ///   - person: The person, or `nil` for everybody.
    ///   - passes: A further condition.
    package static func all(
        in store: SampleStore, of types: Set<SampleType>? = nil, person: String? = nil, at now: Instant,
        where passes: (Sample) -> Bool = { _ in true }
    ) throws(StoreError) -> [StoredSample] {
        let soon = now.microseconds &+ leeway
        var latest: [Key: StoredSample] = [:]
        for stored in try store.samples.latest(
            of: types, person: person, where: { $0.start.microseconds <= soon && passes($0) })
        {
            let key = Key(type: stored.sample.origin.type, person: stored.sample.origin.person)
            if let other = latest[key], (other.sample.start, other.seq) > (stored.sample.start, stored.seq) { continue }
            latest[key] = stored
        }
        return latest.sorted { ($0.key.type.id, $0.key.person) < ($1.key.type.id, $1.key.person) }.map(\.value)
    }

    private struct Key: Hashable {
        var type: SampleType
        var person: String
    }
}
