/// Which reports of one person and type are one measurement, and which of them represents it.
///
/// The result depends on the reports and not on their order of arrival. Two reports of one path are one reading if they have the same time in
/// two units (``DuplicateRule/unit``). A third one in one of these units is the same reading if another import brought it with other digits.
/// Reports of two paths are one measurement if rule, devices, times and values agree (``DuplicateRule``, ``DeviceRelation``, ``Agreement``,
/// ``DenseStream``). The likeness of two reports is symmetric, so the pairs are found by deferred acceptance:
///
/// 1. A report joins the more precise representative that it is most alike.
/// 2. A representative accepts one report of each path, the most alike. The next best choice of a rejected report follows.
/// 3. A report without a choice represents a measurement of its own.
///
/// Reports that do not count come after those that do.
public struct ReportGrouping<Key: Hashable & Sendable>: Sendable {
    /// A report of a measurement.
    public struct Report: Sendable {
        public var key: Key
        /// Person, type, source and device.
        public var origin: Origin
        public var trace: ReadingTrace
        /// The UCUM code of the unit that it was reported in.
        public var unit: String
        public var precision: ReportPrecision
        /// Whether its entry is active, or a user restored it.
        public var counts: Bool
        /// The start that it was reported with, in microseconds since 1970. Reports of one path are compared by it.
        public var nominalStart: Int64
        /// The number of the import that reported it, or `nil` if it is not known.
        public var importID: Int64?

        /// A report with its parts.
        ///
        /// - Parameters:
        ///   - identity: The UUID of the reading.
        ///   - isGrouped: Whether it was reported together with other values.
        public init(
            key: Key, origin: Origin, trace: ReadingTrace, unit: String, identity: SampleIdentity, isGrouped: Bool = false,
            counts: Bool = true
        ) {
            (self.key, self.origin, self.trace, self.unit, self.counts) = (key, origin, trace, unit, counts)
            nominalStart = trace.start
            precision = ReportPrecision(isGrouped: isGrouped, trace.precision, path: ReportPath(origin), identity: identity)
        }

        fileprivate static func precedes(_ one: Report, _ other: Report) -> Bool {
            one.counts != other.counts ? one.counts : one.precision < other.precision
        }
    }

    /// The reports of one measurement.
    public struct Group: Hashable, Sendable {
        /// The most precise report that counts.
        public var representative: Key
        /// The other reports, most precise first.
        public var others: [Key]
    }

    /// Two representatives that agree and are of different devices.
    public struct Link: Hashable, Sendable {
        public var key: Key
        public var other: Key
        public var rule: DuplicateRule
    }

    /// The measurements, that of the most precise report first.
    public let groups: [Group]
    /// The links of each representative with the most alike one of each other path.
    public let links: [Link]

    /// Groups reports of one person and type.
    ///
    /// - Parameter count: Returns the number of reports of a path that start in an interval (the end is excluded), or any number above
    ///   ``DenseStream/streamThreshold`` if there are more than that.
    public init<Failure: Error>(
        _ reports: [Report], count: (_ path: ReportPath, _ low: Int64, _ high: Int64) throws(Failure) -> Int
    ) throws(Failure) {
        let reports = reports.sorted(by: Report.precedes)
        let readings = Self.readings(reports)
        var graph = AgreementGraph(count: readings.count)
        for (one, other) in Self.neighbours(readings.map { $0.map { reports[$0] } }) {
            var (best, link): (Agreement?, (Agreement, DuplicateRule)?)
            for (first, second) in readings[one].flatMap({ first in readings[other].map { (first, $0) } }) {
                guard let found = try Self.agreement(reports[first], reports[second], count: count) else { continue }
                if found.verdict == .duplicate {
                    best = best.map { min($0, found.agreement) } ?? found.agreement
                } else if link.map({ found.agreement < $0.0 }) ?? true {
                    link = (found.agreement, found.rule)
                }
            }
            if let best { graph.add(best, one, other) }
            if let link { graph.addLink(link.0, one, other, by: link.1) }
        }
        let nodes = readings.map { (path: reports[$0[0]].precision.path, counts: reports[$0[0]].counts) }
        let first = graph.representatives(nodes)
        groups = readings.indices.filter { first[$0] == nil }.map { node in
            let members = readings.indices.filter { $0 == node || first[$0] == node }.flatMap { readings[$0] }.sorted()
            return Group(representative: reports[members[0]].key, others: members.dropFirst().map { reports[$0].key })
        }
        links = graph.links(nodes.map(\.path), among: readings.indices.filter { first[$0] == nil }).map {
            Link(key: reports[readings[$0.one][0]].key, other: reports[readings[$0.other][0]].key, rule: $0.rule)
        }
    }

    /// The reports of each reading of a path: in several units, or in one with other digits by another import. The first of each is the most
    /// precise.
    public static func readings(of reports: [Report]) -> [[Key]] {
        let reports = reports.sorted(by: Report.precedes)
        return readings(reports).map { $0.map { reports[$0].key } }
    }

    /// Groups reports that are all reports of their paths near these times.
    public init(_ reports: [Report]) {
        self.init(reports) { (path: ReportPath, low: Int64, high: Int64) in
            reports.count { $0.precision.path == path && $0.trace.start >= low && $0.trace.start < high }
        }
    }

