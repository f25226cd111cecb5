/// Computes the live samples from a list of operations, as `docs/explanation/readings.md` describes it.
///
/// It has no code in common with the program. If the documentation does not determine a measurement, its reports are *open*: nothing that
/// could be one of its samples is compared.
struct LawModel {
    struct Report {
        var reading: LawReading
        /// The step of its import.
        var entry: Int
        var isExact: Bool
        var isQuarantined: Bool
        /// Whether it is quarantined because the same version is stored with another content.
        var isConflict: Bool
        var isDeleted = false
        var isOpen = false
    }

    enum Kind: Hashable {
        case ingest, delete, restore, accept, reject
        case undo(Int)
        case repair, merge, final
    }

    struct Decision {
        var step: Int
        var kind: Kind
        /// The reports of the measurement at that time.
        var reports: Set<Int>
        /// The report that was named.
        var named: Int
        var version: Int?
    }

    struct Repair {
        var step: Int
        var request: LawRepair
        var reports: Set<Int>
        var samples: Set<Int>
        /// The units of the samples as they were reported.
        var units: [Int: String]
        var isApplied = true
    }

    var reports: [Report] = []
    /// The ledger of the steps.
    var entries: [Int: Kind] = [:]
    var decisions: [Decision] = []
    var repairs: [Repair] = []
    /// Entries whose readings were forgotten or erased.
    var partial: Set<Int> = []
    var forgotten: Set<Int> = []
    var firstDay = Int.min

    // MARK: Ledger

    /// An entry is active unless an active entry undoes it.
    func isActive(_ step: Int) -> Bool {
        !entries.contains { $0.value == .undo(step) && isActive($0.key) }
    }

    /// The steps that undo an entry, or undo such an undo.
    func undoing(_ step: Int) -> [Int] {
        let direct = entries.filter { $0.value == .undo(step) }.map(\.key)
        return direct + direct.flatMap(undoing)
    }

    // MARK: Measurements

    static func relation(_ one: LawReading, _ other: LawReading) -> LawRelation {
        var relation = LawRelation.none
        if one.series == other.series {
            if one.start == other.start {
                let isSameUnit = one.value.unit == other.value.unit
                relation = isSameUnit ? (one.value == other.value ? .same : .none) : one.value.agrees(other.value)
            }
        } else if one.source.relation(other.source) != .different, one.isAtTime(of: other) {
            relation = one.value.agrees(other.value)
        }
        guard relation != .none, one.person != other.person else { return relation }
        return one.person == .unassigned || other.person == .unassigned ? .unsure : .none
    }

    private func relation(_ one: Int, _ other: Int) -> LawRelation {
        let (first, second) = (reports[min(one, other)], reports[max(one, other)])
        let (a, b) = (first.reading, second.reading)
        if a.series == b.series, a.person == b.person, a.record != nil || b.record != nil {
            if a.record == b.record { return .same }
            let matches = a.start == b.start && a.value.agrees(b.value) != .none
            guard matches else { return .none }
            return a.record != nil && b.record != nil && a.value.unit == b.value.unit ? .none : .unsure
        }
        let relation = Self.relation(a, b)
        return second.isExact ? .none : relation
    }

    /// The measurements: reports that are the same, directly or over others.
    func groups() -> [[Int]] {
        let present = reports.indices.filter { !reports[$0].isDeleted }
        var root = Dictionary(uniqueKeysWithValues: present.map { ($0, $0) })
        for (position, one) in present.enumerated() {
            for other in present[..<position] where relation(one, other) != .none {
                guard let from = root[one], let to = root[other], from != to else { continue }
                for key in present where root[key] == from { root[key] = to }
            }
        }
        return Dictionary(grouping: present) { root[$0] ?? $0 }.values.map { $0.sorted() }.sorted { $0[0] < $1[0] }
    }

    func chain(_ group: [Int]) -> [Repair] { repairs.filter { $0.isApplied && !$0.reports.isDisjoint(with: group) } }

    func decisions(on group: [Int]) -> [Decision] { decisions.filter { !$0.reports.isDisjoint(with: group) } }

