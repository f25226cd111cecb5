/// All reports and decisions about one measurement, and the samples that are live because of them.
///
/// A measurement is a reading with all its equals: reports over other paths or in other units, other versions of the same record, and the
/// results of repairs. Each fact belongs to one entry of the ledger, and counts while that entry is active.
/// `docs/explanation/readings.md` has the table of states.
///
///     var history = MeasurementHistory<Int>()
///     history.reports = [.init(place: 1, group: 0, entry: 1)]
///     history.live  // [1]
///
/// `Key` identifies a sample, live or not. In the store it is a row's key.
public struct MeasurementHistory<Key: Hashable & Sendable>: Sendable {
    /// A reading as received.
    public struct Report: Sendable {
        /// The place of the reading as received.
        public var key: Key
        /// A number shared by all reports of the same reading. Different versions of a record are in different groups.
        public var group: Int
        /// The report of its group, or the result of a repair of one, that it was found to agree with. `nil` for the first report.
        public var agreement: Key?
        /// The ledger entry that brought it.
        public var entry: Int64
        /// Whether the entry is active.
        public var isActive: Bool
        /// The ledger entry since which it has been active or undone.
        public var changed: Int64
        /// Whether all samples that it was computed from are live. True for measurements, which are not computed.
        public var hasLiveInputs: Bool
        /// How precise it is, if its group has other reports.
        public var precision: ReportPrecision?
        /// The person for whom it was reported, if its group has other reports.
        public var person: String

        /// A report with its parts.
        public init(
            key: Key, group: Int, agreement: Key? = nil, entry: Int64, isActive: Bool = true, changed: Int64? = nil,
            hasLiveInputs: Bool = true, precision: ReportPrecision? = nil, person: String = ""
        ) {
            self.key = key
            self.group = group
            self.agreement = agreement
            self.entry = entry
            self.isActive = isActive
            self.changed = changed ?? entry
            self.hasLiveInputs = hasLiveInputs
            self.precision = precision
            self.person = person
        }
    }

    /// The result of a repair of a sample.
    public struct Repaired: Sendable {
        public var old: Key
        /// The new sample, or the correct report that existed already if the two were merged.
        public var new: Key
        /// Whether `new` is a report of its own.
        public var isMerged: Bool
        /// The number of the repair.
        public var repair: Int64
        /// Whether the repair is applied.
        public var isActive: Bool

        /// A repaired sample with its parts.
        public init(old: Key, new: Key, isMerged: Bool = false, repair: Int64 = 0, isActive: Bool = true) {
            self.old = old
            self.new = new
            self.isMerged = isMerged
            self.repair = repair
            self.isActive = isActive
        }
    }

    /// The user's decision about a sample.
    public struct Decision: Sendable {
        /// The kind of decision.
        public enum Kind: Int64, Sendable {
            case deleted = 1
            case restored = 2
        }

        /// The sample that the user selected.
        public var key: Key
        public var kind: Kind
        /// The ledger entry of the decision.
        public var entry: Int64
        /// Whether the entry is active.
        public var isActive: Bool

        /// A decision with its parts.
        public init(_ kind: Kind, key: Key, entry: Int64, isActive: Bool = true) {
            self.kind = kind
            self.key = key
            self.entry = entry
            self.isActive = isActive
        }
    }

    /// A report's version of a record.
    public struct Version: Sendable {
        public var key: Key
        /// The same number for all versions of a record.
        public var record: Int
        /// A higher version replaces the lower ones of its scope.
        public var number: Int64
        /// The ledger entry that made it a version, or 0 for one as it was reported first. It decides between equal numbers.
        public var entry: Int64
        /// Distinguishes devices that number their records independently.
        public var scope: Int64
        /// Whether it replaces the lower versions of every scope.
        public var replacesAll: Bool
        /// Whether repairs moved it from another person or type. It comes before a version with the same number that was reported there.
        public var isMoved: Bool

