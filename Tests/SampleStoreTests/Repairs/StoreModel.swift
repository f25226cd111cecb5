import HealthModel
import Pipeline

@testable import SampleStore

/// What a store with repairs promises, without any of how it keeps it: readings by UUID, live or dead, and which became which.
struct StoreModel {
    struct Entry {
        var sample: Sample
        var ordinal: UInt32
        /// The ingest that brought it.
        var bringer: Int64
        /// What made it what it is now.
        var cause: Int64
        /// A dead one's, where a repair, or its undoing, put another in its place.
        var isReplaced = false
    }

    struct Migration {
        var ingest: Int64
        var pairs: [(old: SampleIdentity, new: SampleIdentity, isMerged: Bool)]
        var isApplied = true
    }

    var live: [SampleIdentity: Entry] = [:]
    var dead: [SampleIdentity: Entry] = [:]
    var migrations: [Int64: Migration] = [:]
    /// What each repaired sample was made from, and by which repair.
    private var parents: [SampleIdentity: (old: SampleIdentity, repair: String)] = [:]
    /// The right identities of repaired readings, with the series they belong to.
    private var aliases: [SampleIdentity: (migration: Int64, key: SeriesKey)] = [:]
    /// In the order in which they came.
    private var series: [SeriesKey] = []

    var lines: Set<String> { Set(live.values.map { TestStore.line($0.sample) }) }

    mutating func keep(_ gated: GatedSample, ordinal: UInt32, ingest: Int64) -> SampleOutcome {
        let identity = gated.sample.identity
        note(gated.sample.origin.seriesKey)
        guard live[identity] == nil, dead[identity] == nil else { return .duplicate }
        if let alias = aliases[identity], alias.key == gated.sample.origin.seriesKey { return .duplicate }
        live[identity] = Entry(sample: gated.sample, ordinal: ordinal, bringer: ingest, cause: ingest)
        return .stored
    }

    mutating func delete(_ identities: [SampleIdentity], ingest: Int64) {
        for identity in identities {
            guard var entry = live.removeValue(forKey: identity) else { continue }
            entry.cause = ingest
            entry.isReplaced = false
            dead[identity] = entry
        }
    }

    /// Those that may come back: what a repair replaced does not.
    func restorable(_ identities: some Sequence<SampleIdentity>) -> [SampleIdentity] {
        identities.filter { dead[$0].map { !$0.isReplaced } ?? false }
    }

    mutating func restore(_ identities: [SampleIdentity], ingest: Int64) {
        for identity in restorable(identities) {
            guard var entry = dead.removeValue(forKey: identity) else { continue }
            entry.cause = ingest
            live[identity] = entry
        }
    }

    /// Whether an ingest may be undone: not while a repair of its readings stands.
    func isRepaired(broughtBy ingest: Int64) -> Bool {
        dead.values.contains { entry in
            entry.bringer == ingest && migrations.values.contains { $0.isApplied && $0.ingest == entry.cause }
        }
    }

    /// What each undoing undid.
    var undoes: [Int64: Int64] = [:]

    /// What the undoing of an entry takes back as a whole: itself, or what the undoing of an undoing takes back.
    func takenBack(by undone: Int64) -> Int64 {
        guard let own = undoes[undone], let first = undoes[own] else { return undone }
        return takenBack(by: first)
    }

    mutating func undo(_ undone: Int64, forget: Bool, ingest: Int64) -> Int {
        let taken = takenBack(by: undone)
        let stored = live.filter { $0.value.bringer == taken || $0.value.cause == undone }.map(\.key)
        if ingest > 0 { undoes[ingest] = undone }
        let removed = restorable(dead.filter { $0.value.cause == undone }.map(\.key))
        delete(stored, ingest: ingest)
        restore(removed, ingest: ingest)
        if forget { dead = dead.filter { $0.value.bringer != undone } }
        return stored.count + removed.count
    }

    // MARK: Repairs