    func form(_ report: Int, _ chain: [Repair]) -> LawReading {
        chain.reduce(reports[report].reading) { $1.request.change.applied(to: $0) }
    }

    /// A report after the applied repairs of its measurement. Repairs of a lower version of a record do not apply to a higher one.
    func form(_ report: Int, in group: [Int]) -> LawReading {
        let own = reports[report].reading
        let applied = chain(group).filter { repair in
            let changed = repair.samples.filter(group.contains)
            return own.record == nil || changed.isEmpty
                || changed.contains { reports[$0].reading.record == nil || rank($0) == rank(report) }
        }
        return form(report, applied)
    }

    /// Everything that a report may have become, whatever repairs were applied.
    private func forms(_ report: Int) -> Set<LawReading> {
        repairs.reduce([reports[report].reading]) { forms, repair in
            forms.union(forms.map { repair.request.change.applied(to: $0) })
        }
    }

    func isOpen(_ group: [Int]) -> Bool { group.contains { reports[$0].isOpen } }

    mutating func open(_ group: [Int]) { for report in group { reports[report].isOpen = true } }

    /// Marks the measurements that the documentation does not determine.
    mutating func openUndetermined() {
        let groups = groups()
        for group in groups where isOpen(group) || isUndetermined(group) { open(group) }
        for (position, one) in groups.enumerated() {
            for other in groups[..<position] where meets(one, other) == .unsure {
                open(one)
                open(other)
            }
        }
        var isChanging = true
        while isChanging {
            isChanging = false
            let open = groups.filter(isOpen).flatMap { $0 }.reduce(into: Set<LawReading>()) { $0.formUnion(forms($1)) }
            for group in groups where !isOpen(group) {
                let chain = chain(group)
                let own = Set(group.flatMap { [reports[$0].reading, form($0, chain)] })
                if own.contains(where: { one in open.contains { Self.relation(one, $0) != .none || isSameRecord(one, $0) } }) {
                    self.open(group)
                    isChanging = true
                }
            }
        }
    }

    private func isUndetermined(_ group: [Int]) -> Bool {
        for (position, one) in group.enumerated() {
            for other in group[..<position] where relation(one, other) != .same { return true }
        }
        let quarantined = group.filter { reports[$0].isQuarantined && !reports[$0].isConflict }
        if !quarantined.isEmpty, group.count > 1 { return true }
        let conflicts = group.filter { reports[$0].isConflict }
        if conflicts.count > 1 { return true }
        if let conflict = conflicts.first {
            let version = reports[conflict].reading.version
            let stored = group.filter { !reports[$0].isConflict && reports[$0].reading.version == version }
            if stored.contains(where: { !isActive(reports[$0].entry) }) { return true }
            if !decisions(on: group).allSatisfy({ $0.kind == .accept || $0.kind == .reject }) { return true }
        }
        let own = decisions(on: group)
        // Sources number their records independently.
        if Set(group.filter { reports[$0].reading.record != nil }.map { reports[$0].reading.series }).count > 1 { return true }
        let versions = Set(group.compactMap { reports[$0].reading.record == nil ? nil : reports[$0].reading.version })
        if !versions.isEmpty {
            let hasOthers = group.contains { reports[$0].reading.record == nil }
            if hasOthers, versions.count > 1 || !own.isEmpty { return true }
            if versions.count > 1, own.contains(where: { $0.kind == .restore }) { return true }
        }
        if !quarantined.isEmpty, own.contains(where: { $0.kind == .restore }) { return true }
        for decision in own where decision.kind == .restore {
            let undoing = undoing(reports[decision.named].entry)
            if undoing.contains(where: { $0 > decision.step }), undoing.contains(where: { $0 < decision.step }) { return true }
        }
        let chain = chain(group)
        for repair in chain where repair.request.change == .readAsPounds {
            if Set(repair.units.values).union(group.map { reports[$0].reading.value.unit }).count > 1 { return true }
        }
        return false
    }