        /// A version with its parts.
        public init(
            key: Key, record: Int, number: Int64, entry: Int64 = 0, scope: Int64, replacesAll: Bool = false, isMoved: Bool = false
        ) {
            self.key = key
            self.record = record
            self.number = number
            self.entry = entry
            self.scope = scope
            self.replacesAll = replacesAll
            self.isMoved = isMoved
        }

        /// Whether it replaces another version if it counts.
        public func replaces(_ other: Version) -> Bool {
            record == other.record && other.precedes(self) && (replacesAll || scope == other.scope)
        }

        /// Whether it is lower than another version of the record.
        package func precedes(_ other: Version) -> Bool {
            (number, isMoved ? 0 : 1, entry) < (other.number, other.isMoved ? 0 : 1, other.entry)
        }
    }

    /// The reports in ledger order.
    public var reports: [Report] = []
    public var versions: [Version] = []
    public var repaired: [Repaired] = []
    public var decisions: [Decision] = []

    public init() {}

    /// The state of a report.
    public enum State: Hashable, Sendable {
        /// It represents its measurement. After the applied repairs this is its live sample.
        case live(Key)
        /// It is a duplicate of this report, which represents the measurement.
        case duplicate(of: Key)
        /// A higher version of the record replaced it.
        case superseded
        /// The user deleted the measurement.
        case deleted
        /// It does not count: its entry is undone, or a sample that it was computed from is not live.
        case withdrawn
    }

    /// The live samples: at most one sample of each group, and none without an active report.
    ///
    /// 1. A report counts while its entry is active, or if the user restored the reading after the entry was undone. A report that was
    ///    computed from other samples counts only while they are live.
    /// 2. A group yields to a group with a counting report of a higher version of the same record. A report for another person than that of
    ///    the lower version stays: only a repair joined the two.
    /// 3. A group is deleted if the last active decision about it is a deletion. Deleting a version also deletes the lower ones, but no reports for
    ///    another person.
    /// 4. The most precise counting report of a group represents it, in the form made by the applied repairs. A report that only counts
    ///    because it was restored comes after those whose entries are active, and one that a repair merged into a correct report comes after
    ///    that report.
    public var live: [Key] {
        // Usually there is a single report and nothing else.
        if reports.count == 1, repaired.isEmpty, decisions.isEmpty {
            return reports[0].isActive && reports[0].hasLiveInputs ? [reports[0].key] : []
        }
        return states.sorted { $0.group < $1.group }.compactMap { if case .live(let sample) = $0.state { sample } else { nil } }
    }

    /// Returns the state of a sample's report, or `nil` if no report is known.
    public func state(of key: Key) -> State? {
        let root = roots[key] ?? key
        return states.first { $0.key == root }?.state
    }

    /// The state of each report, in the order of the ledger.
    private var states: [(key: Key, group: Int, state: State)] {
        let (roots, groups) = (self.roots, self.groups)
        let counting = self.counting(roots)
        let superseded = supersededReports(groups, counting)
        var deleted: Set<Key> = []
        for (group, members) in Dictionary(grouping: reports, by: \.group) {
            for (person, own) in Dictionary(grouping: members, by: \.person) where isDeleted(group, person, roots, groups) {
                deleted.formUnion(own.map(\.key))
            }
        }
        let left = counting.subtracting(superseded).subtracting(deleted)
        let representatives = Dictionary(
            uniqueKeysWithValues: Set(groups.values).map { ($0, representative(of: $0, left)) })
        func state(of report: Report) -> State {
            if deleted.contains(report.key) { return .deleted }
            guard counting.contains(report.key) else { return .withdrawn }
            if superseded.contains(report.key) { return .superseded }
            guard let first = representatives[report.group] ?? nil else { return .withdrawn }
            return first == report.key ? .live(form(of: first)) : .duplicate(of: first)
        }
        return reports.map { ($0.key, $0.group, state(of: $0)) }
    }

