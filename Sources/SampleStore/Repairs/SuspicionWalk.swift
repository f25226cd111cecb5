import HealthModel

/// The suspicions of a person, which ``SampleStore/update(_:of:)`` brings up to date after changes.
public struct KnownSuspicions: Sendable {
    /// The suspicions, by type and start.
    public internal(set) var all: [Suspicion] = []
    var anchor: Anchor?
    var walks: [String: SuspicionWalk] = [:]

    /// Nothing is known yet.
    public init() {}
}

/// A search among the readings of a person and type, a bounded number at a time. It can be continued from its last window.
struct SuspicionWalk: Sendable {
    /// The state before a window.
    struct Mark: Sendable {
        /// The start of the window's first reading. All readings before it start earlier.
        var start: Instant
        var found: [Suspicion]
        var cuts: [Int64: Instant]
    }

    private(set) var found: [Suspicion] = []
    /// The state before the last window, or `nil` if the search cannot be continued there.
    private(set) var mark: Mark?
    private var group: [SeriesDescription]
    private let detector: MisunitDetector
    private let window: Int
    /// The ids of the series that are evaluated, or `nil` for all.
    private let evaluated: Set<Int64>?
    /// The last reading of each series before the window. An interval may continue after it.
    private var cuts: [Int64: Instant] = [:]

    /// Returns `nil` if the units of the type cannot be recognized by the values.
    init?(_ group: [SeriesDescription], window: Int, evaluating evaluated: Set<Int64>? = nil) {
        guard let first = group.first,
            let detector = MisunitDetector(first.type, isShared: first.person == Origin.unassigned)
        else { return nil }
        (self.group, self.detector, self.window) = (group, detector, window)
        self.evaluated = evaluated
    }

    /// Goes back to the state before the last window.
    ///
    /// - Parameters:
    ///   - start: The earliest start that changed, in microseconds.
    ///   - group: The series that the group has now.
    /// - Returns: Whether all changes are in the last window.
    mutating func goBack(to start: Int64, _ group: [SeriesDescription]) -> Bool {
        guard let mark, start >= mark.start.microseconds else { return false }
        (self.group, found, cuts) = (group, mark.found, mark.cuts)
        return true
    }

    /// Looks at readings.
    ///
    /// - Parameter query: If it is descending, its limit must not exceed the window.
    mutating func look(at query: SampleQuery, of store: SampleStore) throws {
        let cursor = try SampleCursor(store: store, query: query, of: Set(group.map(\.id)))
        defer { cursor.close() }
        var readings: [MisunitReading] = []
        /// The series of each reading.
        var owners: [Int64] = []
        var last: Instant?
        while let stored = try cursor.nextWithSeries() {
            let sample = stored.stored.sample
            if readings.isEmpty, !query.descending {
                let isFirst = last.map { $0 < sample.start } ?? true
                mark = isFirst ? Mark(start: sample.start, found: found, cuts: cuts) : nil
            }
            last = sample.start
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
            guard readings.count >= window else { continue }
            if query.descending { (readings, owners) = (readings.reversed(), owners.reversed()) }
            try evaluate(&readings, owners, store.connection)
            readings.removeAll(keepingCapacity: true)
            owners.removeAll(keepingCapacity: true)
        }
        if query.descending { (readings, owners) = (readings.reversed(), owners.reversed()) }
        try evaluate(&readings, owners, store.connection)
    }

    /// Adds the suspicions of a window, or extends those of the window before.
    private mutating func evaluate(
        _ readings: inout [MisunitReading], _ owners: [Int64], _ connection: Connection
    ) throws(StoreError) {
        for series in group where evaluated?.contains(series.id) ?? true {
            try connection.checkTime()
            guard let first = owners.firstIndex(of: series.id), let last = owners.lastIndex(of: series.id) else { continue }
            for index in readings.indices { readings[index].isReference = owners[index] != series.id }
            for range in detector.ranges(of: readings, series: series.id) {
                if let cut = cuts[series.id],
                    let before = found.lastIndex(where: { $0.series.id == series.id }),
                    range.values != nil || (range.from == readings[first].start && found[before].range.to == cut),
                    found[before].range.takes(range)
                {
                    continue
                }
                found.append(Suspicion(range: range, series: series, explanations: []))
            }
            cuts[series.id] = readings[last].start
        }
    }
}

extension MisunitRange {
    /// Extends this interval by the next one. Returns false if the units differ. The medians remain those of the first.
    fileprivate mutating func takes(_ next: MisunitRange) -> Bool {
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