    /// Whether a repair made two measurements one: `same` if the second is the correct report of the first.
    private func meets(_ one: [Int], _ other: [Int]) -> LawRelation {
        let (oneChain, otherChain) = (chain(one), chain(other))
        guard !oneChain.isEmpty || !otherChain.isEmpty, !isOpen(one), !isOpen(other) else { return .none }
        let isShared = !Set(oneChain.map(\.step)).isDisjoint(with: otherChain.map(\.step))
        var found = LawRelation.none
        for a in one {
            for b in other {
                let (formA, formB) = (form(a, in: one), form(b, in: other))
                if Self.relation(formA, formB) != .none, !oneChain.isEmpty, !otherChain.isEmpty { return .unsure }
                if isSameRecord(formA, formB), !areVersions(one + other) { return .unsure }
                if isShared { continue }
                // The form between two repairs.
                let between =
                    oneChain.indices.dropFirst().map { (form(a, Array(oneChain[..<$0])), reports[b].reading) }
                    + otherChain.indices.dropFirst().map { (form(b, Array(otherChain[..<$0])), reports[a].reading) }
                if between.contains(where: { Self.relation($0.0, $0.1) != .none }) { return .unsure }
                for (repaired, reported, isRepaired) in [
                    (formA, reports[b].reading, !oneChain.isEmpty), (formB, reports[a].reading, !otherChain.isEmpty),
                ] where isRepaired && Self.relation(repaired, reported) != .none {
                    guard repaired.series == reported.series, repaired.value == reported.value, one.count == 1, other.count == 1,
                        repaired.person == reported.person, oneChain.isEmpty || otherChain.isEmpty,
                        reports[a].reading.record == nil, reports[b].reading.record == nil,
                        !reports[a].isQuarantined, !reports[b].isQuarantined, decisions(on: one + other).isEmpty
                    else { return .unsure }
                    found = .same
                }
            }
        }
        return found
    }

    private func isSameRecord(_ one: LawReading, _ other: LawReading) -> Bool {
        one.record != nil && one.record == other.record && one.series == other.series && one.person == other.person
    }

    /// Whether the documentation determines which of these reports of a record replaces the others.
    private func areVersions(_ all: [Int]) -> Bool {
        let people = Dictionary(grouping: all) { reports[$0].reading.person }
            .mapValues { Set($0.map { reports[$0].reading.version }) }
        return decisions(on: all).isEmpty && all.allSatisfy { reports[$0].reading.record != nil && !reports[$0].isQuarantined }
            && people.values.reduce(0) { $0 + $1.count } == people.values.reduce(into: Set()) { $0.formUnion($1) }.count
    }

    /// Whether a higher version of the record is another measurement, because a repair assigned one of the two to the person of the other.
    private func isReplaced(_ one: Group, by other: Group) -> Bool {
        one.live.contains { lower in
            other.live.contains { higher in
                rank(lower) < rank(higher) && isSameRecord(form(lower, in: one.reports), form(higher, in: other.reports))
            }
        }
    }

    // MARK: Live samples

    /// A measurement and the samples of which one is live. `nil` means that none is.
    struct Group {
        var reports: [Int]
        var options: Set<LawShown?>
        /// The reports of the options.
        var live: Set<Int>
    }

    /// The measurements that the documentation determines.
    func determined() -> [Group] {
        let all = groups().filter { !isOpen($0) }
        var result = all.map(group)
        let first = result
        for one in first.indices where first.indices.contains(where: { $0 != one && isReplaced(first[one], by: first[$0]) }) {
            result[one].options = [nil]
            result[one].live = []
        }
        for (position, one) in all.enumerated() where !chain(one).isEmpty {
            // A correct report replaces the repaired one.
            for (key, other) in all.enumerated()
            where key != position && chain(other).isEmpty && !result[key].live.isEmpty && meets(one, other) == .same {
                result[position].options = [nil]
                result[position].live = []
            }
        }
        return result
    }

    /// The number of samples that a repair leaves out because another import has reported them correctly.
    func joined() -> Int {
        let all = groups().filter { !isOpen($0) }
        return all.reduce(0) { count, one in
            guard !chain(one).isEmpty, !group(one).live.isEmpty else { return count }
            let isJoined = all.contains { $0 != one && chain($0).isEmpty && !group($0).live.isEmpty && meets(one, $0) == .same }
            return count + (isJoined ? 1 : 0)
        }
    }

