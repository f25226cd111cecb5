import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// The properties that all rows of a table share.
struct StatisticsFrame {
    var count = 0
    var maximum = 0.0
    var least = 0.0
    var precision = 0
    var people: Set<String> = []
    /// The cases of a category.
    var values: Set<Int> = []
    var hasFigures = false
}

struct StatisticsReport {
    let question: StatisticsQuestion

    private var type: SampleType { question.query.type }
    private var zone: TimeZoneRules { question.query.intervals.zone }
    private var bySource: Bool { question.query.bySource }
    private var shown: StatisticsOptions { question.line.shown }

    private func person(_ row: Statistics) -> String { row.person == question.me ? "me" : row.person }

    /// The statistics that have their own column.
    private static let figures: [(head: String, option: StatisticsOptions)] = [
        ("sum", .cumulativeSum), ("average", .discreteAverage), ("lowest", .discreteMin), ("highest", .discreteMax),
        ("latest", .mostRecent),
    ]

    private func figure(_ option: StatisticsOptions, of row: Statistics) -> Double? {
        switch option {
        case .cumulativeSum: row.sum
        case .discreteAverage: row.average
        case .discreteMin: row.minimum
        case .discreteMax: row.maximum
        default: row.mostRecent
        }
    }

    /// Updates the shared properties with more rows.
    func add(_ rows: [Statistics], to frame: inout StatisticsFrame) {
        for row in rows {
            frame.precision = max(frame.precision, precision(of: row.start))
            frame.people.insert(row.person)
            frame.count += 1
            if let value = row.value { frame.values.insert(value) }
            guard row.count > 0 else { continue }
            let drawn = row.drawn(type)
            frame.maximum = frame.hasFigures ? max(frame.maximum, drawn) : drawn
            frame.least = frame.hasFigures ? min(frame.least, drawn) : drawn
            frame.hasFigures = true
        }
    }

    func table(_ rows: [Statistics], _ frame: StatisticsFrame, header: Bool, width: Int?, unicode: Bool) -> String {
        type.kind == .category
            ? durations(rows, frame, header: header, width: width, unicode: unicode)
            : amounts(rows, frame, header: header, width: width, unicode: unicode)
    }

    private func heads(_ frame: StatisticsFrame) -> [TextTable.Column] {
        let byPerson = frame.people.count > 1
        return [.init("from", .left, minimumWidth: 16)] + (byPerson ? [.init("person")] : [])
            + (bySource ? [.init("source")] : [])
    }

    private func begin(_ row: Statistics, _ frame: StatisticsFrame) -> [String] {
        var cells = [label(row.start, frame.precision)]
        if frame.people.count > 1 { cells.append(person(row)) }
        if bySource { cells.append(row.source ?? "") }
        return cells
    }

    private func amounts(_ rows: [Statistics], _ frame: StatisticsFrame, header: Bool, width: Int?, unicode: Bool) -> String {
        let figures = Self.figures.filter { shown.contains($0.option) }
        var columns = heads(frame) + figures.map { TextTable.Column($0.head, .decimal) }
        if shown.contains(.percentiles) { columns += Statistics.percentileRanks.map { .init("p\($0)", .decimal) } }
        columns += [.init("unit")]
        columns += question.writtenRanges.map { .init("in \($0)", .right) }
        if shown.contains(.duration) { columns.append(.init("duration", .right)) }
        columns += [.init("samples", .right), .init("")]
        var table = TextTable(columns: columns)
        let least = type.aggregation == .cumulative ? 0 : min(frame.least, frame.maximum) * 0.8
        for row in rows {
            let isEmpty = row.count == 0
            var cells = begin(row, frame)
            cells += figures.map { figure in isEmpty ? "" : self.figure(figure.option, of: row).map(Readable.rounded) ?? "" }
            if shown.contains(.percentiles) {
                cells += Statistics.percentileRanks.indices.map { isEmpty ? "" : Readable.rounded(row.percentiles[$0]) }
            }
            cells.append(isEmpty ? "" : Readable.unit(question.line.unit))
            cells += question.writtenRanges.indices.map { isEmpty ? "" : Self.percent(row.inRange[$0].fraction) }
            if shown.contains(.duration) { cells.append(isEmpty ? "" : Self.duration(row.duration)) }
            let part = frame.maximum > least ? (row.drawn(type) - least) / (frame.maximum - least) : 1
            cells += [Readable.count(row.count), isEmpty ? "" : TextTable.bar(part, width: 20, unicode: unicode)]
            table.append(cells)
        }
        return table.rendered(width: width, unicode: unicode, header: header)
    }

    /// A table with a row for each interval and a column for each case.
    private func durations(_ rows: [Statistics], _ frame: StatisticsFrame, header: Bool, width: Int?, unicode: Bool) -> String {
        let values = frame.values.sorted()
        let names = values.map { type.caseName(of: Double($0)) ?? "\($0)" }
        var table = TextTable(columns: heads(frame) + names.map { .init($0, .right) } + [.init("samples", .right)])
        var index = 0
        while index < rows.count {
            let first = rows[index]
            var (reported, count) = ([Int: Double](), 0)
            while index < rows.count,
                (rows[index].start, rows[index].person, rows[index].source) == (first.start, first.person, first.source)
            {
                if let value = rows[index].value { reported[value] = rows[index].duration }
                count += rows[index].count
                index += 1
            }
            table.append(begin(first, frame) + values.map { reported[$0].map(Self.duration) ?? "" } + [Readable.count(count)])
        }
        return table.rendered(width: width, unicode: unicode, header: header)
    }

    /// A duration: `1 h 02 min`
    private static func duration(_ seconds: Double) -> String {
        let seconds = Int64(seconds.rounded())
        if seconds < 60 { return "\(seconds) s" }
        let minutes = (seconds + 30) / 60
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60 < 10 ? "0" : "")\(minutes % 60) min"
    }

    private static func percent(_ fraction: Double) -> String { Readable.number((fraction * 1000).rounded() / 10) + " %" }

    /// The number of characters of a time to show. An interval that starts within a month or a day, because of an anchor, needs
    /// more.
    private func precision(of start: Instant) -> Int {
        let text = start.wallTime(at: zone.offset(at: start)).description
        let unit = question.interval.unit
        if unit == .minute || unit == .hour || !text.dropFirst(11).hasPrefix("00:00:00") { return 16 }
        if unit == .day || unit == .week || text.dropFirst(8).prefix(2) != "01" { return 10 }
        return unit == .month || text.dropFirst(5).prefix(2) != "01" ? 7 : 4
    }

    /// The start of a row with the given precision.
    private func label(_ start: Instant, _ precision: Int) -> String {
        let offset = zone.offset(at: start)
        let wall = start.wallTime(at: offset)
        let text = String(wall.description.replacing("T", with: " ").prefix(precision))
        // An hour that occurs twice gets its offset.
        return precision == 16 && zone.offsets(at: wall).count > 1 ? "\(text) \(offset)" : text
    }
}

extension Statistics {
    /// The value of a bar.
    func drawn(_ type: SampleType) -> Double { type.aggregation == .cumulative ? sum : average ?? 0 }
}

extension Readable {
    /// A number with at most three decimals.
    static func rounded(_ value: Double) -> String {
        guard value.magnitude < 1e12 else { return value.description }
        return number((value * 1000).rounded() / 1000)
    }
}
