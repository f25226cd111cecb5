/// The expected outcome of a step.
enum LawVerdict {
    /// It makes an entry.
    case accepted
    /// It throws an error.
    case refused
    /// It has nothing to do, and makes no entry.
    case noChange
    /// The documentation does not determine the outcome.
    case either
    /// It is left out, because its target does not exist.
    case skipped
}

extension LawModel {
    func verdict(_ step: LawStep) -> LawVerdict {
        switch step.operation {
        case .ingest, .reopen: return .accepted
        case .undo(let entry, let forget): return undoVerdict(entry, forget)
        case .delete(let reading): return group(of: reading).map { $0.live.isEmpty ? .skipped : .accepted } ?? .skipped
        case .restore(let reading): return restoreVerdict(reading)
        case .accept(let reading), .reject(let reading):
            guard let report = report(reading), !reports[report].isOpen, quarantined().contains(reading.shown),
                reports[report].isQuarantined
            else { return .skipped }
            return .accepted
        case .repair(let repair): return repairVerdict(repair, step.id)
        case .undoRepair(let other): return undoRepairVerdict(other)
        case .merge:
            if reports.contains(where: { $0.isOpen }) { return .either }
            return mergeable().isEmpty ? .noChange : .either
        case .prune, .erase: return .either
        }
    }

    private func undoVerdict(_ step: Int, _ forget: Bool) -> LawVerdict {
        guard let kind = entries[step] else { return .skipped }
        switch kind {
        case .final: return .refused
        case .repair: return .skipped
        case .merge: return .either
        default: break
        }
        if forgotten.contains(step) || partial.contains(step) { return .either }
        if forget, kind != .ingest { return .skipped }
        if case .undo(let undone) = kind, forgotten.contains(undone) { return .either }
        // The documentation does not determine whether an undone entry can be undone again.
        if !isActive(step) { return .either }
        var after = self
        after.entries[Int.max] = .undo(step)
        let changed = entries.filter { $0.value == .ingest && isActive($0.key) != after.isActive($0.key) }.map(\.key)
        let ending = forget ? Set(changed + [step]) : Set(changed.filter { isActive($0) })
        var verdict = LawVerdict.accepted
        for (index, report) in reports.enumerated() where ending.contains(report.entry) && !report.isDeleted {
            if report.isOpen, repairs.contains(where: \.isApplied) { verdict = .either }
            for repair in repairs where repair.isApplied {
                if repair.samples.contains(index), !report.isOpen { return .refused }
                guard
                    repair.reports.contains(index)
                        || groups().contains(where: {
                            $0.contains(index) && !repair.reports.isDisjoint(with: $0)
                        })
                else { continue }
                // A duplicate of the repaired sample.
                let live = determined().first { $0.reports.contains(index) }?.live
                if live?.isEmpty ?? true || live != repair.samples.intersection(live ?? []) { verdict = .either }
            }
        }
        switch kind {
        case .restore, .accept:
            let named = decisions.first { $0.step == step }?.reports ?? []
            let isOpen = named.contains { reports[$0].isOpen }
            if repairs.contains(where: { $0.isApplied && (isOpen || !$0.reports.isDisjoint(with: named)) }) { return .either }
        case .undo:
            if repairs.contains(where: \.isApplied), changed.isEmpty { return .either }
        default: break
        }
        return verdict
    }

    private func restoreVerdict(_ reading: LawReading) -> LawVerdict {
        guard let report = report(reading) else { return .skipped }
        guard let group = group(of: reading) else { return .skipped }
        guard group.live.isEmpty, !reports[report].isQuarantined else { return .skipped }
        guard chain(group.reports).isEmpty, group.reports.count == 1 else { return .either }
        // A version of another measurement replaces it.
        if counts(report), decisions(on: group.reports).isEmpty { return .either }
        return repairs.contains { !$0.reports.isDisjoint(with: group.reports) } ? .either : .accepted
    }

    /// The samples that a repair changes, with their measurements. `nil` if the documentation does not determine them.
    private func targets(_ repair: LawRepair) -> [Group]? {
        var targets: [Group] = []
        for group in determined() where !group.live.isEmpty {
            let chain = chain(group.reports)
            let forms = group.live.map { form($0, in: group.reports) }
            let matching = forms.filter(repair.matches)
            if matching.isEmpty { continue }
            guard matching.count == 1, group.live.count == 1 else { return nil }
            if let same = chain.first(where: { $0.request.change == repair.change }) {
                if same.request == repair { continue }
                return nil
            }
            let repaired = repair.change.applied(to: matching[0])
            if repaired == matching[0] || isWithdrawn(repaired, repair) { continue }
            targets.append(group)
        }
        return targets
    }

