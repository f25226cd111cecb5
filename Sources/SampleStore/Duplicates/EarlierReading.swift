import HealthModel

/// An earlier report of a series at an instant, as it is compared with new ones.
struct EarlierReading {
    /// The place from which the report's import is known.
    enum Source {
        /// A sample or a tombstone, by its change number.
        case row(seq: Int64)
        case duplicate(ingest: Int64)
    }

    var key: SampleKey
    /// The original if this is a duplicate, and the place itself if not.
    var first: SampleKey
    var unit: String
    var trace: ReadingTrace
    var source: Source
    /// Whether the report is a live sample.
    var isLive: Bool
}

extension RelatedSeriesCache.ComparedProperties {
    /// The compared properties for readings with the same time.
    func trace(duration: Int64, value: Double, step: Double, method: MeasuringMethod) -> ReadingTrace {
        ReadingTrace(
            start: 0, duration: duration, timeResolution: 1, isArrival: false, value: value, valueResolution: step * scale,
            scale: scale, zero: zero, method: method)
    }

    /// The compared properties of a row. Its value is in column 2, its numeral in column 3, and its duration in column
    /// 5.
    func trace(of row: Statement, method: MeasuringMethod) throws(StoreError) -> ReadingTrace {
        let value = row.real(2)
        let numeral = row.isNull(3) ? Numeral(shortest: value) : try? Numeral(parsing: row.blob(3))
        return trace(duration: row.integer(5), value: value, step: numeral?.step ?? 0, method: method)
    }
}
