import HealthModel

/// Reads all reports and decisions about a measurement. Used inside a transaction.
final class MeasurementReader {
    /// A measurement with its rows.
    struct Found {
        var history = MeasurementHistory<SampleKey>()
        /// The row of each key of the measurement, with its change number and whether it is live, or nil if there is no row.
        var rows: [SampleKey: (number: Int64, isLive: Bool)?] = [:]
        /// The keys in the order in which they were found.
        var keys: [SampleKey] = []
    }

    /// A report whose row is about to be written.
    typealias Arrival = (ingest: Int64, uuid: SampleIdentity, precision: ReportPrecision?)

    /// Which tables have rows of a series. Most series have none, so their samples need no further queries.
    private struct Traces {
        var isDecided = false
        var isRepaired = false
        var wasRepaired = false
        var hasDuplicates = false
        var isDuplicate = false
        var hasRecords = false
        var isDerived = false
        var hasAccepted = false

        var isEmpty: Bool {
            !(isDecided || isRepaired || wasRepaired || hasDuplicates || isDuplicate || hasRecords || isDerived || hasAccepted)
        }
    }

    let connection: Connection
    let states: LedgerStates
    private let decoder: SampleDecoder
    private var traces: [Int64: Traces] = [:]
    private var originals: [Int64: [Int64]] = [:]
    private var people: [Int64: String] = [:]
    /// Reports whose rows are about to be written, with the ingest that brings them.
    var arriving: [SampleKey: Arrival] = [:]

    init(connection: Connection) {
        self.connection = connection
        states = LedgerStates(connection: connection)
        decoder = SampleDecoder(connection: connection)
    }

    /// Reads again which tables have rows of a series, after rows were written.
    func forgetTraces() {
        traces.removeAll()
        originals.removeAll()
    }

    /// Whether the only fact about each sample of a series is the ingest that brought it.
    func isPlain(_ series: Int64) throws(StoreError) -> Bool { try traces(of: series).isEmpty }

    /// Returns the ingest that brought a live or deleted sample.
    func ingestID(of number: Int64, in series: Int64) throws(StoreError) -> Int64 {
        try decoder.change(of: number, series: series).ingest
    }

    /// Returns the measurement that a key belongs to.
    func measurement(of key: SampleKey) throws(StoreError) -> Found {
        var (found, groups, agreements) = (Found(), Groups(), [SampleKey: SampleKey]())
        var records: [RecordKey: Int] = [:]
        var queue = [try root(of: key)]
        var ingestIDs: [SampleKey: Int64] = [:]
        while let root = queue.popLast() {
            guard groups.insert(root) else { continue }
            ingestIDs[root] = try ingestID(at: root, &found)
            if let own = try duplicate(at: root) {
                if own.isSame {
                    let first = try self.root(of: own.first)
                    agreements[root] = own.first
                    groups.join(root, first)
                    queue.append(first)
                }
                if ingestIDs[root] == nil { ingestIDs[root] = own.ingest }
            }
            if ingestIDs[root] == nil { ingestIDs[root] = arriving[root]?.ingest }
            for form in try forms(of: root, &found) {
                try readDecisions(at: form, &found)
                for other in try duplicates(of: form) + merges(of: form) {
                    groups.join(root, other)
                    queue.append(other)
                }
            }
            queue += try versions(of: root, &records, &found)
        }
        for root in groups.keys {
            guard let entry = ingestIDs[root] else { continue }
            let (isActive, changed) = try state(of: root, ingestedBy: entry)
            found.history.reports.append(
                .init(
                    key: root, group: groups.number(of: root), agreement: agreements[root], entry: entry, isActive: isActive,
                    changed: changed, hasLiveInputs: try hasLiveInputs(root),
                    precision: groups.isShared(root) ? try precision(of: root) : nil,
                    person: groups.isShared(root) ? try person(of: root.series) : ""))
        }
        if found.history.reports.count > 1 {
            found.history.reports.sort {
                ($0.entry, $0.key.series, $0.key.start, $0.key.high, $0.key.low)
                    < ($1.entry, $1.key.series, $1.key.start, $1.key.high, $1.key.low)
            }
        }
        return found
    }

