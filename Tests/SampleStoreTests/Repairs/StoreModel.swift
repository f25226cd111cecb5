import HealthModel
import Pipeline

@testable import SampleStore

/// The guarantees of a store with repairs, without its implementation: the reports, decisions and repairs, and the live samples
/// (``MeasurementModel``).
struct StoreModel {
    struct Entry {
        var sample: Sample
        var ordinal: UInt32
        /// True for a deleted sample if a repair, or its undo, put another in its place.
        var isReplaced = false
    }

    private var core = MeasurementModel<SampleIdentity>()
    /// Everything that is, or was, a sample.
    private var known: [SampleIdentity: Entry] = [:]
    private(set) var live: [SampleIdentity: Entry] = [:]
    private(set) var dead: [SampleIdentity: Entry] = [:]
    /// What each repaired sample was made from, and by which repair.
    private var parents: [SampleIdentity: (old: SampleIdentity, repair: String)] = [:]
    /// The right identities of repaired readings, with the series they belong to.
    private var aliases: [SampleIdentity: (repairID: Int64, key: SeriesKey)] = [:]
    private var repairs: [Int64: Repair] = [:]
    /// In the order in which they came.
    private var series: [SeriesKey] = []

    var lines: Set<String> { Set(live.values.map { TestStore.line($0.sample) }) }

    /// The repairs that are applied.
    var applied: Set<Int64> { core.applied }

    /// - Returns: how many samples are live now and were not, or were and are not.
    @discardableResult private mutating func update() -> Int {
        followRepairs()
        let now = core.live
        let before = Set(live.keys)
        let replaced = Set(core.repaired.filter { core.applied.contains($0.repairID) }.map(\.old))
        let undone = Set(core.repaired.filter { !core.applied.contains($0.repairID) && !$0.isMerged }.map(\.new))
        live = known.filter { now.contains($0.key) }
        dead = known.filter { !now.contains($0.key) }
        for identity in dead.keys where replaced.contains(identity) || undone.contains(identity) {
            dead[identity]?.isReplaced = true
        }
        return Set(live.keys).symmetricDifference(before).count
    }

    /// A reading that a repair merged into a correct one gets its own form if the correct one goes.
    private mutating func followRepairs() {
        var tried: Set<MeasurementHistory<SampleIdentity>.Outstanding> = []
        while let next = core.outstanding.first(where: { !tried.contains($0) }) {
            tried.insert(next)
            guard let repair = repairs[next.repair], let entry = known[next.key],
                case .repaired(let outcome) = Repairer(repair, takesAmbiguous: true, now: TestStore.later).evaluate(entry.sample)
            else { continue }
            let form = repaired(entry, outcome, by: repair.text)
            note(form.sample.origin.seriesKey)
            parents[form.sample.identity] = (next.key, repair.text)
            known[form.sample.identity] = form
            core.repaired.append(.init(old: next.key, new: form.sample.identity, repairID: next.repair))
        }
    }

    mutating func keep(_ gated: GatedSample, ordinal: UInt32, ingest: Int64) -> SampleOutcome {
        let identity = gated.sample.identity
        note(gated.sample.origin.seriesKey)
        guard known[identity] == nil else { return .duplicate }
        if let alias = aliases[identity], alias.key == gated.sample.origin.seriesKey { return .duplicate }
        known[identity] = Entry(sample: gated.sample, ordinal: ordinal)
        core.report(identity, entry: ingest)
        update()
        return .stored
    }

    mutating func delete(_ identities: [SampleIdentity], ingest: Int64) {
        for identity in identities where live[identity] != nil { core.decisions.append((.deleted, identity, ingest)) }
        update()
    }

    /// Samples that may be restored.
    func restorable(_ identities: some Sequence<SampleIdentity>) -> [SampleIdentity] {
        var next = core
        for identity in identities { next.decisions.append((.restored, identity, .max)) }
        let live = next.live
        return identities.filter { live.contains($0) }
    }

    mutating func restore(_ identities: [SampleIdentity], ingest: Int64) {
        for identity in identities { core.decisions.append((.restored, identity, ingest)) }
        update()
    }

    func isRefused(undoing entry: Int64) -> Bool { core.isRefused(undoing: entry) }

    mutating func undo(_ undone: Int64, forget: Bool, ingest: Int64) -> Int {
        var count = 0
        if core.ledger.isActive(undone) {
            core.ledger.note(ingest, undoes: undone)
            count = update()
        }
        guard forget else { return count }
        let deleted = Set(core.reports.filter { $0.entry == undone && live[$0.key] == nil }.map(\.key))
        var forms = deleted
        for _ in core.repaired {
            forms.formUnion(core.repaired.filter { forms.contains($0.old) && !$0.isMerged }.map(\.new))
        }
        core.forgetReports(of: deleted)
        core.decisions.removeAll { forms.contains($0.key) }
        for identity in deleted { known[identity] = nil }
        update()
        return count
    }

    // MARK: Repairs

