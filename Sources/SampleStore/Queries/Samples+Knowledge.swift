import HealthModel

extension SampleStore.Samples {
    /// Whether the store has a reading as a sample, tombstone, witness, or quarantined reading.
    public func knows(_ sample: Sample) throws(StoreError) -> Bool {
        let (origin, uuid) = (sample.origin, sample.identity)
        guard let series = try connection.series.id(of: origin) else { return false }
        for rows in SampleTable.Rows.allCases {
            for key in try table.keys(of: uuid, among: rows, ofSeries: series) where try table.contains(key, among: rows) {
                return true
            }
        }
        return try connection.quarantine.contains(uuid, inSeries: series)
    }

    /// Whether the hub or its owner has assigned a reading to its person: the store has it from anything but a file of a member. Anybody can
    /// write readings into a file as a shared device would send them, so such a file decides nothing about the device's readings.
    public func isAssigned(_ sample: Sample) throws(StoreError) -> Bool {
        let uuid = sample.identity
        guard let series = try connection.series.id(of: sample.origin) else { return false }
        let reader = MeasurementReader(connection: connection)
        for rows in SampleTable.Rows.allCases {
            for key in try table.keys(of: uuid, among: rows, ofSeries: series) where try table.contains(key, among: rows) {
                for report in try reader.measurement(of: key).history.reports where report.key == key {
                    if try !connection.ledger.isOfMember(report.entry) { return true }
                }
            }
        }
        guard let entry = try connection.quarantine.ingestID(of: uuid, inSeries: series) else { return false }
        return try !connection.ledger.isOfMember(entry)
    }

    /// Returns the start and value (in the canonical unit) of a person's samples of a type that start within a time range.
    ///
    /// - Parameter isDescending: Whether the latest come first.
    public func values(
        of type: SampleType, person: String, in times: Range<Int64>, isDescending: Bool, limit: Int
    ) throws(StoreError) -> [(time: Int64, value: Double)] {
        guard !times.isEmpty else { return [] }
        var found: [(time: Int64, value: Double)] = []
        for series in try connection.series.ids(of: type, person) {
            let rows = try table.scan(
                [.start, .value], of: series, from: times.lowerBound, through: times.upperBound - 1,
                order: isDescending ? .startDescending : .start, limit: limit)
            while try rows.next() { found.append((rows.start, rows.value)) }
        }
        found.sort { isDescending ? $0.time > $1.time : $0.time < $1.time }
        return Array(found.prefix(limit))
    }

    /// Whether the store has unassigned samples of a type.
    public func hasUnassigned(_ type: SampleType) throws(StoreError) -> Bool {
        try connection.series.contains(type, person: Origin.unassigned)
    }

    /// Returns the latest start of any sample of a device, by its key, or nil if it has none.
    public func lastStart(ofDevice key: String) throws(StoreError) -> Instant? {
        var last: Instant?
        for series in try connection.series.ids(ofDevice: key) {
            guard let start = try table.start(of: series, isLast: true) else { continue }
            last = max(last ?? Instant(microseconds: start), Instant(microseconds: start))
        }
        return last
    }
}
