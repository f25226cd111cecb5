import HealthModel
import Pipeline
import PipelineTesting

@testable import SampleStore

/// A difference between the store and the documentation.
struct LawMismatch: Error, CustomStringConvertible {
    var description: String
}

/// Runs steps on a store, and a follower that reads its change feed.
final class LawStore {
    private let test: TestStore
    private var entries: [Int: Int64] = [:]
    private var repairs: [Int: Int64] = [:]
    private var hasErased = false
    private var anchor = Anchor.beginning
    private var copy: [SampleIdentity: StoredSample] = [:]

    private static let epoch: Int64 = 1_767_225_600_000_000
    private static let types: Set<SampleType> = [.bodyMass]

    init() throws {
        test = try TestStore()
        // The checks are made here, so that a failure is one of the sequence.
        test.isSound = false
    }

    /// The reading as a source reports it.
    private static func gated(_ reading: LawReading) throws -> GatedSample {
        let series = reading.source
        let device = series.maker.map { Device(key: series.deviceKey, manufacturer: $0, serial: series.serial) }
        var maker = try SampleMaker(
            .bodyMass, source: series.source, sourceName: series.source, device: device, person: reading.person.rawValue,
            unit: reading.value.unit)
        if series.isToMinutes { maker.timeResolution = 60 }
        return try maker(
            reading.value.numeral, at: Double(reading.start),
            record: reading.record.map { RecordIdentifier(id: $0, version: Int64(reading.version)) },
            rule: reading.value.isImplausible ? .implausible : nil)
    }

    private static func shown(_ sample: Sample) -> LawShown {
        LawShown(
            person: LawPerson(rawValue: sample.origin.person) ?? .unassigned, value: (sample.value * 1e6).rounded() / 1e6,
            start: Int((sample.start.microseconds - epoch) / 1_000_000), source: sample.origin.source.id)
    }

    /// Whether the ledger has no entry of the step that an undo names.
    func lacks(_ step: LawStep) -> Bool {
        guard case .undo(let other, _) = step.operation else { return false }
        return entries[other] == nil
    }

    /// Runs a step. Returns whether it made an entry, or throws if the store does not accept it.
    func run(_ step: LawStep, _ model: LawModel) throws -> Bool {
        let store = try test.store
        var entry: Int64 = 0
        switch step.operation {
        case .ingest(let readings, let exact):
            let ingest = try store.beginIngest(
                IngestDescription(kind: .import, received: TestStore.received.microseconds, comparesPaths: !exact))
            _ = try ingest.store(readings.map(Self.gated))
            entry = try ingest.finish(at: TestStore.received.microseconds).id
        case .undo(let other, let forget):
            guard let number = entries[other] else { return false }
            entry = try store.ledger.undo(number, forget: forget, description: TestStore.description(.undo)).ingest
        case .delete(let reading):
            let group = model.group(of: reading)
            let found = try test.samples().filter { group?.options.contains(Self.shown($0.sample)) ?? false }
            // Two records may have equal samples.
            let own = Set(try (group?.reports ?? []).map { try Self.gated(model.reports[$0].reading).sample.identity })
            guard let sample = found.first(where: { own.contains($0.uuid) }) ?? found.first else { return false }
            entry = try store.samples.delete([sample.uuid], description: TestStore.description(.delete)).ingest
        case .restore(let reading):
            let identity = try Self.gated(reading).sample.identity
            entry = try store.samples.restore([identity], description: TestStore.description(.restore)).ingest
        case .accept(let reading), .reject(let reading):
            let shown = reading.shown
            let quarantined = try store.quarantine.all().first { Self.shown($0.stored.sample) == shown }
            guard let quarantined else { return false }
            if case .accept = step.operation {
                entry = try store.quarantine.accept([quarantined.id], description: TestStore.description(.accept)).ingest
            } else {
                entry = try store.quarantine.reject([quarantined.id], description: TestStore.description(.reject)).ingest
            }
        case .repair(let repair):
            let result = try store.repairs.apply(Self.request(repair)).repairID
            guard let result else { return false }
            repairs[step.id] = result
            return true
        case .undoRepair(let other):
            guard let number = repairs[other] else { return false }
            _ = try store.repairs.undo(number, at: TestStore.received)
            return true
        case .merge: entry = try store.duplicates.merge(description: TestStore.description(.merge)).ingest
        case .prune(let day):
            let date = Instant(microseconds: Self.epoch + Int64(day) * 86_400_000_000)
            entry = try store.prune([.bodyMass: date], waitingFor: [], description: TestStore.description(.prune)).ingest
            // The date is set even if nothing is removed.
            if entry > 0 { entries[step.id] = entry }
            return true
        case .erase:
            entry = try store.erasure.erase(LawPerson.anna.rawValue, at: TestStore.received).ingest
            (anchor, copy) = (.beginning, [:])
            hasErased = true
        case .reopen:
            try test.reopen()
            return true
        }
        guard entry > 0 else { return false }
        entries[step.id] = entry
        return true
    }