    /// Whether the source has reported this correctly, and the import is undone.
    private func isWithdrawn(_ reading: LawReading, _ repair: LawRepair) -> Bool {
        determined().contains { group in
            group.live.isEmpty
                && group.reports.contains {
                    Self.relation(reports[$0].reading, reading) == .same
                        && (!repair.matches(reports[$0].reading)
                            || repair.change.applied(to: reports[$0].reading) == reports[$0].reading)
                        && reports[$0].reading.value == reading.value
                        && reports[$0].reading.series == reading.series && reports[$0].reading.record == reading.record
                }
        }
    }

    private func repairVerdict(_ repair: LawRepair, _ step: Int) -> LawVerdict {
        guard let targets = targets(repair) else { return .skipped }
        if reports.indices.contains(where: { reports[$0].isOpen && reports[$0].reading.source.source == repair.source }) {
            return .either
        }
        if targets.isEmpty { return .noChange }
        // The same change was undone before: its samples exist as tombstones.
        if repairs.contains(where: { $0.request.change == repair.change && $0.request.source == repair.source }) {
            return .either
        }
        if repair.merges { return .accepted }
        var after = self
        after.add(repair, step, targets)
        if after.reports.indices.contains(where: { !reports[$0].isOpen && after.reports[$0].isOpen }) { return .either }
        return after.joined() > joined() ? .refused : .accepted
    }

    private mutating func add(_ repair: LawRepair, _ step: Int, _ targets: [Group]) {
        let samples = Set(targets.flatMap(\.live))
        repairs.append(
            Repair(
                step: step, request: repair, reports: Set(targets.flatMap(\.reports)), samples: samples,
                units: Dictionary(uniqueKeysWithValues: samples.map { ($0, reports[$0].reading.value.unit) })))
        openUndetermined()
    }

    private func undoRepairVerdict(_ step: Int) -> LawVerdict {
        guard let key = repairs.firstIndex(where: { $0.step == step }) else { return .skipped }
        let repair = repairs[key]
        guard repair.isApplied else { return .refused }
        if repair.reports.isEmpty || repair.reports.contains(where: { reports[$0].isOpen || reports[$0].isDeleted }) {
            return .either
        }
        if reports.contains(where: { $0.isOpen && $0.reading.source.source == repair.request.source }) { return .either }
        let later = repairs[(key + 1)...].contains { $0.isApplied && !$0.reports.isDisjoint(with: repair.reports) }
        return later ? .refused : .accepted
    }

    /// Pairs of measurements whose samples are the same, so that `store merge` may merge them.
    func mergeable() -> [[Int]] {
        let live = determined().filter { !$0.live.isEmpty }
        var found: [[Int]] = []
        for (position, one) in live.enumerated() {
            for other in live[..<position] {
                let (oneChain, otherChain) = (chain(one.reports), chain(other.reports))
                let pairs = one.reports.contains { a in
                    other.reports.contains { b in
                        [reports[a].reading, form(a, oneChain)].contains { x in
                            [reports[b].reading, form(b, otherChain)].contains { Self.relation(x, $0) != .none }
                        }
                    }
                }
                if pairs { found.append(one.reports + other.reports) }
            }
        }
        return found
    }

    // MARK: Effects

    /// - Parameter isDone: Whether the store made an entry.
    mutating func apply(_ step: LawStep, isDone: Bool) {
        guard isDone else { return }
        switch step.operation {
        case .ingest(let readings, let exact): ingest(readings, exact, step.id)
        case .undo(let entry, let forget): undo(entry, forget, step.id)
        case .delete(let reading): decide(.delete, reading, step.id)
        case .restore(let reading):
            if verdict(step) == .either, let group = group(of: reading) { open(group.reports) }
            decide(.restore, reading, step.id)
        case .accept(let reading): decide(.accept, reading, step.id)
        case .reject(let reading): decide(.reject, reading, step.id)
        case .repair(let repair):
            entries[step.id] = .repair
            add(repair, step.id, targets(repair) ?? [])
        case .undoRepair(let other):
            entries[step.id] = .repair
            for key in repairs.indices where repairs[key].step == other { repairs[key].isApplied = false }
        case .merge:
            entries[step.id] = .merge
            for pair in mergeable() { open(pair) }
        case .prune(let day): prune(day, step.id)
        case .erase: erase(step.id)
        case .reopen: break
        }
        openUndetermined()
    }