    /// Whether a report is active, and since which entry it has been so. An accepted reading needs its import and its acceptance,
    /// and no later rejection.
    private func state(of root: SampleKey, ingestedBy entry: Int64) throws(StoreError) -> (isActive: Bool, changed: Int64) {
        var entries = [entry]
        var undone: Int64?
        if try traces(of: root.series).hasAccepted, let own = try connection.quarantine.ingestID(of: root, acceptedBy: entry) {
            entries.append(own)
            for rejection in try connection.quarantine.rejections(of: root, after: entry) where try states.isActive(rejection) {
                undone = max(undone ?? .min, rejection)
            }
        }
        for entry in entries where try !states.isActive(entry) { undone = max(undone ?? .min, try states.changed(entry)) }
        return (undone == nil, undone ?? entry)
    }

    /// Returns the sample as it was originally reported, before repairs.
    func root(of key: SampleKey) throws(StoreError) -> SampleKey {
        guard try traces(of: key.series).isRepaired else { return key }
        var key = key
        for _ in 0..<RepairTable.maximumChainLength {
            guard let origin = try connection.repairs.origin(of: key)?.key else { break }
            // The original may have been pruned or erased, which ends the search. A forgotten original is still the reading, although
            // nothing reports it.
            var isThere = try row(at: origin) != nil
            if !isThere { isThere = try duplicate(at: origin) != nil }
            if !isThere {
                isThere = try connection.samples.contains(origin, among: .tombstones, evenForgotten: true)
            }
            guard isThere else { break }
            key = origin
        }
        return key
    }

    // MARK: Tables

    private func traces(of series: Int64) throws(StoreError) -> Traces {
        if let known = traces[series] { return known }
        let duplicates = connection.duplicates
        let found = Traces(
            isDecided: try connection.decisions.contains(series: series),
            isRepaired: try connection.repairs.contains(series: series),
            wasRepaired: try connection.repairs.contains(originalsOfSeries: series),
            hasDuplicates: try duplicates.contains(duplicatesOfSeries: series),
            isDuplicate: try duplicates.contains(series: series),
            hasRecords: try records.contains(series: series),
            isDerived: try connection.derived.contains(series: series),
            hasAccepted: try connection.quarantine.containsAccepted(series: series))
        traces[series] = found
        return found
    }

    /// Returns the change number of the row and whether it is live.
    func row(at key: SampleKey) throws(StoreError) -> (number: Int64, isLive: Bool)? {
        try connection.samples.number(at: key)
    }

    private func note(_ key: SampleKey, _ found: inout Found) throws(StoreError) -> (number: Int64, isLive: Bool)? {
        if let known = found.rows[key] { return known }
        let row = try row(at: key)
        found.rows[key] = .some(row)
        found.keys.append(key)
        return row
    }

    private func ingestID(at root: SampleKey, _ found: inout Found) throws(StoreError) -> Int64? {
        guard let row = try note(root, &found) else { return nil }
        return try ingestID(of: row.number, in: root.series)
    }

    /// Returns the samples that repairs made from a reading, beginning with the reading itself.
    private func forms(of root: SampleKey, _ found: inout Found) throws(StoreError) -> [SampleKey] {
        var forms = [root]
        var index = 0
        while index < forms.count {
            let old = forms[index]
            index += 1
            guard try traces(of: old.series).wasRepaired else { continue }
            for next in try connection.repairs.successors(of: old) {
                found.history.repaired.append(next)
                guard !next.isMerged, !forms.contains(next.new) else { continue }
                forms.append(next.new)
            }
        }
        for form in forms.dropFirst() { _ = try note(form, &found) }
        return forms
    }

    private func readDecisions(at key: SampleKey, _ found: inout Found) throws(StoreError) {
        guard try traces(of: key.series).isDecided else { return }
        for (entry, kind) in try connection.decisions.decisions(on: key) {
            found.history.decisions.append(.init(kind, key: key, entry: entry, isActive: try states.isActive(entry)))
        }
    }

    /// Whether a repair made a sample.
    func isForm(_ key: SampleKey) throws(StoreError) -> Bool {
        guard try traces(of: key.series).isRepaired else { return false }
        return try connection.repairs.origin(of: key) != nil
    }

