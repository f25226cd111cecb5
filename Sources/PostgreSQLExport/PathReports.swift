import HealthModel

/// Which reports of several hubs are one measurement, and which of them represents it, by the rules of the store (``DuplicateRule``,
/// ``Agreement``, ``DeviceRelation``, ``DenseStream``, ``ReportPrecision``). The result depends on the reports and not on their order of arrival.
///
/// A hub has compared its own readings with each other, so two reports of one hub are two measurements.
struct PathReports {
    /// A report of a quantity.
    struct Report {
        /// Its UUID and variant.
        let place: Place
        var hubs: Set<Int32>
        let origin: Origin
        let trace: ReadingTrace
        /// Whether it was reported together with other values.
        let isGrouped: Bool

        fileprivate var precision: ReportPrecision {
            ReportPrecision(
                isGrouped: isGrouped, trace.precision, path: series,
                identity: SampleIdentity(place.uuid) ?? SampleIdentity(milliseconds: 0, high: 0, low: 0))
        }

        fileprivate var series: ReportPath { ReportPath(origin) }
    }

    /// What identifies a report.
    struct Place: Hashable, Comparable {
        let uuid: String
        let variant: Int64

        static func < (one: Place, other: Place) -> Bool { (one.uuid, one.variant) < (other.uuid, other.variant) }
    }

    /// The reports of one person and type, by start.
    private let reports: [Report]

    /// The reports of one person and type.
    init(_ reports: [Report]) { self.reports = reports.sorted { ($0.trace.start, $0.place) < ($1.trace.start, $1.place) } }

    /// Whether reports of a type are compared. The readings of a stream are not, because equal values mean little, and a copy of it arrives
    /// over one hub.
    static func compares(_ type: SampleType) -> Bool {
        type.kind == .quantity && [.spot, .event, .interval].contains(DuplicateRule.of(type, lasting: false))
    }

    /// The range around a report in which an equal one may be, in microseconds.
    static let reach = Agreement.radius(.spot, timeResolution: Agreement.coarsest)

    /// The reports that another one represents, with that one.
    var represented: [Place: Place] {
        var groups = Array(reports.indices)
        var members = groups.map { [$0] }
        for pair in pairs {
            let (one, other) = (groups[pair.one], groups[pair.other])
            guard one != other, members[one].allSatisfy({ index in members[other].allSatisfy { mayJoin(index, $0) } }) else {
                continue
            }
            for index in members[other] { groups[index] = one }
            members[one] += members[other]
            members[other] = []
        }
        var found: [Place: Place] = [:]
        for group in members where group.count > 1 {
            guard let first = group.min(by: isBefore) else { continue }
            for index in group where index != first { found[reports[index].place] = reports[first].place }
        }
        return found
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        let (first, second) = (reports[one].precision, reports[other].precision)
        return first != second ? first < second : reports[one].place < reports[other].place
    }

    /// Pairs that agree, the most alike first.
    private var pairs: [(agreement: Agreement, one: Int, other: Int)] {
        var pairs: [(agreement: Agreement, one: Int, other: Int)] = []
        for one in reports.indices {
            for other in reports.index(after: one)..<reports.endIndex {
                guard reports[other].trace.start &- reports[one].trace.start <= Self.reach else { break }
                if let agreement = agreement(one, other) { pairs.append((agreement, one, other)) }
            }
        }
        return pairs.sorted { first, second in
            first.agreement != second.agreement
                ? first.agreement < second.agreement : (first.one, first.other) < (second.one, second.other)
        }
    }

    /// Each measurement has at most one report of each hub, and of each series unless it was reported in two units.
    private func mayJoin(_ one: Int, _ other: Int) -> Bool {
        let (first, second) = (reports[one], reports[other])
        return first.hubs.isDisjoint(with: second.hubs)
            && (first.series != second.series || first.trace.scale != second.trace.scale || first.trace.zero != second.trace.zero)
    }

    private func agreement(_ one: Int, _ other: Int) -> Agreement? {
        let (first, second) = (reports[one], reports[other])
        // Most pairs differ in the value.
        guard abs(first.trace.value - second.trace.value) <= Agreement.tolerance(first.trace, second.trace), mayJoin(one, other)
        else {
            return nil
        }
        let rule = rule(first, second)
        guard rule.verdict(relation(first, second)) == .duplicate,
            let agreement = Agreement(first.trace, second.trace, rule: rule)
        else { return nil }
        let isStream = DenseStream.separates(first.trace, second.trace, agreement, rule, of: first.origin.type) {
            side, low, high in
            count(side == .one ? first.series : second.series, from: low, before: high)
        }
        return isStream ? nil : agreement
    }

    private func rule(_ one: Report, _ other: Report) -> DuplicateRule {
        if one.series == other.series { return .unit }
        return DuplicateRule.of(one.origin.type, lasting: one.trace.duration > 0 || other.trace.duration > 0)
    }

    private func relation(_ one: Report, _ other: Report) -> DeviceRelation {
        // A client's samples are its own.
        DeviceRelation(paths: one.origin, other.origin) ?? .copy
    }

    /// The number of reports of a series in an interval, as far as it matters.
    private func count(_ series: ReportPath, from low: Int64, before high: Int64) -> Int {
        var (start, end) = (0, reports.count)
        while start < end {
            let middle = (start + end) / 2
            if reports[middle].trace.start < low { start = middle + 1 } else { end = middle }
        }
        var count = 0
        for report in reports[start...] {
            guard report.trace.start < high, count <= DenseStream.streamThreshold else { break }
            if report.series == series { count += 1 }
        }
        return count
    }
}
