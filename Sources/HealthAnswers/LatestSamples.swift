import HealthModel
import SampleStore

/// The latest sample of each type and person.
public enum LatestSamples {
    /// The maximum time that a sample may be ahead of the hub's clock, in microseconds. Samples further ahead do not describe the
    /// present.
    public static let leeway: Int64 = 120_000_000

    /// Reads the latest samples, sorted by type and person.
    ///
    /// - Parameters:
    ///   - types: The types, or `nil` for all.
    ///   - subject: The person, or `nil` for everybody.
    ///   - passes: A further condition.
    public static func all(
        in store: SampleStore, of types: Set<SampleType>? = nil, subject: String? = nil, at now: Instant,
        where passes: (Sample) -> Bool = { _ in true }
    ) throws(StoreError) -> [StoredSample] {
        let soon = now.microseconds &+ leeway
        var latest: [Key: StoredSample] = [:]
        for stored in try store.samples.latest(
            of: types, subject: subject, where: { $0.start.microseconds <= soon && passes($0) })
        {
            let key = Key(type: stored.sample.origin.type, subject: stored.sample.origin.subject)
            if let other = latest[key], (other.sample.start, other.seq) > (stored.sample.start, stored.seq) { continue }
            latest[key] = stored
        }
        return latest.sorted { ($0.key.type.id, $0.key.subject) < ($1.key.type.id, $1.key.subject) }.map(\.value)
    }

    private struct Key: Hashable {
        var type: SampleType
        var subject: String
    }
}