    /// What a repair would do: nothing is changed.
    ///
    /// It compares with what stands outside itself: what it moves away, or would if it were not deleted, is nothing's right form.
    func plan(
        _ repair: Repair, of type: SampleType
    ) -> [(old: SampleIdentity, outcome: Repairer.Outcome, right: (identity: SampleIdentity, key: SeriesKey)?, isMerged: Bool)] {
        let repairer = Repairer(repair, takesAmbiguous: true, now: TestStore.later)
        func judged(_ entry: Entry) -> Repairer.Outcome? {
            guard entry.sample.origin.type == type, !wasRepaired(entry.sample.identity, by: repair.text),
                case .repaired(let outcome) = repairer.judge(entry.sample),
                live[Self.repaired(entry, outcome, by: repair.text)] == nil
            else { return nil }
            return outcome
        }
        var moved: [(entry: Entry, outcome: Repairer.Outcome, right: (identity: SampleIdentity, key: SeriesKey)?)] = []
        for entry in live.values.sorted(by: isBefore) {
            guard let outcome = judged(entry) else { continue }
            var right = right(entry, outcome)
            if let found = right, let deleted = dead[found.identity], !deleted.isReplaced {
                guard judged(deleted) != nil else { continue }
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
        var migration = Migration(ingest: ingest, pairs: [])
        for (identity, outcome, right, isMerged) in plan(repair, of: type) {
            guard let entry = live[identity] else { continue }
            if isMerged, let right {
                migration.pairs.append((identity, right.identity, true))
                continue
            }
            let new = repaired(entry, outcome, by: repair.text, ingest: ingest)
            note(new.sample.origin.seriesKey)
            migration.pairs.append((identity, new.sample.identity, false))
            parents[new.sample.identity] = (identity, repair.text)
            live[new.sample.identity] = new
            dead[new.sample.identity] = nil
            if let right, aliases[right.identity] == nil { aliases[right.identity] = (id, right.key) }
        }
        for pair in migration.pairs {
            guard var old = live.removeValue(forKey: pair.old) else { continue }
            old.cause = ingest
            old.isReplaced = true
            dead[pair.old] = old
        }
        if !migration.pairs.isEmpty { migrations[id] = migration }
        return migration.pairs.count
    }

    /// Whether later repairs stand on this one.
    func isRepairedAgain(_ id: Int64) -> Bool {
        migrations[id]?.pairs.contains { pair in
            dead[pair.new].map { entry in migrations.values.contains { $0.isApplied && $0.ingest == entry.cause } } ?? false
        } ?? false
    }

    mutating func undoMigration(_ id: Int64, ingest: Int64) -> Int {
        guard let migration = migrations[id] else { return 0 }
        migrations[id]?.isApplied = false
        var count = 0
        for pair in migration.pairs {
            let new = live[pair.new]
            guard var old = dead[pair.old], old.isReplaced, pair.isMerged || new != nil else { continue }
            old.cause = ingest
            live[pair.old] = old
            dead[pair.old] = nil
            count += 1
            guard !pair.isMerged, let new else { continue }
            live[pair.new] = nil
            dead[pair.new] = new
            dead[pair.new]?.cause = ingest
            dead[pair.new]?.isReplaced = true
        }
        aliases = aliases.filter { $0.value.migration != id }
        return count
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
        func place(_ entry: Entry) -> (Int, Int64, UInt16, UInt64) {
            let identity = entry.sample.identity
            let series = series.firstIndex(of: entry.sample.origin.seriesKey) ?? .max
            return (series, entry.sample.start.microseconds, identity.high, identity.low)
        }
        return place(one) < place(other)
    }

    private static func repaired(_ entry: Entry, _ outcome: Repairer.Outcome, by repair: String) -> SampleIdentity {
        SampleIdentity(
            series: outcome.origin.seriesKey, start: outcome.start.microseconds, repaired: entry.sample.identity, by: repair)
    }

    private func repaired(_ entry: Entry, _ outcome: Repairer.Outcome, by repair: String, ingest: Int64) -> Entry {
        var sample = entry.sample
        sample.origin = outcome.origin
        (sample.numeral, sample.unit, sample.value) = (outcome.numeral, outcome.unit, outcome.value)
        (sample.start, sample.end, sample.zone) = (outcome.start, outcome.end, outcome.zone)
        sample.timeOrigin = outcome.timeOrigin
        sample.nominalStart = outcome.start.microseconds
        sample.identity = Self.repaired(entry, outcome, by: repair)
        return Entry(sample: sample, ordinal: entry.ordinal, bringer: ingest, cause: ingest)
    }
}
