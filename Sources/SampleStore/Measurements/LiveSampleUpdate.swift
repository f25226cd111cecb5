import HealthModel

/// Updates the live samples to match the reports and decisions (``MeasurementHistory``). Used inside a transaction.
final class LiveSampleUpdate {
    private let connection: Connection
    private let deletion: Deletion
    /// The list for the differences if they are written later.
    private let list: PendingChanges?
    let reader: MeasurementReader
    private var table: SampleTable { connection.samples }

    /// The number of rows that are read and written at a time, which bounds memory use.
    static let chunk = 4096

    init(_ deletion: Deletion, listedIn list: PendingChanges? = nil) {
        connection = deletion.connection
        self.deletion = deletion
        self.list = list
        reader = MeasurementReader(connection: deletion.connection)
    }

    /// The changes to write.
    private struct Difference {
        var tombstones: [SampleTable.TombstoneMove] = []
        var restorations: [SampleTable.RestorationMove] = []
        /// Witnesses that were never samples.
        var duplicates: [SampleKey] = []
    }

    /// Settles the measurements that these keys belong to.
    func update(_ keys: some Sequence<SampleKey>) throws(StoreError) {
        var (difference, outstanding) = (Difference(), [SampleKey]())
        try add(keys, to: &difference, &outstanding)
        try apply(difference)
        try follow(outstanding)
    }

    private func add(
        _ keys: some Sequence<SampleKey>, to difference: inout Difference, _ outstanding: inout [SampleKey]
    ) throws(StoreError) {
        var seen: Set<SampleKey> = []
        for key in keys where !seen.contains(key) {
            let found = try reader.measurement(of: key)
            seen.formUnion(found.keys)
            try add(found, to: &difference)
            if !found.history.outstanding.isEmpty { outstanding.append(key) }
        }
    }

    /// Applies repairs to the reports that represent their measurements since the repair.
    private func follow(_ keys: [SampleKey]) throws(StoreError) {
        guard list == nil else { return }
        let form = RepairedForm(connection: connection, deletion: deletion)
        for key in keys {
            var tried: Set<MeasurementHistory<SampleKey>.Outstanding> = []
            while true {
                let history = try reader.measurement(of: key).history
                guard let next = history.outstanding.first(where: { !tried.contains($0) }) else { break }
                tried.insert(next)
                guard try form.make(next, in: history) else { continue }
                reader.forgetTraces()
                var difference = Difference()
                try add(reader.measurement(of: key), to: &difference)
                try apply(difference)
            }
        }
    }

    /// Settles the measurements of listed samples.
    ///
    /// - Parameter onlyRestoring: Whether to write only those of the listed samples that are restored.
    func update(listed keys: [SampleKey], onlyRestoring: Bool = false) throws(StoreError) {
        var (difference, special) = (Difference(), [SampleKey]())
        for key in keys {
            guard try reader.isPlain(key.series) else {
                special.append(key)
                continue
            }
            guard let row = try reader.row(at: key) else { continue }
            let ingestID = try reader.ingestID(of: row.number, in: key.series)
            let isActive = try reader.states.isActive(ingestID)
            if isActive, !row.isLive {
                difference.restorations.append(SampleTable.RestorationMove(key: key, ingestID: ingestID, number: row.number))
            } else if !isActive, row.isLive {
                difference.tombstones.append(SampleTable.TombstoneMove(key: key))
            }
        }
        var outstanding: [SampleKey] = []
        try add(special, to: &difference, &outstanding)
        if onlyRestoring {
            let listed = Set(keys)
            difference.tombstones = []
            difference.restorations.removeAll { !listed.contains($0.key) }
            difference.duplicates.removeAll { !listed.contains($0) }
        }
        try apply(difference)
        if !onlyRestoring { try follow(outstanding) }
    }

    /// Settles the samples that were computed from samples that a repair replaced or made.
    func update(computedAfter repairID: Int64) throws(StoreError) {
        try update(connection.derived.samples(touchedBy: repairID))
    }

