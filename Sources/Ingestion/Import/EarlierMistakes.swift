import HealthModel
import SampleStore

/// Weighings that were stored for a person before the history showed that they belong to someone else.
///
/// They are assigned to ``Origin/unassigned``, with everything measured in the same frame, in one repair. The repair is in the
/// ledger, reaches every target and can be undone. After an undo, readings received before it are not repaired again.
struct EarlierMistakes: Hashable {
    var person: String
    /// A weight of the person in kilograms.
    var weight: Double
    /// The time of that weight in microseconds.
    var time: Int64

    static let source = "weights"
    private static let reach = 400 * Calendar.day
    /// The maximum number of weighings in one repair. The rest are found with the next weighing.
    private static let maximum = 2000

    /// Repairs the weighings after the weight is stored.
    ///
    /// - Returns: the number of weighings taken from the person, and the repair's number. `nil` if there were none.
    func repair(in store: SampleStore, now: Instant, owner: String? = nil) throws -> (count: Int, repairID: Int64)? {
        let undone = try store.repairs.all().filter { $0.source == Self.source && $0.state == "undone" }.map(\.applied).max()
        var conditions = SampleConditions(types: [.bodyMass])
        conditions.from = Instant(microseconds: time &- Self.reach)
        conditions.to = Instant(microseconds: time &+ 1)
        let cursor = try store.samples.cursor(matching: SampleQuery(types: [.bodyMass], from: conditions.from, to: conditions.to))
        var own: [Int64] = []
        var others: [(time: Int64, identity: SampleIdentity)] = []
        do {
            defer { cursor.close() }
            while let next = try cursor.next()?.sample {
                guard next.origin.person == person else { continue }
                if !PersonHistory.areIncompatible(next.value, weight) {
                    own.append(next.start.microseconds)
                } else if undone.map({ next.received.microseconds > $0 }) ?? true {
                    others.append((next.start.microseconds, next.identity))
                }
            }
        }
        let mistaken = others.filter { other in
            own.contains { ($0 &- other.time).magnitude <= UInt64(PersonHistory.week) }
        }
        guard !mistaken.isEmpty else { return nil }
        let done = try store.people.assign(
            mistaken.suffix(Self.maximum).map(\.identity), to: Origin.unassigned, now: now, owner: owner, source: Self.source)
        return done.repairID.map { (min(mistaken.count, Self.maximum), $0) }
    }
}