    /// Whether the repairs that made a sample are applied. True for samples that no repair made.
    func isApplied(_ key: SampleKey) throws(StoreError) -> Bool {
        guard try traces(of: key.series).isRepaired else { return true }
        var key = key
        for _ in 0..<RepairTable.maximumChainLength {
            guard let origin = try connection.repairs.origin(of: key) else { return true }
            guard try connection.repairs.isApplied(origin.repairID) else { return false }
            key = origin.key
        }
        return true
    }

    /// Returns the original that a reading was found to duplicate. `isSame` is false if it is another version of a record, if the merge that found it is undone, or if it agrees
    /// with the result of a repair that is undone.
    private func duplicate(at key: SampleKey) throws(StoreError) -> (first: SampleKey, ingest: Int64, isSame: Bool)? {
        guard try traces(of: key.series).isDuplicate, let own = try connection.duplicates.duplicate(at: key)
        else { return nil }
        if own.isVersion { return (own.first, own.ingest, false) }
        if let merge = own.merge, try !states.isActive(merge) { return (own.first, own.ingest, false) }
        return (own.first, own.ingest, try isApplied(own.first))
    }

    /// Returns the sample that the reading was compared with, or the reading itself if it is not a duplicate.
    func first(of key: SampleKey) throws(StoreError) -> SampleKey {
        guard let own = try duplicate(at: key), own.isSame else { return key }
        return own.first
    }

    /// Returns the readings that were found to duplicate the sample.
    func duplicates(of key: SampleKey) throws(StoreError) -> [SampleKey] {
        guard try traces(of: key.series).hasDuplicates, try isApplied(key) else { return [] }
        var found: [SampleKey] = []
        for duplicate in try connection.duplicates.duplicates(of: key) where !duplicate.isVersion {
            if let merge = duplicate.merge, try !states.isActive(merge) { continue }
            found.append(duplicate.key)
        }
        return found
    }

    /// Returns the readings that applied repairs merged with a form of a reading, in either direction.
    private func merges(of form: SampleKey) throws(StoreError) -> [SampleKey] {
        var found: [SampleKey] = []
        if try traces(of: form.series).isRepaired {
            for old in try connection.repairs.merged(into: form) { found.append(try root(of: old)) }
        }
        if try traces(of: form.series).wasRepaired {
            for next in try connection.repairs.successors(of: form) where next.isMerged && next.isActive {
                found.append(try root(of: next.new))
            }
        }
        return found
    }

    private func person(of series: Int64) throws(StoreError) -> String {
        if let known = people[series] { return known }
        let found = try connection.series.person(of: series) ?? ""
        people[series] = found
        return found
    }

    private func precision(of root: SampleKey) throws(StoreError) -> ReportPrecision? {
        if let known = arriving[root]?.precision { return known }
        return try connection.samples.precision(of: root)
    }

    /// Whether the inputs of a computed sample are live. Pruned inputs count as valid.
    private func hasLiveInputs(_ key: SampleKey) throws(StoreError) -> Bool {
        guard try traces(of: key.series).isDerived else { return true }
        return try connection.derived.hasLiveInputs(key)
    }

    private var records: RecordTable { connection.records }

    private struct RecordKey: Hashable {
        var series: Int64
        var id: String
    }

    /// Records the versions of the reading's record, once for each record and for each series in which it counts.
    ///
    /// - Returns: The keys of all versions.
    private func versions(
        of root: SampleKey, _ records: inout [RecordKey: Int], _ found: inout Found
    ) throws(StoreError) -> [SampleKey] {
        var keys: [SampleKey] = []
        for id in try recordIDs(of: root) {
            for series in Set([root.series, found.history.form(of: root).series]).sorted()
            where records[RecordKey(series: series, id: id)] == nil {
                let number = records.count
                for version in try latestVersions(of: id, relatedToSeries: series) {
                    records[RecordKey(series: version.scope, id: id)] = number
                    found.history.versions.append(
                        .init(
                            key: version.key, record: number, number: version.number, entry: version.entry, scope: version.scope,
                            replacesAll: version.isAcross, isMoved: version.isMoved))
                    keys.append(version.key)
                }
            }
        }
        return keys
    }