    func counts(_ report: Int) -> Bool {
        guard isActive(reports[report].entry) || isRestored(report) else { return false }
        guard reports[report].isQuarantined else { return true }
        return decision(report) == .accept
    }

    /// Whether a user restored it after its entry was undone.
    private func isRestored(_ report: Int) -> Bool {
        let undoing = undoing(reports[report].entry)
        return decisions.contains {
            $0.kind == .restore && $0.named == report && isActive($0.step)
                && !undoing.contains(where: { [step = $0.step] in $0 > step })
        }
    }

    private func decision(_ report: Int) -> Kind? {
        decisions.last { ($0.kind == .accept || $0.kind == .reject) && $0.named == report && isActive($0.step) }?.kind
    }

    private func isDeleted(_ report: Int, _ own: [Decision]) -> Bool {
        let last = own.last {
            guard $0.kind != .reject, isActive($0.step) else { return false }
            guard let version = $0.version, reports[report].reading.record != nil else { return true }
            return reports[report].reading.version <= version
        }
        return last?.kind == .delete
    }

    private func group(_ members: [Int]) -> Group {
        let own = decisions(on: members)
        var candidates = members.filter { counts($0) && !isDeleted($0, own) }
        let records = candidates.filter { reports[$0].reading.record != nil }
        if let highest = records.max(by: { rank($0) < rank($1) }) {
            candidates.removeAll { reports[$0].reading.record != nil && $0 != highest }
        }
        guard !candidates.isEmpty else { return Group(reports: members, options: [nil], live: []) }
        let active = candidates.filter { isActive(reports[$0].entry) }
        if !active.isEmpty { candidates = active }
        // Digits are decimal places, digits in all, or the worth of the last digit. The documentation allows each.
        let live = Set(
            [
                { Double($0.decimals) }, { Double($0.significant) }, { -$0.step } as (LawValue) -> Double,
            ].flatMap { digits in maximumPrecise(candidates, digits) })
        return Group(reports: members, options: Set(live.map { form($0, in: members).shown }), live: live)
    }

    private func rank(_ report: Int) -> Int { reports[report].reading.version * 2 + (reports[report].isConflict ? 1 : 0) }

    private func maximumPrecise(_ candidates: [Int], _ digits: (LawValue) -> Double) -> [Int] {
        var left = candidates
        func choose(_ best: (LawReading, LawReading) -> Bool) {
            left = left.filter { one in
                !left.contains { best(reports[$0].reading, reports[one].reading) }
            }
        }
        choose { !$0.source.isToMinutes && $1.source.isToMinutes }
        choose { digits($0.value) > digits($1.value) + 1e-12 }
        choose { !$0.source.deviceKey.isEmpty && $1.source.deviceKey.isEmpty }
        // Of equally precise ones, the first by name. UUIDs decide within a source, and they are not computed here.
        choose { ($0.source.source, $0.source.deviceKey) < ($1.source.source, $1.source.deviceKey) }
        return left
    }

    /// The quarantined readings that the documentation determines.
    func quarantined() -> [LawShown] {
        reports.indices.filter {
            !reports[$0].isDeleted && !reports[$0].isOpen && reports[$0].isQuarantined && isActive(reports[$0].entry)
                && decision($0) == nil
        }.map { reports[$0].reading.shown }
    }

    /// Everything that is not compared.
    func openShown() -> Set<LawShown> {
        reports.indices.filter { reports[$0].isOpen }.reduce(into: Set<LawShown>()) { shown, report in
            shown.formUnion(forms(report).map(\.shown))
        }
    }

    /// The measurement of a reading, if the documentation determines it.
    func group(of reading: LawReading) -> Group? {
        determined().first { $0.reports.contains { reports[$0].reading == reading } }
    }

    func report(_ reading: LawReading) -> Int? { reports.lastIndex { !$0.isDeleted && $0.reading == reading } }
}
