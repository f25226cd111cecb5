import HealthModel

/// Which of several sources counts where they tell of the same time.
///
/// The order that a person configured goes first; what it does not name follows: what is worn (a watch, a band, a ring) before anything
/// else, a phone last, and among equals the one that was there first.
struct SourcePriority {
    private let named: [String]

    init(_ named: [String]) { self.named = named.map { $0.lowercased() } }

    /// Sorts series, the best first.
    func sorted(_ series: [SeriesDescription], names: (SeriesDescription) throws(StoreError) -> [String]) throws(StoreError)
        -> [SeriesDescription]
    {
        var ranked: [(rank: Int, series: SeriesDescription)] = []
        for series in series { ranked.append((rank(of: try names(series).map { $0.lowercased() }), series)) }
        ranked.sort { ($0.rank, $0.series.id) < ($1.rank, $1.series.id) }
        return ranked.map(\.series)
    }

    private func rank(of names: [String]) -> Int {
        if let place = named.firstIndex(where: names.contains) { return place }
        let words = names.flatMap { $0.split { !$0.isLetter } }
        if words.contains(where: { ["watch", "band", "ring", "wrist", "whoop", "fitbit"].contains($0) }) { return named.count }
        if words.contains(where: { ["phone", "iphone", "pixel", "galaxy", "ipad"].contains($0) }) { return named.count + 2 }
        return named.count + 1
    }
}

extension SampleStore {
    /// Names by which a person may mean a series: source, device, model.
    func names(of series: SeriesDescription) throws(StoreError) -> [String] {
        let statement = try connection.statement(
            """
            SELECT source_name, device_name, model FROM origin WHERE id = (SELECT origin FROM context WHERE id =
                (SELECT context FROM sample WHERE series = ? LIMIT 1))
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series.id)])
        guard try statement.step() else { return [series.source] }
        return [series.source, series.device, statement.text(0), statement.text(1), statement.text(2)].filter { !$0.isEmpty }
    }
}

/// Stretches of time that a better source tells of already.
final class Coverage {
    /// In order, apart from one another.
    private(set) var spans: [(start: Int64, end: Int64)] = []

    var isEmpty: Bool { spans.isEmpty }

    /// - Parameter spans: in order, apart from one another.
    init(_ spans: [(start: Int64, end: Int64)] = []) { self.spans = spans }

    /// Adds stretches that are in order of their start.
    func add(_ more: [(start: Int64, end: Int64)]) {
        guard !more.isEmpty else { return }
        var merged: [(start: Int64, end: Int64)] = []
        var (one, other) = (0, 0)
        while one < spans.count || other < more.count {
            let next: (start: Int64, end: Int64)
            if other == more.count || (one < spans.count && spans[one].start <= more[other].start) {
                next = spans[one]
                one += 1
            } else {
                next = more[other]
                other += 1
            }
            if let last = merged.last, next.start <= last.end {
                merged[merged.count - 1].end = max(last.end, next.end)
            } else {
                merged.append(next)
            }
        }
        spans = merged
    }

    /// What of a stretch is not covered.
    ///
    /// - Parameter cursor: where to begin; kept by a caller whose stretches are in order of their start.
    func uncovered(_ start: Int64, _ end: Int64, from cursor: inout Int) -> [(start: Int64, end: Int64)] {
        while cursor < spans.count, spans[cursor].end <= start { cursor += 1 }
        var open: [(start: Int64, end: Int64)] = []
        var position = start
        var index = cursor
        while index < spans.count, spans[index].start < end, position < end {
            if spans[index].start > position { open.append((position, spans[index].start)) }
            position = max(position, spans[index].end)
            index += 1
        }
        if position < end { open.append((position, end)) }
        return open
    }
}

extension SampleStore {
    /// The series of a query, those first that count where several tell of the same time, as in statistics.
    ///
    /// - Parameter named: sources and devices that a person put in an order of their own.
    public func seriesByPriority(matching query: SampleQuery, _ named: [String]) throws(StoreError) -> [SeriesDescription] {
        try SourcePriority(named).sorted(try series(matching: query)) { series throws(StoreError) in try names(of: series) }
    }
}