    private mutating func ingest(_ readings: [LawReading], _ exact: Bool, _ step: Int) {
        entries[step] = .ingest
        // The documentation does not determine whether it stores a reading again that was forgotten.
        if readings.contains(where: { report($0).map { reports[$0].isOpen } ?? false }) { partial.insert(step) }
        for reading in readings where reading.day >= firstDay && report(reading) == nil && !isAsRepaired(reading) {
            let isConflict =
                reading.record != nil
                && reports.contains {
                    !$0.isDeleted && $0.reading.record == reading.record && $0.reading.version == reading.version
                        && $0.reading.series == reading.series && $0.reading.person == reading.person
                }
            reports.append(
                Report(
                    reading: reading, entry: step, isExact: exact, isQuarantined: isConflict || reading.value.isImplausible,
                    isConflict: isConflict))
        }
    }

    /// Whether a reading is one that was repaired, as an applied repair made it.
    private func isAsRepaired(_ reading: LawReading) -> Bool {
        reports.indices.contains { report in
            guard !reports[report].isDeleted else { return false }
            var form = reports[report].reading
            return repairs.contains { repair in
                guard repair.isApplied, repair.samples.contains(report) else { return false }
                form = repair.request.change.applied(to: form)
                return form == reading
            }
        }
    }

    private mutating func undo(_ entry: Int, _ forget: Bool, _ step: Int) {
        if verdict(LawStep(id: step, operation: .undo(entry, forget: forget))) == .either {
            for group in groups() where group.contains(where: { reports[$0].entry == entry }) && !chain(group).isEmpty {
                open(group)
            }
        }
        entries[step] = .undo(entry)
        guard forget else { return }
        forgotten.insert(entry)
        for index in reports.indices where reports[index].entry == entry && !reports[index].isOpen {
            if decisions.contains(where: { $0.reports.contains(index) }) || reports[index].isQuarantined
                || reports[index].reading.record != nil
                || repairs.contains(where: { $0.reports.contains(index) })
            {
                reports[index].isOpen = true
            } else {
                reports[index].isDeleted = true
            }
        }
    }

    private mutating func decide(_ kind: Kind, _ reading: LawReading, _ step: Int) {
        entries[step] = kind
        guard let named = report(reading), let members = groups().first(where: { $0.contains(named) }) else { return }
        var version = reading.record == nil ? nil : reading.version
        if kind == .delete, let live = group(of: reading)?.live {
            version = live.compactMap { reports[$0].reading.record == nil ? nil : reports[$0].reading.version }.max()
        }
        decisions.append(Decision(step: step, kind: kind, reports: Set(members), named: named, version: version))
    }

    private mutating func prune(_ day: Int, _ step: Int) {
        entries[step] = .final
        firstDay = max(firstDay, day)
        for group in groups() where !isOpen(group) {
            let wasRepaired = repairs.contains { !$0.reports.isDisjoint(with: group) }
            let isOld = group.map { reports[$0].reading.day < firstDay }
            let mayBeOld = group.contains { member in
                reports[member].reading.day < firstDay
                    || repairs.contains { $0.request.change.applied(to: reports[member].reading).day < firstDay }
            }
            if wasRepaired ? mayBeOld : Set(isOld).count > 1 {
                open(group)
            } else if isOld.contains(true) {
                for member in group where reports[member].isQuarantined { reports[member].isOpen = true }
                for member in group where !reports[member].isQuarantined { reports[member].isDeleted = true }
            }
        }
    }

    private mutating func erase(_ step: Int) {
        entries[step] = .final
        // An entry that concerns only the person is removed, also if nothing is left of its readings.
        let hers = Set(reports.indices.filter { reports[$0].reading.person == .anna })
        partial.formUnion(hers.map { reports[$0].entry })
        partial.formUnion(decisions.filter { !$0.reports.isDisjoint(with: hers) }.map(\.step))
        for group in groups() {
            if isOpen(group) {
                for decision in decisions where !decision.reports.isDisjoint(with: group) { partial.insert(decision.step) }
                continue
            }
            let past = repairs.filter { !$0.reports.isDisjoint(with: group) && $0.request.change == .assign(.anna) }
            let isHers = group.contains { reports[$0].reading.person == .anna }
            guard isHers || !past.isEmpty else { continue }
            partial.formUnion(group.map { reports[$0].entry })
            let wasMoved = repairs.contains {
                guard !$0.reports.isDisjoint(with: group), case .assign = $0.request.change else { return false }
                return true
            }
            if isHers && !wasMoved {
                for member in group { reports[member].isDeleted = true }
                for decision in decisions where !decision.reports.isDisjoint(with: group) { partial.insert(decision.step) }
            } else {
                for decision in decisions where !decision.reports.isDisjoint(with: group) { partial.insert(decision.step) }
                open(group)
            }
        }
        // An entry may be named by entries that undo it.
        for (entry, kind) in entries.sorted(by: { $0.key < $1.key }) {
            if case .undo(let undone) = kind, partial.contains(undone) { partial.insert(entry) }
        }
    }
}
