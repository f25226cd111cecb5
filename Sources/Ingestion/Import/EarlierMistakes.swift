import HealthModel
import SampleStore

/// Weighings that were stored for the wrong person before the history showed whose they are.
///
/// Someone else's are assigned to ``Origin/unassigned``, and the person's own that had been unassigned are given back, with everything
/// measured in the same frame. Both are repairs: they are in the ledger, reach every target and can be undone. After an undo, readings
/// received before it are not repaired again.
struct EarlierMistakes: Hashable {
    var subject: String
    /// A weight of the person in kilograms.
    var weight: Double
    /// The time of that weight in microseconds.
    var time: Int64
    /// Whether other weights are taken from the person.
    var takes: Bool
    /// Whether the history is clear, so that the person's own weights are given back.
    var gives: Bool

    /// A repair that was made.
    struct Repair: Hashable {
        var count: Int
        var migration: Int64
        var isGivenBack: Bool
    }

    /// The source of the repairs.
    static let source = "weights"
    private static let reach = 400 * Calendar.day
    /// The maximum number of weighings in one repair. The rest are found with the next weighing.
    private static let maximum = 2000

    init(of sample: Sample, takes: Bool, gives: Bool) {
        (subject, weight, time) = (sample.origin.subject, sample.value, sample.start.microseconds)
        (self.takes, self.gives) = (takes, gives)
    }

    /// Repairs the weighings after the weight is stored.
    func repair(in store: SampleStore, now: Instant, owner: String? = nil) throws -> [Repair] {
        let undone = try store.repairs.all().filter { $0.source == Self.source && $0.state == "undone" }.map(\.applied).max()
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [.bodyMass], from: Instant(microseconds: time &- Self.reach), to: Instant(microseconds: time &+ 1)))
        let onlyPersons = try gives ? seriesOfOnePerson(in: store) : []
        var own: [Int64] = []
        var (others, unassigned): ([(time: Int64, identity: SampleIdentity)], [SampleIdentity]) = ([], [])
        do {
            defer { cursor.close() }
            while let next = try cursor.next()?.sample {
                let isOpen = undone.map { next.received.microseconds > $0 } ?? true
                if next.origin.subject == subject {
                    if !PersonHistory.isApart(next.value, weight) {
                        own.append(next.start.microseconds)
                    } else if isOpen {
                        others.append((next.start.microseconds, next.identity))
                    }
                } else if isOpen, next.origin.subject == Origin.unassigned, abs(next.value / weight - 1) < 0.25,
                    onlyPersons.contains(Series(next.origin))
                {
                    unassigned.append(next.identity)
                }
            }
        }
        let mistaken = others.filter { other in
            own.contains { ($0 &- other.time).magnitude <= UInt64(PersonHistory.week) }
        }
        // A person's decision is not changed.
        let lost = try unassigned.filter { try store.repairs.repair(thatMade: $0).map { $0.source == Self.source } ?? true }
        var done: [Repair] = []
        for (found, subject) in [(takes ? mistaken.map(\.identity) : [], Origin.unassigned), (lost, subject)] where !found.isEmpty
        {
            let changed = Array(found.suffix(Self.maximum))
            let made = try store.people.assign(changed, to: subject, now: now, owner: owner, source: Self.source)
            guard let migration = made.migration else { continue }
            done.append(Repair(count: changed.count, migration: migration, isGivenBack: subject == self.subject))
        }
        return done
    }

    /// The source and the device of weights.
    private struct Series: Hashable {
        var source: String
        var device: String

        init(_ origin: Origin) { (source, device) = (origin.source.id, origin.device?.key ?? "") }
        init(_ series: SeriesDescription) { (source, device) = (series.source, series.device) }
    }

    /// The sources and devices that only this person uses. On a shared scale, an unassigned weighing may be anybody's.
    private func seriesOfOnePerson(in store: SampleStore) throws -> Set<Series> {
        let shared = Set(try store.devices.adopted().filter { !$0.sharers.isEmpty }.map(\.goesBy))
        let all = try store.samples.series(matching: SampleQuery(types: [.bodyMass])).filter { $0.subject != Origin.unassigned }
        let people = Dictionary(grouping: all) { Series($0) }
        return Set(
            people.filter { series, uses in
                !shared.contains(series.device) && uses.allSatisfy { $0.subject == subject }
            }.keys)
    }
}