    /// The effect of a repair, without any change.
    ///
    /// It compares with samples outside of it. Samples that it moves away, or would move if they were not deleted, are not the right form
    /// of any other.
    func plan(
        _ repair: Repair, of type: SampleType
    ) -> [(old: SampleIdentity, outcome: Repairer.Outcome, right: (identity: SampleIdentity, key: SeriesKey)?, isMerged: Bool)] {
        let repairer = Repairer(repair, takesAmbiguous: true, now: TestStore.later)
        func evaluated(_ entry: Entry) -> Repairer.Outcome? {
            guard entry.sample.origin.type == type, !wasRepaired(entry.sample.identity, by: repair.text),
                case .repaired(let outcome) = repairer.evaluate(entry.sample),
                live[Self.repaired(entry, outcome, by: repair.text)] == nil
            else { return nil }
            return outcome
        }
        var moved: [(entry: Entry, outcome: Repairer.Outcome, right: (identity: SampleIdentity, key: SeriesKey)?)] = []
        for entry in live.values.sorted(by: isBefore) {
            guard let outcome = evaluated(entry) else { continue }
            var right = right(entry, outcome)
            if let found = right, let deleted = dead[found.identity], !deleted.isReplaced {
                guard evaluated(deleted) != nil else { continue }
                right = nil
            }
            moved.append((entry, outcome, right))
        }
        let leaving = Set(moved.map(\.entry.sample.identity))
        var taken: Set<SampleIdentity> = []
        return moved.map { entry, outcome, right in
            guard let right, live[right.identity] != nil, !leaving.contains(right.identity) else {
                return (entry.sample.identity, outcome, right, false)
            }
            let isMerged = taken.insert(right.identity).inserted
            return (entry.sample.identity, outcome, isMerged ? right : nil, isMerged)
        }
    }

    mutating func migrate(_ repair: Repair, of type: SampleType, _ id: Int64, ingest: Int64) -> Int {
        var count = 0
        for (identity, outcome, right, isMerged) in plan(repair, of: type) {
            guard let entry = live[identity] else { continue }
            count += 1
            var new = right?.identity ?? identity
            if !isMerged {
                let entry = repaired(entry, outcome, by: repair.text)
                new = entry.sample.identity
                note(entry.sample.origin.seriesKey)
                parents[entry.sample.identity] = (identity, repair.text)
                known[entry.sample.identity] = entry
                if let right, aliases[right.identity] == nil { aliases[right.identity] = (id, right.key) }
            }
            // The same repair once more takes the place of the one that was undone.
            core.repaired.removeAll { $0.old == identity && $0.new == new }
            core.repaired.append(.init(old: identity, new: new, isMerged: isMerged, repairID: id))
        }
        repairs[id] = repair
        if count > 0 { core.applied.insert(id) }
        update()
        return count
    }

    /// Whether later repairs build on this one.
    func isRepairedAgain(_ id: Int64) -> Bool { core.isRepairedAgain(id) }

    mutating func undoRepair(_ id: Int64) -> Int {
        let before = Set(live.keys)
        core.applied.remove(id)
        update()
        aliases = aliases.filter { $0.value.repairID != id }
        return Set(live.keys).subtracting(before).count
    }

    private func wasRepaired(_ identity: SampleIdentity, by repair: String) -> Bool {
        var next = parents[identity]
        while let parent = next {
            if parent.repair == repair { return true }
            next = parents[parent.old]
        }
        return false
    }

    private func right(_ entry: Entry, _ outcome: Repairer.Outcome) -> (identity: SampleIdentity, key: SeriesKey)? {
        let duration = outcome.end.microseconds - outcome.start.microseconds
        let identity = SampleIdentity(
            series: outcome.origin.seriesKey, start: outcome.nominalStart, end: outcome.nominalStart + duration,
            numeral: outcome.numeral, unit: outcome.unit, ordinal: entry.ordinal)
        return identity == entry.sample.identity ? nil : (identity, outcome.origin.seriesKey)
    }

    private mutating func note(_ key: SeriesKey) {
        if !series.contains(key) { series.append(key) }
    }

    private func isBefore(_ one: Entry, _ other: Entry) -> Bool {
        func key(_ entry: Entry) -> (Int, Int64, UInt16, UInt64) {
            let identity = entry.sample.identity
            let series = series.firstIndex(of: entry.sample.origin.seriesKey) ?? .max
            return (series, entry.sample.start.microseconds, identity.high, identity.low)
        }
        return key(one) < key(other)
    }

    private static func repaired(_ entry: Entry, _ outcome: Repairer.Outcome, by repair: String) -> SampleIdentity {
        SampleIdentity(
            series: outcome.origin.seriesKey, start: outcome.start.microseconds, repaired: entry.sample.identity, by: repair)
    }

    private func repaired(_ entry: Entry, _ outcome: Repairer.Outcome, by repair: String) -> Entry {
        var sample = entry.sample
        sample.origin = outcome.origin
        (sample.numeral, sample.unit, sample.value) = (outcome.numeral, outcome.unit, outcome.value)
        (sample.start, sample.end, sample.zone) = (outcome.start, outcome.end, outcome.zone)
        sample.timeOrigin = outcome.timeOrigin
        sample.nominalStart = outcome.start.microseconds
        sample.identity = Self.repaired(entry, outcome, by: repair)
        return Entry(sample: sample, ordinal: entry.ordinal)
    }
}
