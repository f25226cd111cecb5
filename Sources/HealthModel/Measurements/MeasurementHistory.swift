/// Everything that was reported and decided about one measurement, and what is live because of it.
///
/// A measurement is a reading with everything that was found to be the same reading: reports over other paths or in other units, other
/// versions of the same record, and what repairs made of them. Each fact belongs to one entry of the ledger, and counts while that entry
/// is active. `docs/measurements.md` has the table of states.
///
///     var history = MeasurementHistory<Int>()
///     history.reports = [.init(place: 1, group: 0, entry: 1)]
///     history.live  // [1]
///
/// `Place` names a sample, live or not: in the store a row's key.
public struct MeasurementHistory<Place: Hashable & Sendable>: Sendable {
    /// A reading as it arrived.
    public struct Report: Sendable {
        /// Where the reading is as it arrived.
        public var place: Place
        /// The same number for all reports of the same reading. Versions of a record that differ are in different groups.
        public var group: Int
        /// The report of its group that it was compared with; nothing where it was the first. That one goes before it.
        public var first: Place?
        /// The ledger entry that brought it.
        public var entry: Int64
        /// Whether the entry is active.
        public var isActive: Bool
        /// The last ledger entry that undid the entry, or redid it; the entry itself where none did.
        public var changed: Int64
        /// Whether everything that it was computed from is live. What was measured was computed from nothing.
        public var isFounded: Bool

        /// Describes a report.
        public init(
            place: Place, group: Int, first: Place? = nil, entry: Int64, isActive: Bool = true, changed: Int64? = nil,
            isFounded: Bool = true
        ) {
            self.place = place
            self.group = group
            self.first = first
            self.entry = entry
            self.isActive = isActive
            self.changed = changed ?? entry
            self.isFounded = isFounded
        }
    }

    /// What a repair made of a sample.
    public struct Repaired: Sendable {
        public var old: Place
        /// Nothing where the reading was there in the right form already, as another measurement.
        public var new: Place?
        /// Whether the repair is applied.
        public var isActive: Bool

        /// Describes a repaired sample.
        public init(old: Place, new: Place?, isActive: Bool = true) {
            self.old = old
            self.new = new
            self.isActive = isActive
        }
    }

    /// What a person decided about a sample.
    public struct Decision: Sendable {
        /// What was decided.
        public enum Kind: Int64, Sendable {
            case deleted = 1
            case restored = 2
        }

        /// The sample that the person named.
        public var place: Place
        public var kind: Kind
        /// The ledger entry of the decision.
        public var entry: Int64
        /// Whether the entry is active.
        public var isActive: Bool

        /// Describes a decision.
        public init(_ kind: Kind, place: Place, entry: Int64, isActive: Bool = true) {
            self.kind = kind
            self.place = place
            self.entry = entry
            self.isActive = isActive
        }
    }

    /// That a report is a version of a record.
    public struct Version: Sendable {
        public var place: Place
        /// The same number for all versions of a record.
        public var record: Int
        /// A higher version replaces the lower ones of its scope.
        public var number: Int64
        /// Tells apart devices that number their records on their own.
        public var scope: Int64
        /// Whether it replaces the lower versions of every scope.
        public var replacesAll: Bool

        /// Describes a version.
        public init(place: Place, record: Int, number: Int64, scope: Int64, replacesAll: Bool = false) {
            self.place = place
            self.record = record
            self.number = number
            self.scope = scope
            self.replacesAll = replacesAll
        }

        /// Whether it takes the place of another version where it counts.
        public func replaces(_ other: Version) -> Bool {
            record == other.record && number > other.number && (replacesAll || scope == other.scope)
        }
    }

    /// In the order of the ledger.
    public var reports: [Report] = []
    public var versions: [Version] = []
    public var repaired: [Repaired] = []
    public var decisions: [Decision] = []

    public init() {}

    /// What is live: one sample of each group at most, and none without an active report.
    ///
    /// 1. A report counts while its entry is active, or where a person restored the reading after the entry was undone. One that was computed
    ///    from other samples counts only while these are live.
    /// 2. A group gives way to a group with a counting report of a higher version of the same record.
    /// 3. A group is deleted if the last active decision about it is a deletion. Deleting a version deletes the lower ones as well.
    /// 4. The first counting report of a group represents it, as the applied repairs made it. One that only counts because it was restored goes
    ///    behind those whose entries are active, unless the others were compared with it.
    public var live: [Place] {
        // Mostly there is a single report, of which nothing else is known.
        if reports.count == 1, repaired.isEmpty, decisions.isEmpty {
            return reports[0].isActive && reports[0].isFounded ? [reports[0].place] : []
        }
        let (roots, groups) = (self.roots, self.groups)
        let counting = self.counting(roots)
        let superseded = supersededGroups(groups, counting)
        var found: [Place] = []
        for group in Set(groups.values).sorted() where !superseded.contains(group) {
            guard !isDeleted(group, roots, groups), let first = representative(of: group, counting), let form = form(of: first)
            else { continue }
            found.append(form)
        }
        return found
    }

