import HealthModel

/// Statistics of one interval as an object of JSON or a row of CSV.
public struct StatisticsLine: Sendable {
    /// What was summed up.
    public let type: SampleType
    /// The unit of the numbers.
    public let unit: Unit
    /// Whose days they are.
    public let zone: TimeZoneRules
    /// Whether sources are kept apart.
    public let isBySource: Bool
    private let me: String

    /// - Parameter me: the subject that is written as `me`.
    public init(type: SampleType, unit: Unit, zone: TimeZoneRules, isBySource: Bool, me: String) {
        self.type = type
        self.unit = unit
        self.zone = zone
        self.isBySource = isBySource
        self.me = me
    }

    private var isCumulative: Bool { type.aggregation == .cumulative }

    private func person(_ row: Statistics) -> String { row.subject == me ? "me" : row.subject }

    /// The object for a line of NDJSON; a sum for a cumulative type, else average, min, max and mostRecent.
    public func object(_ row: Statistics) -> JSONObject {
        var object = JSONObject()
        object.set("type", type.id)
        object.set("start", row.start.description)
        object.set("end", row.end.description)
        object.set("subject", person(row))
        if isBySource { object.set("source", row.source) }
        object.set("unit", unit.code)
        object.set("count", row.count)
        if isCumulative {
            object.set("sum", row.sum)
        } else {
            object.set("average", row.average)
            object.set("min", row.minimum)
            object.set("max", row.maximum)
            object.set("mostRecent", row.mostRecent)
        }
        object.set("zone", zone.identifier)
        return object
    }

    /// The names of a row's cells in a file of several types.
    ///
    /// - Parameters:
    ///   - sums: whether one of them is cumulative.
    ///   - averages: whether one of them is not.
    public static func columns(isBySource: Bool, sums: Bool, averages: Bool) -> [String] {
        var columns = ["type", "start", "end", "subject"]
        if isBySource { columns.append("source") }
        columns += ["unit", "count"]
        if sums { columns.append("sum") }
        if averages { columns += ["average", "min", "max", "mostRecent"] }
        return columns + ["zone"]
    }

    /// The cells under ``columns(isBySource:sums:averages:)``.
    public func cells(_ row: Statistics, sums: Bool, averages: Bool) -> [String] {
        var cells: [String] = [type.id, row.start.description, row.end.description, person(row)]
        if isBySource { cells.append(row.source ?? "") }
        cells += [unit.code, "\(row.count)"]
        if sums { cells.append(isCumulative ? row.sum.description : "") }
        if averages {
            cells += [row.average, row.minimum, row.maximum, row.mostRecent].map { isCumulative ? "" : ($0 ?? 0).description }
        }
        return cells + [zone.identifier]
    }
}
