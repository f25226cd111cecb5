import Formats
import HealthModel
import SampleStore

/// A parameter of a question for statistics. The HTTP API has it by this name, and the command line as an option (`--by-source`).
package enum StatisticsParameter: String, CaseIterable, Sendable {
    case ownZone, bySource, everySource, show, percentiles, inRange, empty

    package enum Form: Sendable {
        case flag
        /// A text, with examples. The help shows the placeholder.
        case text(placeholder: String, like: [String])

        package var isFlag: Bool { if case .flag = self { true } else { false } }
    }

    package var form: Form {
        switch self {
        case .show: .text(placeholder: "LIST", like: ["average,max", "sum"])
        case .inRange: .text(placeholder: "RANGE", like: ["70..180 mg/dL", "..70", "180.."])
        case .ownZone, .bySource, .everySource, .percentiles, .empty: .flag
        }
    }

    package var help: String {
        switch self {
        case .ownZone: "Assign each sample to a day in the sample's own time zone, for example after a journey."
        case .bySource: "Show each source separately."
        case .everySource: "Count all sources, even if they cover the same time."
        case .show: "Figures to show, separated by commas: \(Self.figures) (in seconds)."
        case .percentiles: "Add the 5th, 25th, 50th, 75th and 95th percentile."
        case .inRange: "Add the share of values in this range, such as ..70, 180.. or '70..180 mg/dL'."
        case .empty: "Include intervals without samples."
        }
    }

    /// Whether it may be given more than once.
    package var isRepeating: Bool { self == .inRange }

    package var option: String {
        "--" + rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }

    fileprivate static let figures = StatisticsLine.figures.map(\.name).joined(separator: ", ")
}

/// The values of the parameters of a question for statistics.
package struct StatisticsChoices {
    private let texts: (StatisticsParameter) -> [String]
    private let invalid: (StatisticsParameter, _ value: String, _ expected: String) -> any Error

    /// - Parameters:
    ///   - texts: the texts of a parameter. A flag that is set has one.
    ///   - invalid: the error for a text.
    package init(
        texts: @escaping (StatisticsParameter) -> [String],
        invalid: @escaping (StatisticsParameter, _ value: String, _ expected: String) -> any Error
    ) {
        (self.texts, self.invalid) = (texts, invalid)
    }

    package func has(_ parameter: StatisticsParameter) -> Bool { !texts(parameter).isEmpty }

    /// The ranges as they are written, for the headers of columns.
    package var writtenRanges: [String] { texts(.inRange) }

    /// The figures to show, and `defaults` if the question names none.
    package func figures(_ defaults: StatisticsOptions) throws -> StatisticsOptions {
        var shown = defaults
        if let list = texts(.show).first {
            shown = []
            for word in list.split(separator: ",", omittingEmptySubsequences: false) {
                guard let figure = StatisticsLine.figures.first(where: { $0.name == word }) else {
                    throw invalid(.show, list, "one or more of \(StatisticsParameter.figures)")
                }
                shown.insert(figure.option)
            }
        }
        if has(.percentiles) { shown.insert(.percentiles) }
        if has(.inRange) { shown.insert(.inRange) }
        return shown
    }

    /// The ranges in `target`. A range without a unit is in `unit`.
    package func ranges(in target: Unit, writtenIn unit: Unit, molarMass: Double?) throws -> [ValueRange] {
        try writtenRanges.map { text in
            let parts = text.split(separator: " ", maxSplits: 1)
            guard let first = parts.first, let range = ValueRange(first) else {
                throw invalid(.inRange, text, "a range such as '70..180 mg/dL', ..70 or 180..")
            }
            let given = try parts.count > 1 ? Unit(written: String(parts[1])) : unit
            let conversion = try given.conversion(to: target, molarMass: molarMass)
            return ValueRange(range.low.map { conversion($0) }, range.high.map { conversion($0) }) ?? range
        }
    }

    /// Applies the choices to a query.
    ///
    /// - Returns: the form of its rows.
    /// - Throws: `StatisticsError` if the type does not have a figure, or the error of a text.
    package func apply(to query: inout StatisticsQuery, unit: Unit, me: String) throws -> StatisticsLine {
        let type = query.type
        query.usesSampleZones = has(.ownZone)
        guard !query.usesSampleZones || query.intervals.interval.unit.isOfDays else {
            throw invalid(.ownZone, "", "given with intervals of a day or longer")
        }
        (query.bySource, query.countsEvery, query.includesGaps) = (has(.bySource), has(.everySource), has(.empty))
        var shown = try figures(StatisticsLine.defaultOptions(for: type))
        try shown.check(for: type)
        query.options = shown
        query.ranges = try ranges(in: type.canonicalUnit, writtenIn: unit, molarMass: type.molarMass)
        let ranges = try ranges(in: unit, writtenIn: unit, molarMass: type.molarMass)
        if query.bySource { shown.insert(.separateBySource) }
        return StatisticsLine(type: type, unit: unit, zone: query.intervals.zone, shown: shown, ranges: ranges, me: me)
    }
}