    /// Compares two reports of different paths. Returns `nil` if they are two measurements.
    ///
    /// - Parameter count: See ``init(_:count:)``.
    public static func agreement<Failure: Error>(
        _ one: Report, _ other: Report, count: (_ path: ReportPath, _ low: Int64, _ high: Int64) throws(Failure) -> Int
    ) throws(Failure) -> (agreement: Agreement, verdict: DuplicateRule.Verdict, rule: DuplicateRule)? {
        guard let found = similarity(one, other) else { return nil }
        let isStream = try DenseStream.separates(one.trace, other.trace, found.agreement, found.rule, of: one.origin.type) {
            (side, low, high) throws(Failure) in
            try count(side == .one ? one.precision.path : other.precision.path, low, high)
        }
        return isStream ? nil : found
    }

    /// Compares two reports, without regard to streams. Returns `nil` if they are two measurements.
    public static func similarity(
        _ one: Report, _ other: Report
    ) -> (agreement: Agreement, verdict: DuplicateRule.Verdict, rule: DuplicateRule)? {
        // Most pairs differ in the value.
        guard abs(one.trace.value - other.trace.value) <= Agreement.tolerance(one.trace, other.trace) else { return nil }
        if one.precision.path == other.precision.path {
            return unitAgreement(one, other).map { ($0, .duplicate, .unit) }
        }
        let rule = DuplicateRule.of(one.origin.type, lasting: one.trace.duration > 0 || other.trace.duration > 0)
        guard let relation = DeviceRelation(paths: one.origin, other.origin) else { return nil }
        let verdict = rule.verdict(relation)
        guard verdict != .two, let agreement = Agreement(one.trace, other.trace, rule: rule) else { return nil }
        return (agreement, verdict, rule)
    }

    /// Compares two reports of one path in two units.
    private static func unitAgreement(_ one: Report, _ other: Report) -> Agreement? {
        guard one.unit != other.unit, one.nominalStart == other.nominalStart else { return nil }
        return readingAgreement(one, other)
    }

    /// Compares two reports of one path at the same reported time.
    private static func readingAgreement(_ one: Report, _ other: Report) -> Agreement? {
        guard one.trace.duration == other.trace.duration else { return nil }
        var moved = other.trace
        moved.start = one.trace.start
        return Agreement(one.trace, moved, rule: .unit)
    }

    /// Whether two reports of one path at the same reported time may be one reading. One import has each reading once in each unit, and two
    /// imports that agree in the unit and the number of digits would have reported the same.
    private static func mayBeOneReading(_ one: Report, _ other: Report) -> Bool {
        guard readingAgreement(one, other) != nil else { return false }
        if one.unit != other.unit { return true }
        guard let first = one.importID, let second = other.importID, first != second else { return false }
        let steps = (one.trace.valueResolution, other.trace.valueResolution)
        return max(steps.0, steps.1) >= 1.5 * min(steps.0, steps.1)
    }

    // MARK: Parts of the computation

    /// The reports of each reading of a path, the most alike together. Each is sorted by precision, and so are they.
    private static func readings(_ reports: [Report]) -> [[Int]] {
        var pairs: [(agreement: Agreement, one: Int, other: Int)] = []
        for same in Dictionary(grouping: reports.indices, by: { Moment(reports[$0]) }).values where same.count > 1 {
            for (position, one) in same.enumerated() {
                for other in same[(position + 1)...] {
                    if let agreement = unitAgreement(reports[one], reports[other]) { pairs.append((agreement, one, other)) }
                }
            }
        }
        pairs.sort { ($0.agreement, $0.one, $0.other) < ($1.agreement, $1.one, $1.other) }
        var (first, members) = (Array(reports.indices), reports.indices.map { [$0] })
        for pair in pairs {
            let (one, other) = (first[pair.one], first[pair.other])
            guard one != other,
                members[one].allSatisfy({ index in members[other].allSatisfy { mayBeOneReading(reports[index], reports[$0]) } })
            else { continue }
            for index in members[other] { first[index] = one }
            members[one] = (members[one] + members[other]).sorted()
            members[other] = []
        }
        return members.filter { !$0.isEmpty }.sorted { $0[0] < $1[0] }
    }

    /// The path and the time of a report.
    private struct Moment: Hashable {
        let (path, start): (ReportPath, Int64)

        init(_ report: Report) { (path, start) = (report.precision.path, report.nominalStart) }
    }

    /// The pairs of readings of different paths that are near enough to agree.
    private static func neighbours(_ readings: [[Report]]) -> [(Int, Int)] {
        let sorted = readings.indices.sorted { readings[$0][0].trace.start < readings[$1][0].trace.start }
        let coarsest = readings.lazy.flatMap { $0 }.map(\.trace.timeResolution).max() ?? 1
        let radius = Agreement.radius(.spot, timeResolution: coarsest)
        var found: [(Int, Int)] = []
        for (position, one) in sorted.enumerated() {
            for other in sorted[(position + 1)...] {
                guard readings[other][0].trace.start &- readings[one][0].trace.start <= radius else { break }
                if readings[one][0].precision.path != readings[other][0].precision.path { found.append((one, other)) }
            }
        }
        return found
    }
}