    /// Returns the versions of a record, lowest first, each reading once: as the highest version that active entries made it.
    private func latestVersions(of id: String, relatedToSeries series: Int64) throws(StoreError) -> [RecordTable.Version] {
        let versions = try versions(of: id, in: series, acrossDevices: true)
        guard versions.contains(where: { $0.entry != 0 }) else { return versions }
        var latest: [SampleKey: RecordTable.Version] = [:]
        for version in versions {
            // The first version of a reading is always needed. If an acceptance made it, its report counts only while that is active.
            if version.entry != 0, latest[version.key] != nil, try !states.isActive(version.entry) { continue }
            latest[version.key] = version
        }
        return Array(latest.values)
    }

    /// Returns the ids of a report's records.
    func recordIDs(of root: SampleKey) throws(StoreError) -> [String] {
        try traces(of: root.series).hasRecords ? records.records(at: root).map(\.id) : []
    }

    /// Returns the versions of a record, lowest first: those that were reported in a series, and those that applied repairs moved there from
    /// another person or type.
    ///
    /// - Parameter acrossDevices: Whether the versions of other devices count as well.
    func versions(of id: String, in series: Int64, acrossDevices: Bool) throws(StoreError) -> [RecordTable.Version] {
        let own = try acrossDevices ? records.versions(of: id, relatedToSeries: series) : records.versions(of: id, in: series)
        var moved: [RecordTable.Version] = []
        for other in try originals(ofSourceOf: series) {
            for var version in try records.versions(of: id, in: other) {
                version.scope = try form(of: version.key).series
                let isHere =
                    try acrossDevices ? connection.series.haveSameRecords(version.scope, series) : version.scope == series
                if isHere { moved.append(version) }
            }
        }
        return moved.isEmpty
            ? own : (own + moved).sorted { ($0.number, $0.isMoved ? 0 : 1, $0.entry) < ($1.number, $1.isMoved ? 0 : 1, $1.entry) }
    }

    /// Returns the samples of the later parts of lower versions of a record: those that were reported in a series, and those that applied
    /// repairs moved there.
    func parts(of record: RecordIdentifier, in series: Int64) throws(StoreError) -> [SampleKey] {
        var parts: [SampleKey] = []
        for other in try [series] + originals(ofSourceOf: series) {
            for root in try records.keys(ofIDs: RecordIdentifier.parts(of: record.id), in: other, below: record.version) {
                let form = try form(of: root)
                if form.series == series { parts.append(form) }
            }
        }
        return parts
    }

    /// Returns the series from which repairs may have moved versions of a series' records.
    private func originals(ofSourceOf series: Int64) throws(StoreError) -> [Int64] {
        if let known = originals[series] { return known }
        let found = try connection.series.otherOriginals(ofSourceOf: series)
        originals[series] = found
        return found
    }

    /// Returns the sample that the applied repairs made of a report.
    func form(of root: SampleKey) throws(StoreError) -> SampleKey {
        var form = root
        for _ in 0..<RepairTable.maximumChainLength {
            guard let next = try connection.repairs.successors(of: form).first(where: { $0.isActive && !$0.isMerged }) else {
                break
            }
            form = next.new
        }
        return form
    }

    /// Returns the import of a report, which for an accepted reading is not the entry that made it a sample.
    func importID(of root: SampleKey, ingestedBy entry: Int64) throws(StoreError) -> Int64 {
        guard try traces(of: root.series).hasAccepted else { return entry }
        return try connection.quarantine.ingestID(of: root, acceptedBy: entry) ?? entry
    }
}

/// Groups readings of the same measurement.
private struct Groups {
    private(set) var keys: [SampleKey] = []
    private var known: Set<SampleKey> = []
    private var parents: [SampleKey: SampleKey] = [:]
    private var shared: Set<SampleKey> = []

    /// Adds a reading. Returns false if it is already known.
    mutating func insert(_ key: SampleKey) -> Bool {
        guard known.insert(key).inserted else { return false }
        keys.append(key)
        return true
    }

    mutating func join(_ one: SampleKey, _ other: SampleKey) {
        shared.formUnion([one, other])
        let (one, other) = (top(of: one), top(of: other))
        if one != other { parents[one] = other }
    }

    /// Whether a reading has other reports.
    func isShared(_ key: SampleKey) -> Bool { shared.contains(key) }

    func number(of key: SampleKey) -> Int { keys.firstIndex(of: top(of: key)) ?? 0 }

    private func top(of key: SampleKey) -> SampleKey {
        var key = key
        while let next = parents[key] { key = next }
        return key
    }
}