    private static func request(_ repair: LawRepair) throws -> RepairRequest {
        var conditions = SampleConditions(types: types)
        conditions.source = repair.source
        if let day = repair.day {
            conditions.from = Instant(microseconds: epoch + Int64(day) * 86_400_000_000)
            conditions.to = Instant(microseconds: epoch + Int64(day + 1) * 86_400_000_000)
        }
        if repair.isOfHeavy {
            conditions.condition = .comparison(.value, .above, .number(try Numeral("120"), try Unit(ucum: "kg")))
        }
        let change: Repair =
            switch repair.change {
            case .readAsPounds: .unit(try Unit(ucum: LawValue.pound))
            case .halve: .scale(try Numeral("0.5"))
            case .shift(let seconds): .shift(Int64(seconds) * 1_000_000)
            case .assign(let person): .person(person.rawValue)
            }
        var request = RepairRequest(change, of: conditions, takesAmbiguous: true, now: TestStore.received)
        request.merging = .atMost(repair.merges ? .max : 0)
        return request
    }

    // MARK: Comparison

    /// Throws if the store differs from the model.
    func compare(_ model: LawModel) throws {
        let samples = try test.samples()
        try compareLive(samples.map { Self.shown($0.sample) }, model)
        let open = model.openShown()
        let quarantined = try test.store.quarantine.all().map { Self.shown($0.stored.sample) }.filter { !open.contains($0) }
            .sorted()
        let expected = model.quarantined().filter { !open.contains($0) }.sorted()
        if quarantined != expected {
            throw LawMismatch(description: "in quarantine: \(quarantined), by the documentation: \(expected)")
        }
        try compareLedger(model)
        try follow(Set(samples.map(\.uuid)))
    }

    private func compareLive(_ live: [LawShown], _ model: LawModel) throws {
        let open = model.openShown()
        var rest = live.filter { !open.contains($0) }.sorted()
        var missing: [String] = []
        for group in model.determined().sorted(by: { $0.options.count < $1.options.count }) {
            if group.options.contains(where: { $0.map(open.contains) ?? false }) {
                if let key = rest.firstIndex(where: { group.options.contains($0) }) { rest.remove(at: key) }
                continue
            }
            if let key = rest.firstIndex(where: { group.options.contains($0) }) {
                rest.remove(at: key)
            } else if !group.options.contains(nil) {
                missing.append(group.options.compactMap { $0?.description }.sorted().joined(separator: " or "))
            }
        }
        guard !missing.isEmpty || !rest.isEmpty else { return }
        throw LawMismatch(
            description:
                "live: \(live.sorted())\(missing.isEmpty ? "" : ", missing: \(missing)")\(rest.isEmpty ? "" : ", too many: \(rest)")"
        )
    }

    private func compareLedger(_ model: LawModel) throws {
        let accounts = try test.store.ledger.accounts()
        for (step, number) in entries {
            guard let kind = model.entries[step], !model.partial.contains(step), kind != .final else { continue }
            guard let account = accounts.first(where: { $0.id == number }) else {
                throw LawMismatch(description: "step \(step) is not in the ledger")
            }
            if (account.state == "undone") == model.isActive(step) {
                throw LawMismatch(
                    description:
                        "the entry of step \(step) is \(account.state), by the documentation: \(model.isActive(step) ? "active" : "undone")"
                )
            }
        }
    }

    private func follow(_ live: Set<SampleIdentity>) throws {
        do {
            try test.store.changes.read(after: anchor, types: nil, pruned: removePruned, apply)
        } catch let error as StoreError where error.kind == .invalid && hasErased {
            // The anchor is older than the erasure: the follower reads everything again.
            (anchor, copy) = (.beginning, [:])
            try test.store.changes.read(after: anchor, types: nil, pruned: removePruned, apply)
        }
        let copied = Set(copy.keys)
        if copied != live {
            throw LawMismatch(
                description:
                    "a follower has \(copied.subtracting(live).count) samples more and \(live.subtracting(copied).count) less")
        }
    }

    private func removePruned(_ pruning: Pruning, _ after: Anchor) {
        copy = copy.filter { !pruning.removes($0.value) }
        anchor = after
    }

    private func apply(_ change: SampleChange, _ after: Anchor) {
        switch change {
        case .added(let stored): copy[stored.uuid] = stored
        case .deleted(let deletion): copy[deletion.uuid] = nil
        }
        anchor = after
    }

    /// Throws if the store's own check finds a problem.
    func check() throws {
        // Samples that are stored twice on purpose are not a problem.
        let problems = try test.store.check(deep: true).filter { !$0.contains("'vitalgate store merge'") }
        if !problems.isEmpty { throw LawMismatch(description: "check: \(problems)") }
    }

    // MARK: Orders of imports

    /// Live samples, live links and daily statistics.
    func answers() throws -> [String] {
        let samples = try test.samples()
        let live = samples.map { "\(Self.shown($0.sample)) \($0.uuid)" }
        let identities = Set(samples.map(\.uuid))
        let links = try samples.flatMap { sample in
            let linked = try test.store.duplicates.explain(sample.uuid)?.linked ?? []
            return linked.filter { identities.contains($0.other.uuid) }.map { "link \(sample.uuid) \($0.other.uuid)" }
        }
        let query = StatisticsQuery(type: .bodyMass, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)))
        let days = try test.store.statistics(query).map { day in
            "\(day.person) \(day.start.microseconds) \(day.count) \(((day.average ?? 0) * 1e6).rounded()) \(day.minimum ?? 0) \(day.maximum ?? 0)"
        }
        return (live + links + days).sorted()
    }
}
