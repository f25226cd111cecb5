import HealthModel

/// Which samples of a series count, where a query asks for more than type and person.
///
/// A sample that does not count adds nothing and lies in no other's way. How long a value holds goes by all of its series' samples: it was
/// measured again then, whatever came out.
struct StatisticsCondition {
    private let starts: TimeStretches
    private let rest: SamplePredicate?
    private let series: Int64
    private let decoder: SampleDecoder

    /// - Returns: `nil` where all of the part's samples count.
    init?(_ part: QueryPlan.Part, _ decoder: SampleDecoder) {
        guard !part.isWhole || part.rest != nil else { return nil }
        (starts, rest, series, self.decoder) = (part.starts, part.rest, part.series.id, decoder)
    }

    /// Columns in front of one's own that ``counts(_:start:)`` reads.
    var columns: (text: String, count: Int32) { rest == nil ? ("", 0) : (SampleDecoder.columns + ", ", SampleDecoder.count) }

    /// Whether the sample of a row counts.
    func counts(_ row: Statement, start: Int64) throws(StoreError) -> Bool {
        guard starts.contains(start) else { return false }
        guard let rest else { return true }
        return rest.matches(try decoder.decode(row, series: series).sample)
    }
}
