import HealthModel

/// The statistics of one interval as a JSON object or a row of CSV.
///
/// In a gap without samples the figures are `null` or empty, and the count is 0.
package struct StatisticsLine: Sendable {
    package let type: SampleType
    /// The unit of the numbers. Durations of a category are in seconds.
    package let unit: Unit
    package let zone: TimeZoneRules
    /// The figures to write. Includes `separateBySource` if sources are separate.
    package let shown: StatisticsOptions
    /// The ranges of `inRange`, in ``unit``.
    package let ranges: [ValueRange]
    private let me: String
    /// The LOINC code of laboratory results and their name.
    private let loinc: (code: String, name: String)?

    /// - Parameters:
    ///   - me: The person that is written as `me`.
    ///   - loinc: The LOINC code of laboratory results and their name.
    package init(
        type: SampleType, unit: Unit, zone: TimeZoneRules, shown: StatisticsOptions, ranges: [ValueRange] = [], me: String,
        loinc: (code: String, name: String)? = nil
    ) {
        self.type = type
        self.unit = unit
        self.zone = zone
        self.shown = shown
        self.ranges = ranges
        self.me = me
        self.loinc = loinc
    }

    package static func defaultOptions(for type: SampleType) -> StatisticsOptions {
        switch (type.kind, type.aggregation) {
        case (.category, _): .duration
        case (_, .cumulative): .cumulativeSum
        default: [.discreteAverage, .discreteMin, .discreteMax, .mostRecent]
        }
    }

    private func person(_ row: Statistics) -> String { row.person == me ? "me" : row.person }

    private func caseName(_ row: Statistics) -> String? { row.value.flatMap { type.caseName(of: Double($0)) ?? "\($0)" } }

    /// The figures with one number each, and their names in JSON and CSV.
    package static let figures: [(name: String, option: StatisticsOptions)] = [
        ("sum", .cumulativeSum), ("average", .discreteAverage), ("min", .discreteMin), ("max", .discreteMax),
        ("mostRecent", .mostRecent), ("duration", .duration),
    ]

    private func figure(_ option: StatisticsOptions, of row: Statistics) -> Double? {
        guard row.count > 0 else { return nil }
        return switch option {
        case .cumulativeSum: row.sum
        case .discreteAverage: row.average
        case .discreteMin: row.minimum
        case .discreteMax: row.maximum
        case .mostRecent: row.mostRecent
        default: row.duration
        }
    }

    /// Whether a range counts samples. Otherwise it counts seconds, for types weighted by time.
    private var countsSamples: Bool { type.aggregation == .discreteArithmetic || loinc != nil }

    package func object(_ row: Statistics) -> JSONObject {
        var object = JSONObject(["type": type.id])
        if let loinc {
            object.set("loinc", loinc.code)
            object.set("name", loinc.name)
        }
        object.set("start", row.start.description)
        object.set("end", row.end.description)
        object.set("subject", person(row))
        if shown.contains(.separateBySource) { object.set("source", row.source) }
        if type.kind == .category {
            object.set("value", row.value)
            object.set("case", caseName(row))
        }
        object.set("unit", unit.code)
        object.set("count", row.count)
        for (name, option) in Self.figures where shown.contains(option) { object.set(name, figure(option, of: row)) }
        if shown.contains(.percentiles) {
            var percentiles = JSONObject()
            for (index, rank) in Statistics.percentileRanks.enumerated() {
                percentiles.set("\(rank)", index < row.percentiles.count ? row.percentiles[index] : nil)
            }
            object.set("percentiles", percentiles)
        }
        if shown.contains(.inRange) {
            object.set(
                "inRange",
                ranges.enumerated().map { index, range in
                    var part = JSONObject(["from": range.low, "to": range.high])
                    let share = index < row.inRange.count ? row.inRange[index] : nil
                    part.set("fraction", share?.fraction)
                    if countsSamples {
                        part.set("count", share.map { Int($0.amount.rounded()) })
                    } else {
                        part.set("duration", share?.amount)
                    }
                    return part
                })
        }
        object.set("zone", zone.identifier)
        return object
    }

    /// The names of a row's cells in a file with several types.
    ///
    /// - Parameters:
    ///   - shown: The figures of any of the types.
    ///   - ranges: The ranges as requested.
    ///   - hasCases: Whether one of the types is a category.
    ///   - hasCodes: Whether one of them is a LOINC code.
    package static func columns(
        shown: StatisticsOptions, ranges: [String], hasCases: Bool, hasCodes: Bool = false
    ) -> [String] {
        var columns = ["type"] + (hasCodes ? ["loinc", "name"] : []) + ["start", "end", "subject"]
        if shown.contains(.separateBySource) { columns.append("source") }
        if hasCases { columns.append("case") }
        columns += ["unit", "count"]
        columns += figures.filter { shown.contains($0.option) }.map(\.name)
        if shown.contains(.percentiles) { columns += Statistics.percentileRanks.map { "p\($0)" } }
        if shown.contains(.inRange) { columns += ranges.map { "in \($0)" } }
        return columns + ["zone"]
    }

    /// The cells under ``columns(shown:ranges:hasCases:hasCodes:)``.
    package func cells(
        _ row: Statistics, among all: StatisticsOptions, ranges count: Int, hasCases: Bool, hasCodes: Bool = false
    ) -> [String] {
        var cells: [String] = [type.id]
        if hasCodes { cells += [loinc?.code ?? "", loinc?.name ?? ""] }
        cells += [row.start.description, row.end.description, person(row)]
        if all.contains(.separateBySource) { cells.append(row.source ?? "") }
        if hasCases { cells.append(caseName(row) ?? "") }
        cells += [unit.code, "\(row.count)"]
        for (_, option) in Self.figures where all.contains(option) {
            cells.append(shown.contains(option) ? figure(option, of: row)?.description ?? "" : "")
        }
        if all.contains(.percentiles) {
            cells += Statistics.percentileRanks.indices.map { $0 < row.percentiles.count ? row.percentiles[$0].description : "" }
        }
        if all.contains(.inRange) {
            cells += (0..<count).map { $0 < row.inRange.count ? row.inRange[$0].fraction.description : "" }
        }
        return cells + [zone.identifier]
    }
}
