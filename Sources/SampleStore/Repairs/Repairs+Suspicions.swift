import HealthModel

extension SampleStore.Repairs {
    /// The maximum number of readings that are checked together.
    private static let window = 65_536
    /// How far back the person's usual level is determined, in microseconds.
    private static let lookBack: Int64 = 90 * 86_400_000_000
    /// The number of latest readings that are checked for live data.
    private static let latest = 256
    /// The maximum number of series of one person and type that are searched after an ingest. The search among one series reads all of them.
    static let maximumSeries = 64

    /// Searches all samples for intervals in a wrong unit. Nothing is changed.
    public func suspicions(types: Set<SampleType>? = nil) throws -> [Suspicion] {
        try suspicions(types: types, window: Self.window)
    }

    func suspicions(types: Set<SampleType>? = nil, window: Int) throws -> [Suspicion] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var found: [Suspicion] = []
        for group in try groups(try store.samples.series(matching: SampleQuery(types: types ?? MisunitDetector.types))) {
            found += try suspicions(in: group, query: SampleQuery(), window: window)
        }
        return found
    }

    /// Searches the samples of an ingest, together with the readings of the 90 days before.
    public func suspicions(ingestedBy ingest: Int64) throws -> [Suspicion] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var ingestedRanges: [Int64: (low: Int64, high: Int64)] = [:]
        for entry in try connection.changeTable.starts(ingestedBy: ingest) {
            ingestedRanges[entry.series] = (entry.starts.lowerBound, entry.starts.upperBound)
        }
        var found: [Suspicion] = []
        for group in try groups(try store.samples.series(matching: SampleQuery(types: MisunitDetector.types))) {
            var searched = 0
            for series in group where searched < Self.maximumSeries {
                guard let (low, high) = ingestedRanges[series.id], try mayBeWrong(series, low, high) else { continue }
                // Most of very many series have too few readings for a suspicion.
                let count = try table.count(
                    .live, of: series.id, from: low - Self.lookBack, before: high + 1, atMost: MisunitDetector.shortest)
                guard count >= MisunitDetector.shortest else { continue }
                searched += 1
                found += try suspicions(
                    in: group,
                    query: SampleQuery(from: Instant(microseconds: low - Self.lookBack), to: Instant(microseconds: high + 1)),
                    evaluating: [series.id]
                ).filter { $0.range.to.microseconds >= low }
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
        let relatedGroups = try groups(
            try store.samples.series(matching: SampleQuery(types: [origin.type], person: origin.person))
        )
        .filter { $0.contains { $0.isOf(origin) } }
        return try relatedGroups.flatMap { group in
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
            let alone = series.person == Origin.unassigned ? " \(series.id)" : ""
            groups["\(series.type.id) \(series.person)\(alone)", default: []].append(series)
        }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    /// - Parameter query: If it is descending, its limit must not exceed the window.
    private func suspicions(
        in group: [SeriesDescription], query: SampleQuery, window: Int = SampleStore.Repairs.window,
        evaluating evaluated: Set<Int64>? = nil
    ) throws -> [Suspicion] {
        guard var walk = SuspicionWalk(group, window: window, evaluating: evaluated) else { return [] }
        try walk.look(at: query, of: store)
        return try explained(walk.found)
    }

    /// Brings known suspicions up to date. Only groups whose samples changed are read again, and only from the last window on if the
    /// changes are in it.
    ///
    /// - Parameter person: The person.
    public func update(_ known: inout KnownSuspicions, of person: String) throws {
        try update(&known, of: person, window: Self.window)
    }

    func update(_ known: inout KnownSuspicions, of person: String, window: Int) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let anchor = try store.changes.latestAnchor()
        let changes = try known.anchor.flatMap { try self.changes(after: $0) }
        if changes == nil { known = KnownSuspicions() }
        var walks: [String: SuspicionWalk] = [:]
        for group in try groups(try store.samples.series(matching: SampleQuery(types: MisunitDetector.types, person: person))) {
            guard let first = group.first else { continue }
            let key = "\(first.type.id) \(first.id)"
            let changed = group.compactMap { changes?[$0.id] }.min()
            if let walk = known.walks[key], changed == nil || changes == nil {
                walks[key] = walk
            } else if var walk = known.walks[key], let changed, walk.goBack(to: changed, group) {
                try walk.look(at: SampleQuery(from: walk.mark?.start), of: store)
                walks[key] = walk
            } else if var walk = SuspicionWalk(group, window: window) {
                try walk.look(at: SampleQuery(), of: store)
                walks[key] = walk
            }
        }
        known.walks = walks
        known.anchor = anchor
        known.all = try explained(walks.sorted { $0.key < $1.key }.flatMap(\.value.found))
    }

    /// The earliest start that changed in each series, or `nil` if the anchor is not of this store's history.
    private func changes(after anchor: Anchor) throws(StoreError) -> [Int64: Int64]? {
        let epochs = Epochs(connection)
        guard try epochs.fault(of: anchor) == nil else { return nil }
        var starts: [Int64: Int64] = [:]
        for entry in try connection.changeTable.entries(after: anchor.seq) {
            starts[entry.series] = min(starts[entry.series] ?? .max, entry.starts.lowerBound)
        }
        return starts
    }

    /// Returns the suspicions that were not dismissed, with their explanations.
    private func explained(_ found: [Suspicion]) throws(StoreError) -> [Suspicion] {
        let dismissals = try found.isEmpty ? [] : self.dismissals()
        var found = found.filter { suspicion in !dismissals.contains { $0.covers(suspicion) } }
        for index in found.indices { found[index].explanations = try explanations(of: found[index].range, found[index].series) }
        return found
    }

    /// What explains the readings, most likely first.
    private func explanations(
        of range: MisunitRange, _ series: SeriesDescription
    ) throws(StoreError) -> [Suspicion.Explanation] {
        guard range.mayBeAnotherPerson else { return [.unit] }
        guard range.values != nil, try !hasUsed(range.fits, series) else { return [.unit, .anotherPerson] }
        return [.anotherPerson, .unit]
    }

    /// Whether the source of a series sent readings of any type in a unit.
    private func hasUsed(_ unit: Unit, _ series: SeriesDescription) throws(StoreError) -> Bool {
        try connection.series.hasUnit(unit, fromSourceOf: series.id)
    }
}

extension SeriesDescription {
    fileprivate func isOf(_ origin: Origin) -> Bool {
        type == origin.type && person == origin.person && source == origin.source.id && device == origin.device?.key ?? ""
    }
}
