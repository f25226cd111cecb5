import HealthModel

/// Readings of a series that look as if they were in another unit, and that a person has declared right.
public struct Dismissal: Hashable, Sendable {
    /// The number of the series in this store.
    public var series: Int64
    /// The start of the first and of the last reading.
    public var from: Instant
    public var to: Instant
    /// The UCUM code of the unit that the readings fit.
    public var fits: String
}

/// The table `dismissed`: suspicions that a person has dismissed.
extension SampleStore.Repairs {
    /// Dismisses a suspicion. If later readings make it longer, it is reported again.
    public func dismiss(_ suspicion: Suspicion) throws {
        let dismissal = Dismissal(suspicion)
        try connection.run(
            "INSERT OR IGNORE INTO dismissed(series, low, high, fits) VALUES(?, ?, ?, ?)", .integer(dismissal.series),
            .integer(dismissal.from.microseconds), .integer(dismissal.to.microseconds), .text(dismissal.fits))
    }

    /// Removes a dismissal, so that the suspicion is reported again.
    public func remove(_ dismissal: Dismissal) throws {
        try connection.run(
            "DELETE FROM dismissed WHERE series = ? AND low = ? AND high = ? AND fits = ?", .integer(dismissal.series),
            .integer(dismissal.from.microseconds), .integer(dismissal.to.microseconds), .text(dismissal.fits))
    }

    /// Returns the dismissals of one or all series, earliest first.
    public func dismissals(of series: Int64? = nil) throws(StoreError) -> [Dismissal] {
        try connection.list(
            "SELECT series, low, high, fits FROM dismissed WHERE series = coalesce(?, series) ORDER BY series, low, high, fits",
            [.optional(series)]
        ) {
            Dismissal(
                series: $0.integer(0), from: Instant(microseconds: $0.integer(1)), to: Instant(microseconds: $0.integer(2)),
                fits: $0.text(3))
        }
    }
}

extension Dismissal {
    init(_ suspicion: Suspicion) {
        let range = suspicion.range
        self.init(series: suspicion.series.id, from: range.from, to: range.to, fits: range.fits.code)
    }

    /// Whether it concerns all readings of a suspicion.
    func covers(_ suspicion: Suspicion) -> Bool {
        let other = Dismissal(suspicion)
        return series == other.series && fits == other.fits && from <= other.from && other.to <= to
    }
}