    /// Whether a sample is live according to the current reports and decisions.
    func isLive(_ key: SampleKey) throws(StoreError) -> Bool {
        try reader.measurement(of: key).history.live.contains(key)
    }

    /// Returns the form of a report after the applied repairs.
    func form(of report: SampleKey) throws(StoreError) -> SampleKey {
        try reader.measurement(of: report).history.form(of: report)
    }

    /// Whether another report of its measurement, or a higher version of its record, counts instead of a report.
    func isDuplicate(_ report: SampleKey) throws(StoreError) -> Bool {
        switch try reader.measurement(of: report).history.state(of: report) {
        case .duplicate, .superseded: true
        default: false
        }
    }

    private func add(_ found: MeasurementReader.Found, to difference: inout Difference) throws(StoreError) {
        let live = found.history.live
        for key in found.keys {
            let row = found.rows[key] ?? nil
            if row?.isLive == true, !live.contains(key) {
                var tombstone = SampleTable.TombstoneMove(key: key)
                // A sample that no longer counts has no successor.
                if found.history.counts(key), let successor = successor(of: key, among: live, found.history) {
                    tombstone.successor = try uuid(of: successor)
                }
                difference.tombstones.append(tombstone)
            }
            guard live.contains(key), row?.isLive != true else { continue }
            if let row {
                let ingestID = try reader.ingestID(of: row.number, in: key.series)
                difference.restorations.append(SampleTable.RestorationMove(key: key, ingestID: ingestID, number: row.number))
            } else if reader.arriving[key] == nil {
                difference.duplicates.append(key)
            }
        }
    }

    /// Returns the successor of a sample: the live sample of the same reading, or else of a version of its record that replaced it.
    private func successor(
        of key: SampleKey, among live: [SampleKey], _ history: MeasurementHistory<SampleKey>
    ) -> SampleKey? {
        func group(_ key: SampleKey) -> Int? {
            let root = history.root(of: key)
            return history.reports.first { $0.key == root }?.group
        }
        let own = group(key)
        if let same = live.first(where: { group($0) == own }) { return same }
        let lower = history.versions.filter { group($0.key) == own }
        let higher = Set(history.versions.filter { above in lower.contains { above.replaces($0) } }.map { group($0.key) })
        return live.first { higher.contains(group($0)) }
    }

    private func uuid(of key: SampleKey) throws(StoreError) -> SampleIdentity? {
        if let arriving = reader.arriving[key] { return arriving.uuid }
        return try connection.samples.identity(at: key)
    }

    private func apply(_ difference: Difference) throws(StoreError) {
        if let list {
            return try list.add(
                going: difference.tombstones.map(\.key), coming: difference.restorations.map(\.key) + difference.duplicates)
        }
        try deletion.moveToTombstones(difference.tombstones)
        try deletion.restore(difference.restorations)
        for key in difference.duplicates { try deletion.promoteDuplicate(key) }
    }

    // MARK: Undoing

    /// Settles everything that an entry of the ledger reported or decided.
    func update(touchedBy entry: Int64) throws(StoreError) {
        try updateReports(of: entry)
        try update(connection.quarantine.acceptedSamples(touchedBy: entry))
        try update(connection.records.keys(madeBy: entry))
        try updateDecisions(of: entry)
        let duplicates = connection.duplicates
        if try reader.states.isActive(entry) {
            // A duplicate of an undone import is not a sample, or was settled as one above.
            try updatePages { last throws(StoreError) in
                try duplicates.keys(ingestedBy: entry, after: last, limit: Self.chunk)
            }
        }
        try update(mergedBy: entry)
    }

    /// Settles the measurements that an entry merged.
    func update(mergedBy entry: Int64) throws(StoreError) {
        let duplicates = connection.duplicates
        try updatePages { last throws(StoreError) in
            try duplicates.keys(foundBy: entry, after: last, limit: Self.chunk)
        } with: { key throws(StoreError) in
            // A merge that no longer counts leaves two measurements.
            try duplicates.duplicate(at: key)?.first
        }
    }

