import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The store against the computation over a list: random sequences of imports from several sources and in two units, of two people, of
/// versions of records, of quarantined readings, of deletions, restorations, repairs, and undos of all of these and of undos.
///
/// After each step, the test compares the samples, their sums, and the content of a reader of the change log. In the end everything is
/// undone in a random order, which leaves an empty store.
///
/// `VITALGATE_MEASUREMENTS` sets the number of sequences (2,000), `VITALGATE_SEED` the first one's seed (1).
@Suite struct MeasurementModelTests {
    private static func setting(_ name: String, _ value: UInt64) -> UInt64 {
        getenv(name).flatMap { UInt64(String(cString: $0)) } ?? value
    }

    @Test(arguments: [0, 1] as [UInt64]) func storeMatchesReportsAndDecisions(half: UInt64) throws {
        let (first, count) = (Self.setting("VITALGATE_SEED", 1), Self.setting("VITALGATE_MEASUREMENTS", 2000))
        // A store is made once and emptied: making one takes longer than a sequence.
        let test = try TestStore()
        try test.execute("PRAGMA synchronous = OFF")
        // Half of the sequences undo in steps of one sample each.
        if half == 1 { try test.store.stepRows = 1 }
        let tables = try Self.tables(test)
        for seed in first..<first + count where seed % 2 == half {
            try MeasurementSequence(test, seed: seed).run()
            for table in tables { try test.execute("DELETE FROM \(table)") }
            try test.execute("UPDATE setting SET value = 0 WHERE name IN ('seq', 'accepted', 'forgotten', 'standIns')")
            try test.store.interner.forget()
        }
        try test.close()
    }

    /// The tables that a sequence fills.
    private static func tables(_ test: TestStore) throws -> [String] {
        let statement = try Statement(
            test.store.connection,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('setting', 'epoch') AND name NOT LIKE 'sqlite%'"
        )
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }
}

private final class MeasurementSequence {
    private let test: TestStore
    private let seed: UInt64
    private var random: SeededGenerator
    private var model = MeasurementModel<String>()
    /// What each place is expected to look like: source, start, numeral.
    private var looks: [String: String] = [:]
    private var uuids: [String: SampleIdentity] = [:]
    private var values: [String: Double] = [:]
    /// Current and former samples.
    private var known: Set<String> = []
    private var entries: [Int64] = []
    private var repairs: [(id: Int64, ingest: Int64)] = []
    private var quarantined: [Int64: (key: String, ingest: Int64)] = [:]
    /// The days by which each repair moves.
    private var shifts: [Int64: Int] = [:]
    private var decided: [(id: Int64, description: String, entry: Int64)] = []
    private var story: [String] = []
    private var anchor: Int64 = 0
    private var follower: [SampleIdentity: String] = [:]
    private var hasRepaired = false
    private let paths: [SampleMaker]
    private let guest: [SampleMaker]
    private var comment: Comment { "seed \(seed): \(story.joined(separator: "; "))" }

    init(_ test: TestStore, seed: UInt64) throws {
        self.test = test
        self.seed = seed
        random = SeededGenerator(seed: seed)
        func makers(_ person: String) throws -> [SampleMaker] {
            let device = Device(key: "Acme/Scale/17", manufacturer: "Acme", model: "Scale")
            var ble = try SampleMaker(.bodyMass, source: "ble", sourceName: "Scale", device: device, person: person)
            ble.timeResolution = 1
            var file = try SampleMaker(
                .bodyMass, source: "file", device: Device(key: "Acme", manufacturer: "Acme"), person: person)
            file.timeResolution = 60
            // The scale's own readings again after its unit was changed.
            let pounds = try SampleMaker(
                .bodyMass, source: "ble", sourceName: "Scale", device: device, person: person, unit: "[lb_av]")
            return [ble, file, pounds]
        }
        paths = try makers(TestStore.person)
        guest = try makers("7f9c0000-0000-4000-8000-000000000001")
    }

    func run() throws {
        do {
            try runAll()
        } catch {
            Issue.record("\(error), \(comment)")
            throw error
        }
    }

    private func runAll() throws {
        for _ in 0..<Int.random(in: 8...16, using: &random) {
            try step()
            try compare()
        }
        #expect(try test.store.check(deep: true) == [], comment)
        try undoEverything()
        #expect(try test.store.check(deep: true) == [], comment)
    }

    private func step() throws {
        switch Int.random(in: 0..<13, using: &random) {
        case 0, 1, 2: try importWeights()
        case 3: try importVersion()
        case 4: try hold()
        case 5: try evaluate()
        case 6: try delete()
        case 7: try restore()
        case 8: try repair()
        case 9: try undoRepair()
        default: try undo()
        }
    }

