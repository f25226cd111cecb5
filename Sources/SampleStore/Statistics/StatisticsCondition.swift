import HealthModel

/// The condition for samples of a series that count, if a query has conditions other than type and person.
///
/// A sample that does not match adds nothing and covers no time. The time that a value holds still depends on all samples of the series,
/// because each one is a new measurement.
struct StatisticsCondition {
    private let starts: TimeIntervalSet
    private let rest: SamplePredicate?
    private let decoder: SampleDecoder

    /// - Returns: `nil` if all samples of the part count.
    init?(_ part: QueryPlan.Part, _ decoder: SampleDecoder) {
        guard !part.isWhole || part.rest != nil else { return nil }
        (starts, rest, self.decoder) = (part.starts, part.rest, decoder)
    }

    /// The fields that ``counts(_:)`` reads of a row.
    var fields: SampleFields { rest == nil ? .start : .whole }

    /// Whether the sample of a row counts.
    func counts(_ row: SampleRows) throws(StoreError) -> Bool {
        guard starts.contains(row.start) else { return false }
        guard let rest else { return true }
        return rest.matches(try row.stored(decoder).sample)
    }
}
