import HealthModel

/// Updates the live samples to match the reports and decisions (``MeasurementHistory``). Used inside a transaction.
final class Settlement {
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
        var burials: [SampleTable.Burial] = []
        var revivals: [SampleTable.Revival] = []
        /// Witnesses that were never samples.
        var witnesses: [SampleKey] = []
    }

    /// Settles the measurements that these keys belong to.
    func settle(_ places: some Sequence<SampleKey>) throws(StoreError) {
        var (difference, outstanding) = (Difference(), [SampleKey]())
        try add(places, to: &difference, &outstanding)
        try apply(difference)
        try follow(outstanding)
    }

    private func add(
        _ places: some Sequence<SampleKey>, to difference: inout Difference, _ outstanding: inout [SampleKey]
    ) throws(StoreError) {
        var seen: Set<SampleKey> = []
        for place in places where !seen.contains(place) {
            let found = try reader.measurement(of: place)
            seen.formUnion(found.places)
            try add(found, to: &difference)
            if !found.history.outstanding.isEmpty { outstanding.append(place) }
        }
    }

    /// Applies repairs to the reports that represent their measurements since the repair.
    private func follow(_ places: [SampleKey]) throws(StoreError) {
        guard list == nil else { return }
        let form = RepairedForm(connection: connection, deletion: deletion)
        for place in places {
            var tried: Set<MeasurementHistory<SampleKey>.Outstanding> = []
            while true {
                let history = try reader.measurement(of: place).history
                guard let next = history.outstanding.first(where: { !tried.contains($0) }) else { break }
                tried.insert(next)
                guard try form.make(next, in: history) else { continue }
                reader.forgetTraces()
                var difference = Difference()
                try add(reader.measurement(of: place), to: &difference)
                try apply(difference)
            }
        }
    }

    /// Settles the measurements of listed samples.
    ///
    /// - Parameter onlyRestoring: Whether to write only those of the listed samples that are restored.
    func settle(listed places: [SampleKey], onlyRestoring: Bool = false) throws(StoreError) {
        var (difference, special) = (Difference(), [SampleKey]())
        for place in places {
            guard try reader.isPlain(place.series) else {
                special.append(place)
                continue
            }
            guard let row = try reader.row(at: place) else { continue }
            let bringer = try reader.bringer(of: row.number, in: place.series)
            let isActive = try reader.states.isActive(bringer)
            if isActive, !row.isLive {
                difference.revivals.append(SampleTable.Revival(place: place, bringer: bringer, number: row.number))
            } else if !isActive, row.isLive {
                difference.burials.append(SampleTable.Burial(place: place))
            }
        }
        var outstanding: [SampleKey] = []
        try add(special, to: &difference, &outstanding)
        if onlyRestoring {
            let listed = Set(places)
            difference.burials = []
            difference.revivals.removeAll { !listed.contains($0.place) }
            difference.witnesses.removeAll { !listed.contains($0) }
        }
        try apply(difference)
        if !onlyRestoring { try follow(outstanding) }
    }

    /// Settles the samples that were computed from samples that a repair replaced or made.
    func settle(computedAfter migration: Int64) throws(StoreError) {
        try settle(connection.derived.samples(touchedBy: migration))
    }

    /// Whether a sample is live according to the current reports and decisions.
    func isLive(_ place: SampleKey) throws(StoreError) -> Bool {
        try reader.measurement(of: place).history.live.contains(place)
    }

    /// Returns the form of a report after the applied repairs.
    func form(of report: SampleKey) throws(StoreError) -> SampleKey {
        try reader.measurement(of: report).history.form(of: report)
    }

    /// Whether a report represents its measurement, as it was reported or as repairs made it.
    func represents(_ report: SampleKey) throws(StoreError) -> Bool {
        if case .live = try reader.measurement(of: report).history.state(of: report) { true } else { false }
    }

    private func add(_ found: MeasurementReader.Found, to difference: inout Difference) throws(StoreError) {
        let live = found.history.live
        for place in found.places {
            let row = found.rows[place] ?? nil
            if row?.isLive == true, !live.contains(place) {
                var burial = SampleTable.Burial(place: place)
                // A sample that no longer counts has no successor.
                if found.history.counts(place), let successor = successor(of: place, among: live, found.history) {
                    burial.successor = try uuid(of: successor)
                }
                difference.burials.append(burial)
            }
            guard live.contains(place), row?.isLive != true else { continue }
            if let row {
                let bringer = try reader.bringer(of: row.number, in: place.series)
                difference.revivals.append(SampleTable.Revival(place: place, bringer: bringer, number: row.number))
            } else if reader.arriving[place] == nil {
                difference.witnesses.append(place)
            }
        }
    }

    /// Returns the successor of a sample: the live sample of the same reading, or else the version that replaced it.
    private func successor(
        of place: SampleKey, among live: [SampleKey], _ history: MeasurementHistory<SampleKey>
    ) -> SampleKey? {
        func group(_ place: SampleKey) -> Int? {
            let root = history.root(of: place)
            return history.reports.first { $0.place == root }?.group
        }
        let own = group(place)
        return live.first { group($0) == own } ?? live.first
    }

    private func uuid(of place: SampleKey) throws(StoreError) -> SampleIdentity? {
        if let arriving = reader.arriving[place] { return arriving.uuid }
        return try connection.samples.identity(at: place)
    }

    private func apply(_ difference: Difference) throws(StoreError) {
        if let list {
            return try list.add(
                going: difference.burials.map(\.place), coming: difference.revivals.map(\.place) + difference.witnesses)
        }
        try deletion.bury(difference.burials)
        try deletion.revive(difference.revivals)
        for place in difference.witnesses { try deletion.addWitness(place) }
    }

    // MARK: Undoing

    /// Settles everything that an entry of the ledger reported or decided.
    func settle(touchedBy entry: Int64) throws(StoreError) {
        try settleReports(of: entry)
        try settle(connection.quarantine.acceptedSamples(broughtBy: entry))
        try settleDecisions(of: entry)
        let duplicates = connection.duplicates
        if try reader.states.isActive(entry) {
            // A duplicate of an undone import is not a sample, or was settled as one above.
            try settlePages { last throws(StoreError) in
                try duplicates.places(broughtBy: entry, after: last, limit: Self.chunk)
            }
        }
        try settlePages { last throws(StoreError) in
            try duplicates.places(foundBy: entry, after: last, limit: Self.chunk)
        } with: { place throws(StoreError) in
            // A merge that no longer counts leaves two measurements.
            try duplicates.duplicate(at: place)?.first
        }
    }

    /// Settles the samples that an entry brought. They are live if the entry is active, unless other facts are known about them.
    private func settleReports(of entry: Int64) throws(StoreError) {
        let isActive = try reader.states.isActive(entry)
        let last = try table.lastNumber()
        var first: Int64 = -1
        while true {
            let stretches = try connection.changeTable.entries(broughtBy: entry, after: first, through: last, limit: 256)
            guard let end = stretches.last else { return }
            first = end.seqs.lowerBound
            var rows: [(place: SampleKey, number: Int64)] = []
            for stretch in stretches {
                try read(stretch, among: isActive ? .tombstones : .live, &rows)
                if rows.count >= Self.chunk { try settle(&rows, of: entry, isActive: isActive) }
            }
            try settle(&rows, of: entry, isActive: isActive)
        }
    }

    private func settle(
        _ rows: inout [(place: SampleKey, number: Int64)], of entry: Int64, isActive: Bool
    ) throws(StoreError) {
        var (difference, special) = (Difference(), [SampleKey]())
        for (place, number) in rows {
            if try !reader.isPlain(place.series) {
                special.append(place)
            } else if isActive {
                difference.revivals.append(SampleTable.Revival(place: place, bringer: entry, number: number))
            } else {
                difference.burials.append(SampleTable.Burial(place: place))
            }
        }
        rows.removeAll(keepingCapacity: true)
        try apply(difference)
        try settle(special)
    }

    private func read(
        _ stretch: ChangeTable.Entry, among rows: SampleTable.Rows, _ found: inout [(place: SampleKey, number: Int64)]
    ) throws(StoreError) {
        let rows = try table.scan(
            [.key, .change], of: stretch.series, from: stretch.starts.lowerBound, through: stretch.starts.upperBound, among: rows,
            .added(in: stretch.seqs, among: rows), order: .unordered)
        while try rows.next() { found.append((try rows.key, rows.change)) }
    }

    /// Settles the decisions of an entry. Each decision changes something, so the change log is used to find them, except those that were
    /// applied to another report since.
    private func settleDecisions(of entry: Int64) throws(StoreError) {
        let decisions = connection.decisions
        if try decisions.hasMoved {
            return try settlePages { last throws(StoreError) in
                try decisions.places(decidedBy: entry, after: last, limit: Self.chunk)
            }
        }
        for span in try connection.changeTable.starts(causedBy: entry) {
            try settlePages { last throws(StoreError) in
                try decisions.places(
                    decidedBy: entry, in: span.series, from: span.starts.lowerBound, through: span.starts.upperBound, after: last,
                    limit: Self.chunk)
            }
        }
    }

    /// Settles the samples of a list, and the one that belongs to each, page by page.
    private func settlePages(
        _ next: (SampleKey?) throws(StoreError) -> [SampleKey],
        with other: (SampleKey) throws(StoreError) -> SampleKey? = { _ in nil }
    ) throws(StoreError) {
        var last: SampleKey?
        while true {
            var places = try next(last)
            guard let end = places.last else { return }
            last = end
            for place in places { if let other = try other(place) { places.append(other) } }
            try settle(places)
        }
    }
}
