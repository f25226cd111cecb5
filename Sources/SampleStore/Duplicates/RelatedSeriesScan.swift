import HealthModel

/// A sample from another path that may be the same measurement.
struct Candidate {
    let key: SampleKey
    /// The original that this sample replaced when it was promoted, or the sample's own place.
    let first: SampleKey
    /// Whether a repair made it. A report is preferred to it.
    let isForm: Bool
    /// The compared properties. Until ``refine()`` is called, the resolution of the value may be coarser than it really
    /// is.
    private(set) var trace: ReadingTrace
    private var isRough: Bool

    init(key: SampleKey, first: SampleKey, isForm: Bool, trace: ReadingTrace, isRough: Bool) {
        (self.key, self.first, self.isForm) = (key, first, isForm)
        self.trace = trace
        self.isRough = isRough
    }

    /// Computes the resolution of a value whose numeral is not stored separately.
    mutating func refine() {
        guard isRough else { return }
        isRough = false
        if Int64(exactly: trace.value) == nil { trace.valueResolution *= Numeral(shortest: trace.value).step }
    }
}

/// Walks through a related series' samples in parallel to rows that are sorted by start, and caches the samples near the
/// current row.
struct RelatedSeriesScan {
    let related: RelatedSeries
    /// The cached samples, some earlier ones, and the next one if it was already read.
    private(set) var candidates: [Candidate] = []
    private let rows: SampleRows
    private var properties: SeriesProperties
    private let existingDuplicates: DuplicateRange
    /// Finds the originals that promoted samples replace, and the samples that repairs made. `nil` if the store has neither.
    private let measurements: MeasurementReader?
    let table: Table
    private var begun = false
    private var ended = false
    /// The indices of the first cached sample and of the end of the cached samples.
    private var (head, tail) = (0, 0)

    /// The number of samples that are skipped one by one before the scan seeks instead.
    private static let samplesBeforeSeek = 48

    enum Table {
        case live
        /// Samples that were deleted, repaired, or replaced. A deleted measurement stays deleted, whichever path it arrives over, and a
        /// reading is compared as it was reported, whatever a repair made of it.
        case deleted
        /// Samples of an undone import. The measurement may arrive again over any path, and becomes one with the sample
        /// if the undo is undone.
        case withdrawn
        /// Duplicates. A reading is not compared with them, but with their samples. One that agrees with a duplicate of another sample may
        /// be its better partner.
        case duplicates

        var rows: SampleTable.Rows {
            switch self {
            case .live: .live
            case .deleted, .withdrawn: .tombstones
            case .duplicates: .duplicates
            }
        }

        fileprivate var filter: SampleFilter {
            switch self {
            case .live, .duplicates: .all
            case .deleted, .withdrawn: .deleted(by: .undo, isOther: self == .deleted)
            }
        }
    }

    init(
        _ related: RelatedSeries, _ table: Table, properties: SeriesProperties, existingDuplicates: DuplicateRange,
        measurements: MeasurementReader?,
        connection: Connection
    ) throws(StoreError) {
        (self.related, self.table, self.measurements) = (related, table, measurements)
        self.properties = properties
        self.existingDuplicates = existingDuplicates
        let fields: SampleFields = [.key, .value, .numeral, .context, .metadata]
        rows = try connection.samples.scan(
            related.lasts ? fields.union(.duration) : fields, of: related.series, among: table.rows, table.filter,
            isRetained: false)
    }

    /// The indices of the ``candidates`` that start between two times, valid until the next call. Call this with
    /// ascending times.
    mutating func near(_ low: Int64, _ high: Int64) throws(StoreError) -> Range<Int> {
        while head < tail, candidates[head].key.start < low { head += 1 }
        if head > 512, head * 2 > candidates.count {
            candidates.removeFirst(head)
            tail -= head
            head = 0
        }
        if !begun { try seek(low) }
        var passed = 0
        while try readsAhead(), candidates[tail].key.start <= high {
            if candidates[tail].key.start >= low {
                tail += 1
                continue
            }
            candidates.removeLast()
            passed += 1
            if passed > Self.samplesBeforeSeek {
                try seek(low)
                passed = 0
            }
        }
        return head..<tail
    }

    /// Passes the indices of the ``candidates`` that match a reading to `body`.
    mutating func forEachMatch(
        of trace: ReadingTrace, among near: Range<Int>, _ rule: DuplicateRule, _ body: (Agreement, Int) -> Void
    ) {
        for position in near {
            // Most different values are ruled out without their digits.
            let difference = abs(candidates[position].trace.value - trace.value)
            guard difference <= Agreement.tolerance(trace, candidates[position].trace) else { continue }
            candidates[position].refine()
            if let agreement = Agreement(trace, candidates[position].trace, rule: rule) { body(agreement, position) }
        }
    }

    /// Whether a compared reading may be the sample if it and a reading of the series are one measurement (``ReportPrecision``).
    func mayBeBetter(_ trace: ReadingTrace, isGrouped: Bool, than other: ReadingTrace) -> Bool {
        let (own, others) = (trace.precision, other.precision)
        return isGrouped || (own == others ? related.isAfter : own < others)
    }

    /// Whether an original already has a duplicate from the series of the compared rows.
    func hasDuplicate(_ first: SampleKey) throws(StoreError) -> Bool { try existingDuplicates.contains(first) }

    private mutating func seek(_ low: Int64) throws(StoreError) {
        try rows.seek(related.series, from: low)
        begun = true
    }

    private func isUndoneForm(_ key: SampleKey) throws(StoreError) -> Bool {
        guard table.rows == .tombstones, let measurements else { return false }
        return try !measurements.isApplied(key)
    }

    /// Reads the next candidate, if necessary. Returns false if there is none.
    private mutating func readsAhead() throws(StoreError) -> Bool {
        if tail < candidates.count { return true }
        if ended { return false }
        var key: SampleKey
        repeat {
            guard try rows.next() else {
                ended = true
                return false
            }
            key = try rows.key
            // The result of a repair that was undone is not what anything reported.
        } while try isUndoneForm(key)
        let step = rows.step
        try candidates.append(
            Candidate(
                key: key, first: measurements?.first(of: key) ?? key, isForm: measurements?.isForm(key) ?? false,
                trace: properties.trace(
                    start: key.start, duration: related.lasts ? rows.duration : 0, value: rows.value, step: step ?? 1,
                    context: rows.context, metadata: rows.metadata ?? 0),
                isRough: step == nil))
        return true
    }
}
