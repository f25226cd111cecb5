import HealthModel
import SampleStore

/// A person's weights, read with ascending times: those in the store, read as far as they are needed, and those in a batch that
/// is about to be stored.
struct EarlierWeights {
    typealias Weight = (time: Int64, value: Double)

    private let person: String
    /// Weights in the store before the requested time.
    private var stored: [Weight] = []
    /// Weights in the store after them, from ``position`` on.
    private var ahead: [Weight] = []
    private var position = 0
    private var isAtEnd = false
    private var hasBegun = false
    /// Weights in the batch: the last before ``now``, and those at ``now``.
    private var reported: [Weight] = []
    private var atOnce: [Weight] = []
    private var now = Int64.min

    /// The number of weights read at a time.
    private static let pageSize = 256

    init(_ person: String) { self.person = person }

    /// Returns the last weights before a time, at most ``PersonHistory/depth``.
    mutating func before(_ time: Int64, since first: Int64, in store: SampleStore) throws -> [Weight] {
        while position < ahead.count, ahead[position].time < time {
            stored.append(ahead[position])
            position += 1
        }
        if !hasBegun || (position == ahead.count && !isAtEnd) {
            stored = try store.samples.values(
                of: .bodyMass, person: person, in: .min..<time, isDescending: true, limit: PersonHistory.depth
            ).reversed()
            ahead = try store.samples.values(
                of: .bodyMass, person: person, in: time..<Int64.max, isDescending: false, limit: Self.pageSize)
            (position, isAtEnd, hasBegun) = (0, ahead.count < Self.pageSize, true)
        }
        Self.shorten(&stored)
        advance(to: time)
        let recent = (stored + reported).filter { $0.time > first }.sorted { $0.time < $1.time }
        return recent.suffix(PersonHistory.depth)
    }

    /// Adds a weight of the batch.
    mutating func note(_ value: Double, at time: Int64) {
        advance(to: time)
        atOnce.append((time, value))
        if atOnce.count > 4 * PersonHistory.depth { Self.shorten(&atOnce) }
    }

    private mutating func advance(to time: Int64) {
        guard time > now else { return }
        now = time
        reported += atOnce
        atOnce.removeAll(keepingCapacity: true)
        Self.shorten(&reported)
    }

    private static func shorten(_ weights: inout [Weight]) {
        if weights.count > PersonHistory.depth { weights.removeFirst(weights.count - PersonHistory.depth) }
    }
}
