import HealthModel

extension SampleStore {
    /// The maximum number of readings that are checked together.
    private static let window = 65_536
    /// How far back the person's usual level is determined, in microseconds.
    private static let lookBack: Int64 = 90 * 86_400_000_000
    /// The number of latest readings that are checked for live data.
    private static let latest = 256

    /// Searches all samples for intervals in a wrong unit. Nothing is changed.
    public func suspicions(types: Set<SampleType>? = nil) throws -> [Suspicion] {
        try suspicions(types: types, window: Self.window)
    }

    func suspicions(types: Set<SampleType>? = nil, window: Int) throws -> [Suspicion] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var found: [Suspicion] = []
        for group in try groups(try series(matching: SampleQuery(types: types ?? MisunitDetector.types))) {
            found += try suspicions(in: group, query: SampleQuery(), window: window)
        }
        return found
    }

    /// Searches the samples of an ingest, together with the readings of the 90 days before.
    public func suspicions(broughtBy ingest: Int64) throws -> [Suspicion] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var brought: [Int64: (low: Int64, high: Int64)] = [:]
        for entry in try connection.changeTable.starts(broughtBy: ingest) {
            brought[entry.series] = (entry.starts.lowerBound, entry.starts.upperBound)
        }
        var found: [Suspicion] = []
        for group in try groups(try series(matching: SampleQuery(types: MisunitDetector.types))) {
            for series in group {
                guard let (low, high) = brought[series.id], try mayBeWrong(series, low, high) else { continue }
                found += try suspicions(
                    in: group,
                    query: SampleQuery(from: Instant(microseconds: low - Self.lookBack), to: Instant(microseconds: high + 1))
                ).filter { $0.series.id == series.id && $0.stretch.to.microseconds >= low }
            }
        }
        return found
    }

    /// Adds notes to a ledger entry.
    public func add(notes: [String], to ingest: Int64) throws(StoreError) { try connection.ledger.add(notes: notes, to: ingest) }

    /// Searches the latest readings of one series, together with those of the same person's other devices.
    public func suspicions(amongLatestOf origin: Origin) throws -> [Suspicion] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let siblings = try groups(try series(matching: SampleQuery(types: [origin.type], subject: origin.subject)))
            .filter { $0.contains { $0.isOf(origin) } }
        return try siblings.flatMap { group in
            try suspicions(in: group, query: SampleQuery(descending: true, limit: Self.latest)).filter { $0.series.isOf(origin) }
        }
    }

    /// Checks the range of the values alone, which is enough for most ingests.
    private func mayBeWrong(_ series: SeriesDescription, _ low: Int64, _ high: Int64) throws(StoreError) -> Bool {
        guard let detector = MisunitDetector(series.type) else { return false }
        guard let values = try table.values(of: series.id, from: low, through: high) else { return false }
        return !detector.cannotBeWrong(values.low, values.high)
    }

    /// Groups the series by person and type, because they show the usual level together. Unassigned series stay separate.
    private func groups(_ series: [SeriesDescription]) throws(StoreError) -> [[SeriesDescription]] {
        var groups: [String: [SeriesDescription]] = [:]
        for series in series {
            let alone = series.subject == Origin.unassigned ? " \(series.id)" : ""
            groups["\(series.type.id) \(series.subject)\(alone)", default: []].append(series)
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    /// - Parameter query: If it is descending, its limit must not exceed the window.
    private func suspicions(
        in group: [SeriesDescription], query: SampleQuery, window: Int = SampleStore.window
    ) throws -> [Suspicion] {
        guard let first = group.first,
            let detector = MisunitDetector(first.type, isShared: first.subject == Origin.unassigned)
        else { return [] }
        let cursor = try SampleCursor(store: self, query: query, of: Set(group.map(\.id)))
        defer { cursor.close() }
        var found: [Suspicion] = []
        var readings: [MisunitReading] = []
        /// The series of each reading.
        var owners: [Int64] = []
        /// The last reading of each series before the window. An interval may continue after it.
        var cuts: [Int64: Instant] = [:]
        func look() throws(StoreError) {
            if query.descending {
                readings.reverse()
                owners.reverse()
            }
            for series in group {
                guard let first = owners.firstIndex(of: series.id), let last = owners.lastIndex(of: series.id) else { continue }
                for index in readings.indices { readings[index].isWitness = owners[index] != series.id }
                for stretch in detector.stretches(of: readings, series: series.id) {
                    if let cut = cuts[series.id],
                        let before = found.lastIndex(where: { $0.series.id == series.id }),
                        stretch.values != nil || (stretch.from == readings[first].start && found[before].stretch.to == cut),
                        found[before].stretch.takes(stretch)
                    {
                        continue
                    }
                    found.append(
                        Suspicion(stretch: stretch, series: series, explanations: try explanations(of: stretch, series)))
                }
                cuts[series.id] = readings[last].start
            }
            readings.removeAll(keepingCapacity: true)
            owners.removeAll(keepingCapacity: true)
        }
        while let stored = try cursor.nextWithSeries() {
            let sample = stored.stored.sample
            // Reserving the room avoids the doubling of the array, which briefly needs twice the memory.
            if readings.count == window / 8 {
                readings.reserveCapacity(window)
                owners.reserveCapacity(window)
            }
            readings.append(
                MisunitReading(
                    start: sample.start, duration: Double(sample.end.microseconds - sample.start.microseconds) / 86_400e6,
                    numeral: sample.numeral, unit: sample.unit))
            owners.append(stored.series)
            if readings.count >= window { try look() }
        }
        try look()
        return found
    }

    /// What explains the readings, most likely first.
    private func explanations(
        of stretch: MisunitStretch, _ series: SeriesDescription
    ) throws(StoreError) -> [Suspicion.Explanation] {
        guard stretch.mayBeAnotherPerson else { return [.unit] }
        guard stretch.values != nil, try !hasUsed(stretch.fits, series) else { return [.unit, .anotherPerson] }
        return [.anotherPerson, .unit]
    }

    /// Whether the source of a series sent readings of any type in a unit.
    private func hasUsed(_ unit: Unit, _ series: SeriesDescription) throws(StoreError) -> Bool {
        try connection.series.hasUnit(unit, fromSourceOf: series.id)
    }
}

extension MisunitStretch {
    /// Extends this interval by the next one. Returns false if the units differ. The medians remain those of the first.
    fileprivate mutating func takes(_ next: MisunitStretch) -> Bool {
        guard next.taken.code == taken.code, next.fits.code == fits.code, (values == nil) == (next.values == nil) else {
            return false
        }
        if let own = values, let other = next.values {
            guard let joined = own.joined(with: other) else { return false }
            values = joined
        }
        to = next.to
        count += next.count
        evidence += next.evidence
        return true
    }
}

extension SeriesDescription {
    fileprivate func isOf(_ origin: Origin) -> Bool {
        type == origin.type && subject == origin.subject && source == origin.source.id && device == origin.device?.key ?? ""
    }
}
