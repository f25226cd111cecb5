import HealthModel

/// The ledger as a list: which entry undoes which, and the resulting state.
struct LedgerModel {
    /// The entry that each undo undoes.
    private var targets: [Int64: Int64] = [:]

    mutating func note(_ undoing: Int64, undoes entry: Int64) { targets[undoing] = entry }

    /// An entry is active unless an active one undoes it.
    func isActive(_ entry: Int64, through last: Int64 = .max) -> Bool {
        !targets.contains { $0.value == entry && $0.key <= last && isActive($0.key, through: last) }
    }

    /// The last entry that changed whether it is active.
    func changed(_ entry: Int64) -> Int64 {
        var (changed, wasActive) = (entry, true)
        for undoing in targets.keys.sorted() where isActive(entry, through: undoing) != wasActive {
            (changed, wasActive) = (undoing, !wasActive)
        }
        return changed
    }

    /// The entry, the one that it undoes, and so on.
    func chain(from entry: Int64) -> [Int64] { [entry] + (targets[entry].map { chain(from: $0) } ?? []) }

    /// The entry that is affected in the end: itself, or the one that the first of a chain of undos undid.
    func root(_ entry: Int64) -> Int64 { targets[entry].map { root($0) } ?? entry }
}

/// The live samples, as ``MeasurementHistory`` computes them from lists.
struct MeasurementModel<Place: Hashable & Sendable> {
    struct Report {
        var key: Place
        var group: Int
        var entry: Int64
        /// The import of a quarantined reading that the entry accepted.
        var accepted: Int64?
        /// Its place among the reports of its measurement, the most precise one first.
        var rank = 0
    }

    struct Repaired {
        var old: Place
        var new: Place
        var isMerged = false
        var repairID: Int64
    }

    var ledger = LedgerModel()
    private(set) var reports: [Report] = []
    private var groups = 0
    var versions: [MeasurementHistory<Place>.Version] = []
    var repaired: [Repaired] = []
    /// The repairs that are applied.
    var applied: Set<Int64> = []
    var decisions: [(kind: MeasurementHistory<Place>.Decision.Kind, key: Place, entry: Int64)] = []

    /// Adds a report, as a measurement of its own if no group is given.
    mutating func report(_ key: Place, group: Int? = nil, entry: Int64, acceptedFrom accepted: Int64? = nil, rank: Int = 0) {
        groups += 1
        reports.append(
            Report(key: key, group: group ?? 1_000_000 + groups, entry: entry, accepted: accepted, rank: rank))
    }

    mutating func forgetReports(of keys: Set<Place>) { reports.removeAll { keys.contains($0.key) } }

    /// The live samples of all measurements.
    var live: Set<Place> { Set(histories.flatMap(\.live)) }

    /// The state of a sample's report.
    func state(of key: Place) -> MeasurementHistory<Place>.State? {
        histories.lazy.compactMap { $0.state(of: key) }.first
    }

    /// The repairs that a measurement's representative does not have yet.
    var outstanding: [MeasurementHistory<Place>.Outstanding] { histories.flatMap(\.outstanding) }

    /// Each measurement separately. Only versions of a record, and readings that a repair merged, depend on each other.
    private var histories: [MeasurementHistory<Place>] {
        var olds: [Place: Place] = [:]
        for repaired in repaired where !repaired.isMerged { olds[repaired.new] = repaired.old }
        func root(_ key: Place) -> Place {
            var key = key
            while let old = olds[key] { key = old }
            return key
        }
        var clusters: [Place: Int] = [:]
        var histories: [Int: MeasurementHistory<Place>] = [:]
        let records = Dictionary(versions.map { ($0.key, $0.record) }) { one, _ in one }
        var originals: [Int: Place] = [:]
        var groups = Dictionary(reports.map { ($0.key, $0.group) }) { one, _ in one }
        for edge in repaired where edge.isMerged && applied.contains(edge.repairID) {
            guard let own = groups[root(edge.old)], let other = groups[root(edge.new)] else { continue }
            for key in groups.keys where groups[key] == own { groups[key] = other }
        }
        for var report in reports {
            let own = report.group
            report.group = groups[report.key] ?? own
            let cluster = records[report.key].map { -1 - $0 } ?? report.group
            clusters[report.key] = cluster
            let undone = [report.entry, report.accepted].compactMap { $0 }.filter { !ledger.isActive($0) }
            let isActive = undone.isEmpty
            histories[cluster, default: MeasurementHistory()].reports.append(
                .init(
                    key: report.key, group: report.group, agreement: originals[own], entry: report.entry,
                    isActive: isActive, changed: undone.map { ledger.changed($0) }.max(),
                    precision: ReportPrecision(
                        .init(start: 1, timeResolution: Int32(report.rank), isArrival: false, value: 1, valueResolution: 1),
                        path: ReportPath(source: "scale", device: "1"), identity: SampleIdentity(milliseconds: 0, high: 0, low: 0)
                    )))
            if originals[own] == nil { originals[own] = report.key }
        }
        for version in versions { if let cluster = clusters[version.key] { histories[cluster]?.versions.append(version) } }
        for edge in repaired {
            guard let cluster = clusters[root(edge.old)] else { continue }
            histories[cluster]?.repaired.append(
                .init(
                    old: edge.old, new: edge.new, isMerged: edge.isMerged, repair: edge.repairID,
                    isActive: applied.contains(edge.repairID)))
        }
        for decision in decisions {
            guard let cluster = clusters[root(decision.key)] else { continue }
            histories[cluster]?.decisions.append(
                .init(decision.kind, key: decision.key, entry: decision.entry, isActive: ledger.isActive(decision.entry)))
        }
        return Array(histories.values)
    }

    /// Whether an entry cannot be undone: it is undone already, or a repair of its readings is applied.
    func isRefused(undoing entry: Int64) -> Bool {
        guard ledger.isActive(entry) else { return true }
        let root = ledger.root(entry)
        var next = ledger
        next.note(.max, undoes: entry)
        // This also applies if it no longer counted: samples restored since the last undo are removed by this one.
        guard !next.isActive(root) else { return false }
        let keys = Set(reports.filter { $0.entry == root }.map(\.key))
        return repaired.contains { applied.contains($0.repairID) && keys.contains($0.old) }
    }

    /// Whether later repairs changed the result of a repair.
    func isRepairedAgain(_ repairID: Int64) -> Bool {
        let made = Set(repaired.filter { $0.repairID == repairID }.map(\.new))
        return repaired.contains { $0.repairID != repairID && applied.contains($0.repairID) && made.contains($0.old) }
    }
}
