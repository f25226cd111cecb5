/// The time that better sources already cover.
final class Coverage {
    /// The covered intervals, sorted and disjoint.
    private(set) var spans: [(start: Int64, end: Int64)] = []

    var isEmpty: Bool { spans.isEmpty }

    /// - Parameter spans: Intervals that are sorted and disjoint.
    init(_ spans: [(start: Int64, end: Int64)] = []) { self.spans = spans }

    /// Adds intervals that are sorted by start.
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

    /// Returns the parts of an interval that are not covered.
    ///
    /// - Parameter cursor: The index at which to begin. The caller keeps it while its intervals are sorted by start.
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
