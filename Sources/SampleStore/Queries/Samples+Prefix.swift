import HealthModel

/// The samples whose UUIDs begin with given digits.
public struct PrefixMatches: Sendable {
    /// The UUIDs, in ascending order.
    public var uuids: [SampleIdentity] = []
    /// Whether the search stopped at its limit, so that there may be more.
    public var isCut = false
}

extension SampleStore.Samples {
    /// The samples among which a UUID is searched.
    public enum PrefixScope: Sendable {
        case live, deleted, all

        fileprivate var rows: [SampleTable.Rows] {
            switch self {
            case .live: [.live]
            case .deleted: [.tombstones]
            case .all: [.live, .tombstones, .duplicates]
            }
        }
    }

    /// The maximum number of rows that are read of a series in a table. A prefix that fits more needs further digits.
    static let maximumPrefixRows = 1000

    /// Returns the samples whose UUIDs begin with the digits. The nominal starts of the digits are a range of the table's key, so no other
    /// row is read.
    ///
    /// - Parameter limit: The maximum number of UUIDs.
    public func uuids(beginningWith prefix: IdentityPrefix, among scope: PrefixScope, limit: Int) throws(StoreError)
        -> PrefixMatches
    {
        var found: Set<SampleIdentity> = []
        var isCut = false
        let all = try store.allSeries()
        for series in all {
            for rows in scope.rows where found.count <= limit {
                isCut = try collect(prefix, among: rows, of: series.id, limit: limit, into: &found) || isCut
            }
        }
        if scope == .all, found.count <= limit {
            isCut = try collectDerived(prefix, all, limit: limit, into: &found) || isCut
        }
        return PrefixMatches(uuids: Array(found.sorted().prefix(limit)), isCut: isCut || found.count > limit)
    }

    /// Adds the matching rows of a series, and returns whether rows are left.
    private func collect(
        _ prefix: IdentityPrefix, among rows: SampleTable.Rows, of series: Int64, limit: Int,
        into found: inout Set<SampleIdentity>
    ) throws(StoreError) -> Bool {
        let range = prefix.nominalStarts
        let scan = try table.scan(
            [.key, .skew], of: series, from: range.lowerBound, through: range.upperBound, among: rows,
            rows == .tombstones ? .remembered : .all, limit: Self.maximumPrefixRows + 1)
        var count = 0
        while try scan.next() {
            count += 1
            // A row with another nominal start is found by it below.
            if scan.skew == 0 {
                let uuid = try scan.key.identity(skew: 0)
                if prefix.matches(uuid) { found.insert(uuid) }
            }
            if found.count > limit || count > Self.maximumPrefixRows { return true }
        }
        return try collectSkewed(prefix, among: rows, of: series, limit: limit, into: &found)
    }

    /// Adds the matching rows whose nominal start is not their start.
    private func collectSkewed(
        _ prefix: IdentityPrefix, among rows: SampleTable.Rows, of series: Int64, limit: Int,
        into found: inout Set<SampleIdentity>
    ) throws(StoreError) -> Bool {
        let range = prefix.nominalStarts
        let known = try table.knownElsewhere()
        try known.seek(series, from: range.lowerBound, through: range.upperBound)
        var count = 0
        while try known.next() {
            count += 1
            let hash = try known.hash
            let key = SampleKey(series: series, start: known.start, high: hash.high, low: hash.low)
            let uuid = SampleIdentity(nominalStart: known.nominal, high: hash.high, low: hash.low)
            if prefix.matches(uuid), try table.contains(key, among: rows) { found.insert(uuid) }
            if found.count > limit || count > Self.maximumPrefixRows { return true }
        }
        return false
    }

    /// Adds the blood pressures derived from frames.
    private func collectDerived(
        _ prefix: IdentityPrefix, _ all: [SeriesDescription], limit: Int, into found: inout Set<SampleIdentity>
    ) throws(StoreError) -> Bool {
        let derived = DerivedCorrelations(connection: connection, all: all)
        let decoder = SampleDecoder(connection: connection)
        let range = prefix.nominalStarts
        for series in all where series.type == .bloodPressureSystolic {
            let rows = try table.scanGrouped(of: series.id, nominal: range.lowerBound, through: range.upperBound)
            var count = 0
            while try rows.next() {
                count += 1
                let systolic = try rows.stored(decoder)
                if let whole = try derived.correlation(of: systolic, series: series.id), prefix.matches(whole.uuid) {
                    found.insert(whole.uuid)
                }
                if found.count > limit || count > Self.maximumPrefixRows { return true }
            }
        }
        return false
    }
}