    private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private func description(_ kind: IngestKind) -> IngestDescription { TestStore.description(kind) }

    private func look(_ sample: Sample) -> String {
        "\(sample.origin.person.prefix(4)) \(sample.origin.source.id) \(sample.origin.type.id) \(sample.start.microseconds) \(sample.numeral.text) \(sample.unit.code)"
    }

    private func note(_ key: String, _ sample: Sample) {
        looks[key] = look(sample)
        uuids[key] = sample.identity
        values[key] = sample.value
    }

    // MARK: Input

    /// Measurement `index` of one of two people, as a source reports it.
    private func weight(_ person: Int, _ index: Int, _ path: Int) throws -> GatedSample {
        let maker = (person == 0 ? paths : guest)[path]
        let hundredths = 8015 + index * 100
        let pounds = (Double(hundredths) / 100 / 0.45359237 * 10).rounded() / 10
        return try maker(
            ["\(hundredths / 100).15", "\(hundredths / 100).2", "\(pounds)"][path],
            at: Double(index * 3600) + (path == 1 ? 0 : 24))
    }

    private func importWeights() throws {
        let (person, path) = (pick(2), pick(3))
        let chosen = [0, 1, 2].filter { _ in pick(2) == 0 }
        var batch: [(key: String, group: Int, sample: GatedSample)] = []
        for index in chosen {
            let key = "w\(person)\(index)\(path)"
            // A report of a reading that a repair has moved is another reading, for another test.
            guard !hasRepaired || model.reports.contains(where: { $0.key == key }) else { continue }
            batch.append((key, person * 10 + index, try weight(person, index, path)))
        }
        guard !batch.isEmpty else { return }
        let (outcomes, account) = try test.keep(batch.map(\.sample))
        story.append("\(account.id): import \(batch.map(\.key))")
        for (key, group, sample) in batch where !model.reports.contains(where: { $0.key == key }) {
            note(key, sample.sample)
            // To the second in hundredths of a kilogram, to the second in tenths of a pound, and to the minute.
            model.report(key, group: group, entry: account.id, rank: [0, 2, 1][path])
        }
        entries.append(account.id)
        let live = model.live
        for (outcome, entry) in zip(outcomes.joined(), batch) {
            let isNew = live.contains(entry.key) && !known.contains(entry.key)
            #expect(outcome == (isNew ? .stored : .duplicate), "\(entry.key) in \(comment)")
        }
        #expect(account.stored + account.duplicate == batch.count, comment)
    }

    private func importVersion() throws {
        let (record, version) = (pick(2), Int64(pick(3) + 1))
        let key = "r\(record)\(version)"
        let sample = try SampleMaker(.heartRate, source: "app")(
            "\(60 + record * 10 + Int(version))", at: Double(record), record: RecordIdentifier(id: "r\(record)", version: version)
        )
        let isNew = !model.versions.contains { $0.record == record && $0.number == version }
        let (outcomes, account) = try test.keep([sample])
        story.append("\(account.id): import \(key)")
        entries.append(account.id)
        if isNew {
            note(key, sample.sample)
            model.report(key, group: 100 + record * 10 + Int(version), entry: account.id)
            model.versions.append(.init(key: key, record: record, number: version, scope: 1))
        }
        #expect(outcomes == [[isNew && model.live.contains(key) ? .stored : .duplicate]], comment)
    }

    private func hold() throws {
        let index = pick(3)
        let key = "q\(index)"
        let sample = try SampleMaker(.stepCount, source: "watch")("90\(index)", at: Double(index), rule: .impossible)
        let (outcomes, account) = try test.keep([sample])
        story.append("\(account.id): hold \(key)")
        let isNew = !quarantined.values.contains { $0.key == key }
        #expect(outcomes == [[isNew ? .quarantined : .duplicate]], comment)
        entries.append(account.id)
        guard isNew, let id = try test.store.connection.integer("SELECT max(id) FROM quarantine") else { return }
        note(key, sample.sample)
        quarantined[id] = (key, account.id)
    }

    private func state(of id: Int64) -> String {
        // Undoing an import rejects its quarantined readings, also accepted ones.
        if let ingest = quarantined[id]?.ingest, !model.ledger.isActive(ingest) { return "rejected" }
        if let last = decided.last(where: { $0.id == id && model.ledger.isActive($0.entry) }) { return last.description }
        return "held"
    }

