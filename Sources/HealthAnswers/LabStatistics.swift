import HealthModel
import SampleStore

/// The results of one LOINC code over time, and their statistics by calendar interval.
///
///     let lab = try LabStatistics(loinc: "2339-0", in: store, matching: query, zone: zone)
///     lab.rows(by: intervals, unit: lab.unit, bySource: false, ranges: [])
///
/// The time of a result is that of the test. Results that are not one number, such as `<5 mg/dL`, are counted in ``without`` and enter no
/// figure. Results in a unit without a conversion to ``unit`` are counted in ``otherUnits``.
package struct LabStatistics: Sendable {
    /// A result with its person and source.
    package struct Entry: Sendable {
        /// The result and the time of the test.
        package let result: LabResult
        package let person: String
        package let source: String
    }

    /// The LOINC code.
    package let code: String
    package let entries: [Entry]

    /// Whether a text is a LOINC code, such as `2339-0`, alone or after `loinc:`.
    package static func code(_ text: String) -> String? {
        let code = text.hasPrefix("loinc:") ? text.dropFirst(6) : text[...]
        let parts = code.split(separator: "-", omittingEmptySubsequences: false)
        let isCode =
            parts.count == 2 && (1...7).contains(parts[0].utf8.count) && parts[1].utf8.count == 1
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        return isCode ? String(code) : nil
    }

    /// Reads the results of a code.
    ///
    /// - Parameters:
    ///   - query: The condition for records, without a time.
    ///   - from: The first time of a test that is included.
    ///   - to: The first time of a test that is excluded.
    ///   - zone: The zone of dates without one.
    package init(
        loinc code: String, in store: SampleStore, matching query: SampleQuery, from: Instant? = nil, to: Instant? = nil,
        zone: TimeZoneRules
    ) throws(StoreError) {
        self.code = code
        var entries: [Entry] = []
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            for result in LabResult.all(of: sample, zone: zone) where result.measured.isCoded(loinc: code) {
                guard result.time >= from ?? result.time, to.map({ result.time < $0 }) ?? true else { continue }
                entries.append(
                    Entry(result: result, person: sample.origin.person, source: sample.origin.source.id))
            }
        }
        self.entries = entries.sorted { $0.result.time < $1.result.time }
    }

    package static let types = Set(["labResultRecord", "vitalSignRecord"].compactMap { SampleType($0) })

    package var name: String? { entries.last?.result.measured.name }

    /// The sample type of the code, if there is one. It may define the molar mass of the substance.
    package var substance: SampleType? { entries.last?.result.measured.type }

    /// The unit of the latest number, or `nil` if there is none. A unit that is not a code of UCUM is an annotation, such as `{K/uL}`.
    package var unit: Unit? { entries.last { $0.result.result.amount != nil }.flatMap { Self.unit(of: $0) } }

    private static func unit(of entry: Entry) -> Unit? {
        let result = entry.result.result
        if let unit = result.amount?.unit { return unit }
        guard let written = result.quantity?.unit else { return .one }
        return try? Unit(ucum: "{\(written)}")
    }

    /// The number in a unit, or `nil` if it has none or no conversion.
    private static func value(of entry: Entry, in unit: Unit) -> Double? {
        guard let amount = entry.result.result.amount, let own = Self.unit(of: entry) else { return nil }
        if own.code == unit.code { return amount.numeral.doubleValue }
        // Annotations are equal only by their text.
        if own.code.hasPrefix("{") || unit.code.hasPrefix("{") { return nil }
        return Amount(amount.numeral, own).value(in: unit, of: entry.result.measured.type)
    }

    package var without: [LabResult] { entries.map(\.result).filter { $0.result.amount == nil } }

    /// The number of results whose unit has no conversion.
    package func otherUnits(than unit: Unit) -> Int {
        entries.count { $0.result.result.amount != nil && Self.value(of: $0, in: unit) == nil }
    }

    /// The statistics of the numbers, by interval, person and source.
    ///
    /// - Parameters:
    ///   - unit: The unit of the figures and ranges.
    ///   - bySource: Whether sources are separate.
    ///   - includesGaps: Whether intervals without results are included, from the first result to the last.
    package func rows(
        by intervals: CalendarIntervals, unit: Unit, bySource: Bool = false, ranges: [ValueRange] = [], includesGaps: Bool = false
    ) -> [Statistics] {
        struct Key: Hashable {
            var person: String
            var source: String?
        }
        var groups: [Key: [Int: [Double]]] = [:]
        for entry in entries {
            guard let value = Self.value(of: entry, in: unit) else { continue }
            groups[Key(person: entry.person, source: bySource ? entry.source : nil), default: [:]][
                intervals.index(of: entry.result.time), default: []
            ].append(value)
        }
        var rows: [Statistics] = []
        for (key, byInterval) in groups {
            guard let first = byInterval.keys.min(), let last = byInterval.keys.max() else { continue }
            for index in includesGaps ? Array(first...last) : byInterval.keys.sorted() {
                var row = Statistics(
                    start: intervals.start(of: index), end: intervals.start(of: index + 1), person: key.person,
                    source: key.source)
                if let values = byInterval[index] { Self.fill(&row, values, ranges) }
                rows.append(row)
            }
        }
        return rows.sorted { ($0.start, $0.person, $0.source ?? "") < ($1.start, $1.person, $1.source ?? "") }
    }

    private static func fill(_ row: inout Statistics, _ values: [Double], _ ranges: [ValueRange]) {
        let sorted = values.sorted()
        let count = Double(values.count)
        row.count = values.count
        row.sum = values.reduce(0, +)
        row.average = row.sum / count
        (row.minimum, row.maximum, row.mostRecent) = (sorted.first, sorted.last, values.last)
        // The lowest value at which the share is reached, as for samples.
        row.percentiles = Statistics.percentileRanks.map { rank in
            sorted[max(0, Int((count * Double(rank) / 100).rounded(.up)) - 1)]
        }
        var amounts = [Double](repeating: 0, count: ranges.count)
        for value in values {
            if let index = ranges.firstIndex(where: { $0.contains(value) }) { amounts[index] += 1 }
        }
        row.inRange = amounts.map { Statistics.RangeShare(fraction: $0 / count, amount: $0) }
    }
}
