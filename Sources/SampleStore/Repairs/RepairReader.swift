import HealthModel

/// A sample that is going to be replaced, with the columns of its row.
struct RepairCandidate {
    var key: SampleKey
    var stored: StoredSample
    var context: Int64
    var group: Int64?
    var metadata: Int64?
    /// The repaired sample, or the existing one if it is merged.
    var after: Sample
    /// The repaired sample's series, or nil if the store does not have it yet.
    var series: Int64?
    /// The identity that the reading would have had if it had been read correctly.
    var right: SampleIdentity?
    /// The nominal start of that identity, in microseconds.
    var rightNominal: Int64 = 0
    var isMerged = false
}

/// Reads the samples that match a repair's conditions and decides on each. The plan and the repair itself both use it.
final class RepairReader {
    private let store: SampleStore
    private let connection: Connection
    private let request: RepairRequest
    private let predicate: SamplePredicate
    private let repairer: Repairer
    private let correctReadings: CorrectReadingSearch
    /// Whether the same repair was made before. Only then can its results be found again.
    let isKnownRepair: Bool
    private(set) var plan = RepairPlan()
    private var stride = 1
    private let decoder: SampleDecoder
    /// The store's last change before the repair. Rows written during the repair have higher numbers and are not read again.
    private let last: Int64
    /// The readings outside the repair that replace one of its samples.
    private var merged: Set<SampleKey> = []

    /// The number of rows that are read at a time, which bounds memory use.
    static let chunk = 8192

    init(_ store: SampleStore, _ request: RepairRequest) throws(StoreError) {
        self.store = store
        self.request = request
        predicate = try store.samples.resolved(request.conditions.predicate)
        guard !predicate.asksForOthers else {
            throw StoreError(
                .invalid, "a repair's condition must identify the correlation by its UUID (inCorrelation = UUID)")
        }
        connection = store.connection
        decoder = SampleDecoder(connection: store.connection)
        last = min(try store.lastChange(), request.changes?.upperBound ?? .max)
        repairer = Repairer(request.repair, takesAmbiguous: request.takesAmbiguous, now: request.now)
        correctReadings = try CorrectReadingSearch(connection: store.connection, repair: request.repair)
        isKnownRepair = try store.connection.repairs.isKnown(request.repair.text)
    }

    /// Decides on every sample. Calls `body` with the result of `row` for those to replace, some thousand at a time. `body` may write.
    func forEachChunk<Row>(of row: (RepairCandidate) throws -> Row, _ body: ([Row]) throws -> Void) throws {
        for part in try store.samples.plan(of: SampleQuery(predicate)).parts {
            var position: Position?
            repeat {
                var rows: [Row] = []
                position = try read(part, after: position) { rows.append(try row($0)) }
                if !rows.isEmpty { try body(rows) }
            } while position != nil
        }
    }

    /// The position in a series. Rows of one start are ordered by change number.
    private struct Position {
        var start: Int64
        var seq: Int64
    }

    /// Reads the next chunk and calls `body` with the samples to replace.
    ///
    /// - Returns: The position of the last row, or `nil` at the end of the series.
    private func read(
        _ part: QueryPlan.Part, after position: Position?, _ body: (RepairCandidate) throws -> Void
    ) throws -> Position? {
        let series = part.series
        guard let first = part.starts.intervals.first?.lowerBound, let end = part.starts.intervals.last?.upperBound else {
            return nil
        }
        let earliest = request.changes?.lowerBound ?? 0
        guard earliest <= last else { return nil }
        let rows = try store.table.scan(
            .whole, of: series.id, from: position?.start ?? first, through: end,
            .page(after: position?.seq ?? .min, in: earliest...last), order: .startAndArrival, limit: Self.chunk)
        var position = position
        var seen = 0
        while try rows.next() {
            seen += 1
            let here = try rows.key
            position = Position(start: here.start, seq: rows.change)
            let stored = try rows.stored(decoder)
            guard isAffected(stored.sample) else { continue }
            plan.matched += 1
            plan.before[series.type, default: Histogram()].add(stored.sample.value)
            switch try verdict(on: stored.sample, at: here) {
            case .left(let reason):
                plan.left[reason, default: 0] += 1
                plan.after[series.type, default: Histogram()].add(stored.sample.value)
            case .repaired(let outcome):
                var candidate = RepairCandidate(
                    key: here, stored: stored, context: rows.context, group: rows.group,
                    metadata: rows.metadata, after: repaired(stored.sample, outcome))
                candidate.right = try correctReadings.identity(of: stored.sample, outcome, at: here)
                candidate.rightNominal = outcome.nominalStart
                guard try decide(&candidate, at: outcome) else {
                    plan.left[.deletedAlready, default: 0] += 1
                    plan.after[series.type, default: Histogram()].add(stored.sample.value)
                    continue
                }
                note(candidate)
                try body(candidate)
            }
        }
        return seen < Self.chunk ? nil : position
    }

