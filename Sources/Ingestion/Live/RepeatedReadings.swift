import HealthModel
import Pipeline

/// Tells readings that are sent again from new ones: an oximeter sends its numbers 60 times a second, with each piece of the curve.
struct RepeatedReadings {
    /// Of each set of types apart: some devices tell temperature and humidity by turns.
    private var last: [[SampleType]: (values: [Value], taken: Instant)] = [:]

    private static let maximumSets = 64

    private struct Value: Equatable {
        var type: SampleType
        var numeral: Numeral
        var unit: Unit
    }

    /// Whether these are the readings that were taken last, within so many seconds of them; 0: never.
    mutating func areRepeated(_ readings: [Reading], at time: Instant, within seconds: Int) -> Bool {
        guard seconds > 0 else { return false }
        let values = readings.map { Value(type: $0.origin.type, numeral: $0.numeral, unit: $0.unit) }
        let types = values.map(\.type)
        if let last = last[types], last.values == values {
            let passed = time.microseconds &- last.taken.microseconds
            // A clock that was set back must not silence a device.
            if passed >= 0, passed < Int64(seconds) * 1_000_000 { return true }
        }
        if last.count >= Self.maximumSets { last.removeAll() }
        last[types] = (values, time)
        return false
    }
}

/// Tells equal records of a device's memory apart: two measurements within one minute of its clock, with one value, stay two, however
/// often the memory is read.
struct RecordOrdinals {
    private var counts: [Key: UInt32] = [:]

    private struct Key: Hashable {
        var type: SampleType
        var time: ReadingTime
        var numeral: String
        var ordinal: UInt32
    }

    mutating func number(_ readings: inout [Reading]) {
        for index in readings.indices {
            let reading = readings[index]
            let key = Key(
                type: reading.origin.type, time: reading.time, numeral: reading.numeral.canonicalText, ordinal: reading.ordinal)
            let count = counts[key, default: 0]
            counts[key] = count + 1
            readings[index].ordinal += count
        }
    }
}