    private func evaluate() throws {
        guard
            let (id, key) = quarantined.sorted(by: { $0.key < $1.key }).randomElement(using: &random).map({
                ($0.key, $0.value.key)
            })
        else { return }
        let accepts = pick(2) == 0
        // A reading that a user has restored in the meantime is already stored.
        guard state(of: id) == "held", !accepts || !model.live.contains(key) else {
            #expect(throws: StoreError.self, comment) {
                try test.store.quarantine.accept([id], description: description(.accept))
            }
            return
        }
        guard accepts else {
            let entry = try test.store.quarantine.reject([id], description: description(.reject)).ingest
            story.append("\(entry): reject \(key)")
            decided.append((id, "rejected", entry))
            return entries.append(entry)
        }
        // A reading that was accepted, deleted, and quarantined again keeps its state.
        let wasAccepted = model.reports.contains { $0.key == key }
        let entry = try test.store.quarantine.accept([id], description: description(.accept)).ingest
        story.append("\(entry): accept \(key)")
        decided.append((id, "accepted", entry))
        entries.append(entry)
        if wasAccepted {
            model.decisions.append((.restored, key, entry))
        } else {
            model.report(key, group: 200 + Int(id), entry: entry, acceptedFrom: quarantined[id]?.ingest)
        }
    }

    // MARK: Decisions

    private func delete() throws {
        guard let key = model.live.sorted().randomElement(using: &random), let uuid = uuids[key] else { return }
        let entry = try test.store.samples.delete([uuid], description: description(.delete)).ingest
        story.append("\(entry): delete \(key)")
        model.decisions.append((.deleted, key, entry))
        entries.append(entry)
    }

    private func restore() throws {
        guard let key = known.subtracting(model.live).sorted().randomElement(using: &random), let uuid = uuids[key] else {
            return
        }
        var next = model
        next.decisions.append((.restored, key, .max))
        story.append("restore \(key)")
        // A more precise report may have arrived since the measurement was deleted.
        var restored = next.live.contains(key) ? key : nil
        if model.state(of: key) == .deleted, case .duplicate(let other)? = next.state(of: key) { restored = other }
        guard let restored else {
            #expect(throws: StoreError.self, comment) {
                try test.store.samples.restore([uuid], description: description(.restore))
            }
            return
        }
        let entry = try test.store.samples.restore([uuid], description: description(.restore)).ingest
        story[story.count - 1] = "\(entry): restore \(key)"
        model.decisions.append((.restored, restored, entry))
        entries.append(entry)
    }

    private func repair() throws {
        let (source, days) = (["ble", "file", "app"][pick(3)], [10, 20][pick(2)])
        let type: SampleType = source == "app" ? .heartRate : .bodyMass
        let request = TestStore.request(.shift(Int64(days) * 86_400_000_000), type) { $0.source = source }
        let text = request.repair.text
        let moved = model.live.filter { key in
            looks[key]?.contains(" \(source) ") == true && !key.hasPrefix("q") && !key.contains("+\(days)")
        }
        guard let repairID = try test.migrate(request).repairID, let ingest = try test.store.repairs.repair(repairID)?.ingest
        else {
            #expect(moved.isEmpty, "\(text), \(comment)")
            return
        }
        story.append("\(ingest): shift \(source) by \(days) as \(repairID)")
        hasRepaired = true
        model.applied.insert(repairID)
        repairs.append((repairID, ingest))
        shifts[repairID] = days
        var pairs: [SampleIdentity: SampleIdentity] = [:]
        try test.store.repairs.forEachPair(of: repairID) { pairs[$0.old] = $0.new }
        #expect(pairs.count == moved.count, comment)
        for key in moved {
            let new = "\(key)+\(days)"
            guard let old = uuids[key], let uuid = pairs[old], case .live(let stored)? = try test.store.samples.lookup(uuid)
            else {
                Issue.record("\(key) is not moved, \(comment)")
                continue
            }
            let words = looks[key]?.split(separator: " ").map(String.init) ?? []
            let start = (Int64(words.count > 3 ? words[3] : "") ?? 0) + Int64(days) * 86_400_000_000
            #expect(stored.sample.start.microseconds == start, comment)
            note(new, stored.sample)
            model.repaired.removeAll { $0.old == key && $0.new == new }
            model.repaired.append(.init(old: key, new: new, repairID: repairID))
        }
    }

    /// A repair applies to whichever report represents its measurement, also if that is another one than before.
    private func followRepairs(_ samples: [StoredSample]) {
        var tried: Set<MeasurementHistory<String>.Outstanding> = []
        while let next = model.outstanding.first(where: { !tried.contains($0) }) {
            tried.insert(next)
            guard let days = shifts[next.repair], var words = looks[next.key]?.split(separator: " ").map(String.init),
                words.count > 3, let start = Int64(words[3])
            else { continue }
            words[3] = "\(start + Int64(days) * 86_400_000_000)"
            guard let form = samples.first(where: { look($0.sample) == words.joined(separator: " ") }) else { continue }
            let new = "\(next.key)+\(days)"
            note(new, form.sample)
            model.repaired.append(.init(old: next.key, new: new, repairID: next.repair))
        }
    }

    private func undoRepair() throws {
        guard let id = model.applied.sorted().randomElement(using: &random) else { return }
        story.append("undo repair \(id)")
        guard !model.isRepairedAgain(id) else {
            #expect(throws: StoreError.self, comment) { try test.undo(id) }
            return
        }
        try test.undo(id)
        model.applied.remove(id)
    }

    private func undo() throws {
        guard let entry = entries.randomElement(using: &random) else { return }
        try undo(entry)
    }

    @discardableResult private func undo(_ entry: Int64) throws -> Bool {
        story.append("undo \(entry)")
        guard !model.isRefused(undoing: entry) else {
            #expect(throws: StoreError.self, comment) {
                try test.store.ledger.undo(entry, forget: false, description: description(.undo))
            }
            return false
        }
        let undoing = try test.store.ledger.undo(entry, forget: false, description: description(.undo)).ingest
        story[story.count - 1] = "\(undoing): undo \(entry)"
        #expect(undoing > 0, comment)
        model.ledger.note(undoing, undoes: entry)
        entries.append(undoing)
        return true
    }

    // MARK: Comparison

    private func compare() throws {
        let samples = try test.samples()
        followRepairs(samples)
        let live = model.live
        #expect(samples.map { look($0.sample) }.sorted() == live.compactMap { looks[$0] }.sorted(), comment)
        #expect(Set(samples.map(\.uuid)) == Set(live.compactMap { uuids[$0] }), comment)
        known.formUnion(live)
        try test.store.changes.read(after: anchor, types: nil) { change in
            anchor = change.seq
            switch change {
            case .added(let stored): follower[stored.uuid] = look(stored.sample)
            case .deleted(let deletion): follower[deletion.uuid] = nil
            }
        }
        #expect(follower.values.sorted() == live.compactMap { looks[$0] }.sorted(), comment)
        try compareSums(of: live)
        for id in quarantined.keys {
            #expect(try test.store.quarantine.sample(number: id)?.state == state(of: id), comment)
        }
        for entry in entries {
            #expect(
                try (test.store.ledger.account(of: entry)?.state != "undone") == model.ledger.isActive(entry),
                "\(entry) in \(comment)")
        }
    }

    /// The sums, which the store keeps in parts in addition to the samples, are those of the live samples.
    private func compareSums(of live: Set<String>) throws {
        for (type, prefix) in [(SampleType.heartRate, "r"), (.bodyMass, "w"), (.stepCount, "q")] {
            var query = StatisticsQuery(type: type, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
            query.countsEvery = true
            let days = try test.store.statistics(query)
            let expected = live.filter { $0.hasPrefix(prefix) }.compactMap { values[$0] }
            #expect(days.reduce(0) { $0 + $1.count } == expected.count, "\(type.id) in \(comment)")
            if type != .stepCount {
                #expect(days.compactMap(\.minimum).min() == expected.min(), "\(type.id) in \(comment)")
                #expect(days.compactMap(\.maximum).max() == expected.max(), "\(type.id) in \(comment)")
            }
            // The average of heart rates is weighted by time.
            guard type != .heartRate else { continue }
            let sum = days.reduce(0) { $0 + (type == .stepCount ? $1.sum : ($1.average ?? 0) * Double($1.count)) }
            #expect(abs(sum - expected.reduce(0, +)) < 1e-6, "\(type.id) in \(comment)")
        }
    }

    /// In any order: a refused undo is tried again after others.
    private func undoEverything() throws {
        for _ in 0..<200 {
            var left: [Int64] = entries.filter { model.ledger.root($0) == $0 && model.ledger.isActive($0) }
            guard !left.isEmpty || !model.applied.isEmpty else { break }
            left.shuffle(using: &random)
            if let id = model.applied.sorted().randomElement(using: &random), !model.isRepairedAgain(id) {
                story.append("undo repair \(id)")
                try test.undo(id)
                model.applied.remove(id)
                try compare()
            }
            if let entry = left.first, try undo(entry) { try compare() }
        }
        #expect(try test.samples().isEmpty, comment)
    }
}
