import HealthModel
import Pipeline

/// The rows of one series in a batch.
final class SeriesRows {
    let series: Int64
    var rows: [SampleRow] = []
    init(series: Int64) { self.series = series }

    /// Whether another origin has the same person and type.
    func isRelated(to origin: Origin, in batch: UnsafePointer<GatedSample>) -> Bool {
        guard let first = rows.first else { return false }
        let own = batch[Int(first.index)].sample.origin
        return own.type == origin.type && own.person == origin.person
    }
}

extension Numeral {
    /// Whether the shortest decimal text of the value equals this numeral, so that it need not be stored. A Double
    /// preserves 15 digits.
    @inline(__always) var isImpliedByValue: Bool {
        isPlain && coefficient.magnitude < 1_000_000_000_000_000
            && (exponent == 0 || (coefficient % 10 != 0 && exponent >= -22))
    }
}

extension Array {
    /// Sorts the array unless it is already sorted, as most files are.
    mutating func sortIfNeeded(by precedes: (Element, Element) -> Bool) {
        var index = 1
        while index < count {
            if precedes(self[index], self[index - 1]) {
                sort(by: precedes)
                return
            }
            index += 1
        }
    }
}