    /// Whether the original report of a sample counts.
    public func counts(_ key: Key) -> Bool {
        let roots = self.roots
        return counting(roots).contains(roots[key] ?? key)
    }

    /// The report that a sample is a form of, or the sample itself if it was not made by a repair.
    public func root(of key: Key) -> Key { roots[key] ?? key }

    /// The form of a sample after the applied repairs.
    public func form(of key: Key) -> Key { chain(from: key).last?.new ?? key }

    /// A repair that is applied to a measurement and has not made a form of its representative yet.
    public struct Outstanding: Hashable, Sendable {
        /// The form of the representative after the other repairs.
        public var key: Key
        public var repair: Int64

        public init(key: Key, repair: Int64) {
            self.key = key
            self.repair = repair
        }
    }

    /// The first outstanding repair of each group. A repair belongs to the measurement, so it applies to whichever report represents it, also
    /// to one that arrived later. It also applies to a reading that it had merged into a correct report, if that report no longer counts.
    public var outstanding: [Outstanding] {
        guard repaired.contains(where: \.isActive) else { return [] }
        return states.compactMap { report in
            guard case .live(let form) = report.state else { return nil }
            let own = chain(from: report.key)
            let known = Set(own.map(\.repair))
            let next = repairs(of: report.key).filter { !known.contains($0) }.min()
            return next.map { Outstanding(key: form, repair: $0) }
        }
    }

    // MARK: Parts of the computation

    /// The applied repairs of a sample, one after the other.
    private func chain(from key: Key) -> [Repaired] {
        var chain: [Repaired] = []
        while chain.count <= repaired.count,
            let next = repaired.first(where: { $0.isActive && !$0.isMerged && $0.old == chain.last?.new ?? key })
        {
            chain.append(next)
        }
        return chain
    }

    /// The repairs that are applied to the measurement of a report: its own, and those of the reports that it agrees with. If it agrees with
    /// the result of a repair, only later repairs count.
    private func repairs(of report: Key) -> Set<Int64> {
        var found: Set<Int64> = []
        var seen: Set<Key> = []
        var queue = [report]
        func add(from key: Key) {
            let forms = Set([key] + chain(from: key).map(\.new))
            for next in repaired where next.isActive && forms.contains(next.old) { found.insert(next.repair) }
        }
        while let key = queue.popLast() {
            guard seen.insert(key).inserted else { continue }
            add(from: key)
            let forms = Set(chain(from: key).map(\.new))
            for other in reports where other.group == group(of: report) {
                if let agreement = other.agreement, agreement == key {
                    queue.append(other.key)
                } else if let agreement = other.agreement, forms.contains(agreement) {
                    add(from: other.key)
                }
                guard other.key == key, let agreement = other.agreement else { continue }
                if roots[agreement] == nil { queue.append(agreement) } else { add(from: agreement) }
            }
        }
        return found
    }

    private func group(of report: Key) -> Int? { reports.first { $0.key == report }?.group }

    /// The original report of each repaired sample.
    private var roots: [Key: Key] {
        guard !repaired.isEmpty else { return [:] }
        var olds: [Key: Key] = [:]
        for repaired in repaired where !repaired.isMerged { olds[repaired.new] = repaired.old }
        var roots: [Key: Key] = [:]
        for new in olds.keys {
            var key = new
            for _ in 0...olds.count { key = olds[key] ?? key }
            roots[new] = key
        }
        return roots
    }

    private var groups: [Key: Int] { Dictionary(reports.map { ($0.key, $0.group) }) { first, _ in first } }

    /// The counting reports.
    private func counting(_ roots: [Key: Key]) -> Set<Key> {
        if decisions.isEmpty { return Set(reports.lazy.filter { $0.isActive && $0.hasLiveInputs }.map(\.key)) }
        var counting: Set<Key> = []
        for report in reports where report.hasLiveInputs {
            let restored = decisions.lazy.filter {
                $0.isActive && $0.kind == .restored && (roots[$0.key] ?? $0.key) == report.key
            }.map(\.entry).max()
            if report.isActive || restored ?? .min > report.changed { counting.insert(report.key) }
        }
        return counting
    }