    /// Whether the report that a sample is a form of counts.
    public func counts(_ place: Place) -> Bool {
        let roots = self.roots
        return counting(roots).contains(roots[place] ?? place)
    }

    /// The report that a sample is a form of; itself where no repair made it.
    public func root(of place: Place) -> Place { roots[place] ?? place }

    /// What the applied repairs made of a sample; nothing where it gave way to another measurement.
    public func form(of place: Place) -> Place? {
        var place = place
        for _ in 0...repaired.count {
            guard let next = repaired.first(where: { $0.isActive && $0.old == place }) else { return place }
            guard let new = next.new else { return nil }
            place = new
        }
        return place
    }

    // MARK: Parts of the computation

    /// What each repaired sample was reported as.
    private var roots: [Place: Place] {
        guard !repaired.isEmpty else { return [:] }
        var olds: [Place: Place] = [:]
        for repaired in repaired { if let new = repaired.new { olds[new] = repaired.old } }
        var roots: [Place: Place] = [:]
        for new in olds.keys {
            var place = new
            for _ in 0...olds.count { place = olds[place] ?? place }
            roots[new] = place
        }
        return roots
    }

    private var groups: [Place: Int] { Dictionary(reports.map { ($0.place, $0.group) }) { first, _ in first } }

    /// The reports that count.
    private func counting(_ roots: [Place: Place]) -> Set<Place> {
        var counting: Set<Place> = []
        for report in reports where report.isFounded {
            let restored = decisions.lazy.filter {
                $0.isActive && $0.kind == .restored && (roots[$0.place] ?? $0.place) == report.place
            }.map(\.entry).max()
            if report.isActive || restored ?? .min > report.changed { counting.insert(report.place) }
        }
        return counting
    }

    private func supersededGroups(_ groups: [Place: Int], _ counting: Set<Place>) -> Set<Int> {
        guard !versions.isEmpty else { return [] }
        // The highest that counts suffices.
        let higher = versions.filter { counting.contains($0.place) }.sorted { $0.number > $1.number }
        var pairs: Set<[Int]> = []
        for version in versions {
            guard let lower = groups[version.place], let above = higher.first(where: { $0.replaces(version) }),
                let other = groups[above.place], other != lower
            else { continue }
            pairs.insert([lower, other])
        }
        // Two groups that have versions of two records, each a higher one: neither gives way.
        return Set(pairs.filter { !pairs.contains([$0[1], $0[0]]) }.map { $0[0] })
    }

    private func isDeleted(_ group: Int, _ roots: [Place: Place], _ groups: [Place: Int]) -> Bool {
        let own = versions.filter { groups[$0.place] == group }
        let last = decisions.lazy.filter { decision in
            guard decision.isActive else { return false }
            // Whoever restores a version wants the record.
            if decision.kind == .restored { return true }
            let root = roots[decision.place] ?? decision.place
            return groups[root] == group
                || versions.contains { above in above.place == root && own.contains { above.replaces($0) } }
        }.max { $0.entry < $1.entry }
        return last?.kind == .deleted
    }

    private func representative(of group: Int, _ counting: Set<Place>) -> Place? {
        let own = reports.filter { $0.group == group && counting.contains($0.place) }
        var current = own
        if own.count > 1, !versions.isEmpty {
            let places = Set(own.map(\.place))
            let known = versions.filter { places.contains($0.place) }
            current.removeAll { report in
                known.contains { version in version.place == report.place && known.contains { $0.replaces(version) } }
            }
        }
        let firsts = Dictionary(reports.map { ($0.place, $0.first) }) { one, _ in one }
        let places = Set(current.map(\.place))
        current.removeAll { report in
            var first = report.first
            for _ in reports {
                guard let next = first else { return false }
                if places.contains(next) { return true }
                first = firsts[next] ?? nil
            }
            return false
        }
        return (current.first { $0.isActive } ?? current.first)?.place
    }
}