    /// Settles the samples that an entry brought. They are live if the entry is active, unless other facts are known about them.
    private func updateReports(of entry: Int64) throws(StoreError) {
        let isActive = try reader.states.isActive(entry)
        let last = try table.lastNumber()
        var first: Int64 = -1
        while true {
            let intervals = try connection.changeTable.entries(ingestedBy: entry, after: first, through: last, limit: 256)
            guard let end = intervals.last else { return }
            first = end.seqs.lowerBound
            var rows: [(key: SampleKey, number: Int64)] = []
            for interval in intervals {
                try read(interval, among: isActive ? .tombstones : .live, &rows)
                // A report that is not the sample may have replaced a lower version of its record.
                if !isActive, try !reader.isPlain(interval.series) { try read(interval, among: .tombstones, &rows) }
                if rows.count >= Self.chunk { try update(&rows, of: entry, isActive: isActive) }
            }
            try update(&rows, of: entry, isActive: isActive)
        }
    }

    /// Returns the samples, tombstones and duplicates that an entry brought, and the originals of the duplicates.
    func reports(of entry: Int64) throws(StoreError) -> [SampleKey] {
        var found: [(key: SampleKey, number: Int64)] = []
        let last = try table.lastNumber()
        for interval in try connection.changeTable.entries(ingestedBy: entry, after: -1, through: last, limit: Int64(Self.chunk))
        {
            try read(interval, among: .live, &found)
            try read(interval, among: .tombstones, &found)
        }
        var keys = found.map(\.key)
        for key in try connection.duplicates.keys(ingestedBy: entry, after: nil, limit: Self.chunk) {
            keys.append(key)
            if let first = try connection.duplicates.duplicate(at: key)?.first { keys.append(first) }
        }
        return keys
    }

    private func update(
        _ rows: inout [(key: SampleKey, number: Int64)], of entry: Int64, isActive: Bool
    ) throws(StoreError) {
        var (difference, special) = (Difference(), [SampleKey]())
        for (key, number) in rows {
            if try !reader.isPlain(key.series) {
                special.append(key)
            } else if isActive {
                difference.restorations.append(SampleTable.RestorationMove(key: key, ingestID: entry, number: number))
            } else {
                difference.tombstones.append(SampleTable.TombstoneMove(key: key))
            }
        }
        rows.removeAll(keepingCapacity: true)
        try apply(difference)
        try update(special)
    }

    private func read(
        _ interval: ChangeTable.Entry, among rows: SampleTable.Rows, _ found: inout [(key: SampleKey, number: Int64)]
    ) throws(StoreError) {
        let rows = try table.scan(
            [.key, .change], of: interval.series, from: interval.starts.lowerBound, through: interval.starts.upperBound,
            among: rows,
            .added(in: interval.seqs, among: rows), order: .unordered)
        while try rows.next() { found.append((try rows.key, rows.change)) }
    }

    /// Settles the decisions of an entry. Each decision changes something, so the change log is used to find them, except those that were
    /// applied to another report since.
    private func updateDecisions(of entry: Int64) throws(StoreError) {
        let decisions = connection.decisions
        if try decisions.hasMoved {
            return try updatePages { last throws(StoreError) in
                try decisions.keys(decidedBy: entry, after: last, limit: Self.chunk)
            }
        }
        for span in try connection.changeTable.starts(causedBy: entry) {
            try updatePages { last throws(StoreError) in
                try decisions.keys(
                    decidedBy: entry, in: span.series, from: span.starts.lowerBound, through: span.starts.upperBound, after: last,
                    limit: Self.chunk)
            }
        }
    }

    /// Settles the samples of a list, and the one that belongs to each, page by page.
    private func updatePages(
        _ next: (SampleKey?) throws(StoreError) -> [SampleKey],
        with other: (SampleKey) throws(StoreError) -> SampleKey? = { _ in nil }
    ) throws(StoreError) {
        var last: SampleKey?
        while true {
            var keys = try next(last)
            guard let end = keys.last else { return }
            last = end
            for key in keys { if let other = try other(key) { keys.append(other) } }
            try update(keys)
        }
    }
}
