import HealthModel
import SampleStore

/// A person's weights, asked for with ever later times: those of the store, read as far as they are needed, and those of a batch that is
/// about to be stored.
struct EarlierWeights {
    typealias Weight = (time: Int64, value: Double)

    private let subject: String
    /// Of the store, the last before the time that was asked for.
    private var stored: [Weight] = []
    /// Of the store, those that follow, from ``position`` on.
    private var ahead: [Weight] = []
    private var position = 0
    private var isAtEnd = false
    private var hasBegun = false
    /// Of the batch, the last before ``now``, and those of it.
    private var told: [Weight] = []
    private var atOnce: [Weight] = []
    private var now = Int64.min

    /// How many are read at a time.
    private static let stretch = 256

    init(_ subject: String) { self.subject = subject }

    /// The last weights before a time, ``PersonHistory/depth`` of them at most.
    mutating func before(_ time: Int64, since first: Int64, in store: SampleStore) throws -> [Weight] {
        while position < ahead.count, ahead[position].time < time {
            stored.append(ahead[position])
            position += 1
        }
        if !hasBegun || (position == ahead.count && !isAtEnd) {
            stored = try store.values(
                of: .bodyMass, subject: subject, in: .min..<time, isDescending: true, limit: PersonHistory.depth
            ).reversed()
            ahead = try store.values(
                of: .bodyMass, subject: subject, in: time..<Int64.max, isDescending: false, limit: Self.stretch)
            (position, isAtEnd, hasBegun) = (0, ahead.count < Self.stretch, true)
        }
        Self.shorten(&stored)
        advance(to: time)
        let recent = (stored + told).filter { $0.time > first }.sorted { $0.time < $1.time }
        return recent.suffix(PersonHistory.depth)
    }

    /// Counts a weight of the batch.
    mutating func note(_ value: Double, at time: Int64) {
        advance(to: time)
        atOnce.append((time, value))
        if atOnce.count > 4 * PersonHistory.depth { Self.shorten(&atOnce) }
    }

    private mutating func advance(to time: Int64) {
        guard time > now else { return }
        now = time
        told += atOnce
        atOnce.removeAll(keepingCapacity: true)
        Self.shorten(&told)
    }

    private static func shorten(_ weights: inout [Weight]) {
        if weights.count > PersonHistory.depth { weights.removeFirst(weights.count - PersonHistory.depth) }
    }
}
