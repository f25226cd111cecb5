import HealthModel

/// What a series told of an instant before, as it is compared with what it tells now.
struct Told {
    /// What knows the ingest that told it.
    enum Source {
        /// A sample or a tombstone, by its number.
        case row(seq: Int64)
        case witness(ingest: Int64)
    }

    var place: SampleKey
    /// The sample it is a witness of; else itself.
    var first: SampleKey
    var unit: String
    var trace: ReadingTrace
    var source: Source
    /// Whether it is a sample.
    var isLive: Bool

    /// How like it is to a reading of the same start; nil where they are two.
    func likeness(to other: ReadingTrace) -> Likeness? {
        trace.duration == other.duration ? Likeness(other, trace, rule: .unit) : nil
    }

    /// Whether a reading of the same unit was told with other digits: fewer or more.
    func hasOtherDigits(than other: ReadingTrace) -> Bool {
        max(trace.valueResolution, other.valueResolution) >= 1.5 * min(trace.valueResolution, other.valueResolution)
    }
}

extension Siblings.Telling {
    /// What is compared where the times are one.
    func trace(duration: Int64, value: Double, step: Double, method: MeasuringMethod) -> ReadingTrace {
        ReadingTrace(
            start: 0, duration: duration, timeResolution: 1, isArrival: false, value: value, valueResolution: step * scale,
            scale: scale, zero: zero, method: method)
    }

    /// What is compared of a row: its value is column 2, its numeral 3, its duration 5.
    func trace(of row: Statement, method: MeasuringMethod) throws(StoreError) -> ReadingTrace {
        let value = row.real(2)
        let numeral = row.isNull(3) ? Numeral(shortest: value) : try? Numeral(parsing: row.blob(3))
        return trace(duration: row.integer(5), value: value, step: numeral?.step ?? 0, method: method)
    }
}