    private func supersededReports(_ groups: [Key: Int], _ counting: Set<Key>) -> Set<Key> {
        guard !versions.isEmpty else { return [] }
        // The highest counting version suffices.
        let higher = versions.filter { counting.contains($0.key) }.sorted { $1.precedes($0) }
        let superseded = superseded(by: higher.filter { !$0.isMoved }, groups)
        guard higher.contains(where: \.isMoved) else { return superseded }
        // A moved version that its source has replaced is not the other person's any more.
        return self.superseded(by: higher.filter { !$0.isMoved || !superseded.contains($0.key) }, groups)
    }

    /// The reports that yield to one of these versions, highest first.
    private func superseded(by higher: [Version], _ groups: [Key: Int]) -> Set<Key> {
        var lower: [[Int]: Set<Key>] = [:]
        for version in versions {
            guard let own = groups[version.key], let above = higher.first(where: { $0.replaces(version) }),
                let other = groups[above.key], other != own
            else { continue }
            lower[[own, other], default: []].insert(version.key)
        }
        var superseded: Set<Key> = []
        // If each of two groups has a higher version of some record, neither yields.
        for (pair, keys) in lower where lower[[pair[1], pair[0]]] == nil {
            let people = Set(reports.lazy.filter { keys.contains($0.key) }.map(\.person))
            for report in reports where report.group == pair[0] && people.contains(report.person) {
                superseded.insert(report.key)
            }
        }
        return superseded
    }

    /// Whether the reports of a person in a group are deleted. A decision about a version concerns only the person of the lower one.
    private func isDeleted(_ group: Int, _ person: String, _ roots: [Key: Key], _ groups: [Key: Int]) -> Bool {
        guard !decisions.isEmpty else { return false }
        let keys = Set(reports.lazy.filter { $0.group == group && $0.person == person }.map(\.key))
        let own = versions.filter { keys.contains($0.key) }
        let last = decisions.lazy.filter { decision in
            guard decision.isActive else { return false }
            let root = roots[decision.key] ?? decision.key
            if groups[root] == group { return true }
            // Restoring a version restores the record.
            return versions.contains { above in
                above.key == root
                    && own.contains { decision.kind == .restored ? $0.record == above.record : above.replaces($0) }
            }
        }.max { $0.entry < $1.entry }
        return last?.kind == .deleted
    }

    private func representative(of group: Int, _ counting: Set<Key>) -> Key? {
        let own = reports.filter { $0.group == group && counting.contains($0.key) }
        var current = own
        if own.count > 1, !versions.isEmpty {
            let keys = Set(own.map(\.key))
            let known = versions.filter { keys.contains($0.key) }
            current.removeAll { report in
                known.contains { version in version.key == report.key && known.contains { $0.replaces(version) } }
            }
        }
        // A report comes after the one into which a repair merged it.
        let roots = self.roots
        var originals: [Key: Key] = [:]
        for merge in repaired where merge.isActive && merge.isMerged {
            originals[roots[merge.old] ?? merge.old] = roots[merge.new] ?? merge.new
        }
        if !originals.isEmpty {
            let keys = Set(current.map(\.key))
            current.removeAll { report in
                var first = originals[report.key]
                for _ in reports {
                    guard let next = first else { return false }
                    if keys.contains(next) { return true }
                    first = originals[next]
                }
                return false
            }
        }
        func precedes(_ one: Report, before other: Report) -> Bool {
            if one.isActive != other.isActive { return one.isActive }
            guard let precision = one.precision, let another = other.precision, precision != another else {
                return one.entry < other.entry
            }
            return precision < another
        }
        return current.min(by: precedes)?.key
    }
}