    private func verdict(on sample: Sample, at key: SampleKey) throws(StoreError) -> Repairer.Evaluation {
        guard isKnownRepair else { return repairer.evaluate(sample) }
        if try connection.repairs.wasRepaired(key, by: request.repair.text) { return .left(.repairedBefore) }
        let verdict = repairer.evaluate(sample)
        // The old reading arrived again after it was forgotten, and the sample that the repair made from it was restored.
        if case .repaired(let outcome) = verdict, try isThere(repaired(sample, outcome)) { return .left(.repairedBefore) }
        return verdict
    }

    private func isThere(_ sample: Sample) throws(StoreError) -> Bool {
        guard let series = try correctReadings.series(of: sample.origin) else { return false }
        return try connection.samples
            .contains(SampleKey(series: series, start: sample.start.microseconds, of: sample.identity))
    }

    /// Looks up whether the correct reading already exists outside the repair. If so, that sample becomes the replacement. Returns false if
    /// that sample was deleted.
    private func decide(_ candidate: inout RepairCandidate, at outcome: Repairer.Outcome) throws -> Bool {
        candidate.series = try correctReadings.series(of: candidate.after.origin)
        guard let right = candidate.right, let series = candidate.series else { return true }
        switch try correctReadings.find(right, nominal: outcome.nominalStart, in: series) {
        case .none: return true
        case .duplicate: candidate.right = nil
        case .deleted(let key):
            guard try isAffected(.tombstones, key) else { return false }
            // The deleted reading is separate and may be restored.
            candidate.right = nil
        case .live(let key):
            if try leaves(key) { return true }
            candidate.right = nil
            guard try correctReadings.isSame(outcome, at: key) else { return true }
            if case .never = request.merging { return true }
            // An existing reading replaces only one sample of the repair. A second one becomes a reading of its own.
            guard merged.insert(key).inserted else { return true }
            candidate.isMerged = true
            candidate.after.identity = right
            candidate.after.start = Instant(microseconds: key.start)
        }
        return true
    }

    /// Whether this repair also moves the live sample with this key. It is then a separate reading and not the correct form of another one.
    private func leaves(_ key: SampleKey) throws -> Bool {
        guard let (sample, outcome) = try affected(.live, key) else { return false }
        guard let right = try correctReadings.identity(of: sample, outcome, at: key),
            let series = try correctReadings.series(of: outcome.origin)
        else { return true }
        guard case .deleted(let deleted) = try correctReadings.find(right, nominal: outcome.nominalStart, in: series) else {
            return true
        }
        return try isAffected(.tombstones, deleted)
    }

    private func isAffected(_ rows: SampleTable.Rows, _ key: SampleKey) throws -> Bool { try affected(rows, key) != nil }

    /// Returns the live or deleted sample with this key and its repaired form, if the repair applies to it.
    private func affected(_ rows: SampleTable.Rows, _ key: SampleKey) throws -> (Sample, Repairer.Outcome)? {
        guard let stored = try store.table.stored(at: key, among: rows, evenForgotten: true, decoder),
            stored.seq <= last, stored.seq >= request.changes?.lowerBound ?? 0
        else { return nil }
        let sample = stored.sample
        guard isAffected(sample), case .repaired(let outcome) = try verdict(on: sample, at: key) else { return nil }
        return (sample, outcome)
    }

    private func isAffected(_ sample: Sample) -> Bool {
        predicate.matches(sample) && request.received?.contains(sample.received.microseconds) ?? true
    }

    private func note(_ candidate: RepairCandidate) {
        let sample = candidate.stored.sample
        plan.after[candidate.after.origin.type, default: Histogram()].add(candidate.after.value)
        plan.consider(RepairPlan.Example(before: sample, after: candidate.after), stride: &stride)
        if candidate.isMerged { plan.merged += 1 } else { plan.repaired += 1 }
    }

    private func repaired(_ sample: Sample, _ outcome: Repairer.Outcome) -> Sample {
        var after = outcome.sample(instead: sample, by: request.repair.text)
        if request.movesReceipt, case .shift(let offset) = request.repair { after.received.microseconds &+= offset }
        return after
    }
}
