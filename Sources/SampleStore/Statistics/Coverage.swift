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
