import CommandLineKit
import Gateway
import HealthModel
import SampleStore

/// `stats`: a type's statistics by stretches of the calendar.
enum StatsCommand: Command {
    static let specification = CommandSpecification(
        name: "stats", summary: "Sum up a type by hours, days, weeks, months.",
        discussion: """
            Cumulative types (steps, energy, distances) have a sum, in which a sample that spans two stretches counts in each by its share \
            of time; all others have average, lowest, highest and latest value. Days, weeks, months and years follow the calendar of the \
            time zone, also over changes of clocks. Where several sources tell of the same time (a phone and a watch that count the same \
            steps), or two devices' samples agree, one counts: the first of those that the configuration's priority names, else what is \
            worn, a phone last.
            """,
        arguments: [
            Argument(name: "TYPE", help: "A quantity type such as heartRate.", completion: .command("vitalgate types --ids"))
        ],
        options: [
            Option(names: ["--every"], value: "LENGTH", help: "The stretch: 15m, 1h, 1d, 1w, 1mo, 1y.", required: true),
            Option(names: ["--anchor"], value: "T", help: "Where a stretch begins; else midnight, weeks on Monday."),
        ] + SharedOptions.range + [
            SharedOptions.timeZone, SharedOptions.subject,
            Option(names: ["--by-source"], help: "Keep the sources apart."),
            Option(names: ["--every-source"], help: "Count every source, also where several tell of the same time."),
            SharedOptions.unit, Format.option,
        ],
        examples: [
            Example("vitalgate stats stepCount --every 1d --from -7d", "Steps of each day of the last week."),
            Example("vitalgate stats heartRate --every 1h --from today --unit /min", "Heart rate by the hour."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let type = try context.type(invocation.argument("TYPE") ?? "")
        let zone = try context.zone()
        let text = invocation.string("--every") ?? ""
        guard let interval = CalendarInterval(text) else {
            throw invocation.invalid("--every", value: text, expected: "a count and m, h, d, w, mo or y, such as 1d")
        }
        let unit = try context.unit(for: type) ?? type.canonicalUnit
        let conversion = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
        let store = try context.openForReading()
        var query = StatisticsQuery(
            type: type,
            intervals: CalendarIntervals(interval, zone: zone, anchor: try context.instant(option: "--anchor", zone: zone)),
            from: try context.instant(option: "--from", zone: zone), to: try context.instant(option: "--to", zone: zone),
            subject: try invocation.string("--subject").map { try StoreAccess.subject($0, in: store) },
            bySource: invocation.flag("--by-source"), priority: try context.configuration().priority)
        query.countsEvery = invocation.flag("--every-source")
        let rows = try store.statistics(query).map { $0.converted(by: conversion) }
        let report = StatisticsReport(
            type: type, unit: unit, zone: zone, interval: interval, bySource: query.bySource, me: store.subject,
            bySubject: Set(rows.map(\.subject)).count > 1)
        switch context.format {
        case .ndjson: for row in rows { try context.streams.output.write(report.object(row).line) }
        case .csv: try context.streams.output.write(report.csv(rows))
        case .table:
            let terminal = context.streams.outputTerminal
            if rows.isEmpty { context.note("no samples") }
            try context.streams.output.write(report.table(rows, width: terminal.width, unicode: terminal.isUnicode))
        }
        return .success
    }
}

extension Statistics {
    fileprivate func converted(by conversion: UnitConversion) -> Statistics {
        var converted = self
        converted.sum = conversion(sum)
        converted.average = average.map { conversion($0) }
        converted.minimum = minimum.map { conversion($0) }
        converted.maximum = maximum.map { conversion($0) }
        converted.mostRecent = mostRecent.map { conversion($0) }
        return converted
    }
}

/// Writes statistics.
private struct StatisticsReport {
    let type: QuantityType
    let unit: HealthModel.Unit
    let zone: TimeZoneRules
    let interval: CalendarInterval
    let bySource: Bool
    let me: String
    /// Whether a table has to tell whose a row is.
    let bySubject: Bool

    private func person(_ row: Statistics) -> String { row.subject == me ? "me" : row.subject }

    private var isCumulative: Bool { type.aggregation == .cumulative }

    func object(_ row: Statistics) -> JSONObject {
        var object = JSONObject()
        object.set("type", type.id)
        object.set("start", row.start.description)
        object.set("end", row.end.description)
        object.set("subject", person(row))
        if bySource { object.set("source", row.source) }
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

    func csv(_ rows: [Statistics]) -> [UInt8] {
        let writer = CSVWriter()
        var bytes: [UInt8] = []
        let values = isCumulative ? ["sum"] : ["average", "min", "max", "mostRecent"]
        var header = ["type", "start", "end", "subject"]
        if bySource { header.append("source") }
        header += ["unit", "count"]
        header += values
        header.append("zone")
        writer.append(row: header, to: &bytes)
        for row in rows {
            let numbers = isCumulative ? [row.sum] : [row.average, row.minimum, row.maximum, row.mostRecent].map { $0 ?? 0 }
            var cells: [String] = [type.id, row.start.description, row.end.description, person(row)]
            if bySource { cells.append(row.source ?? "") }
            cells += [unit.code, "\(row.count)"]
            cells += numbers.map(\.description)
            cells.append(zone.identifier)
            writer.append(row: cells, to: &bytes)
        }
        return bytes
    }

    func table(_ rows: [Statistics], width: Int?, unicode: Bool) -> String {
        let values: [TextTable.Column] =
            isCumulative
            ? [.init("sum", .decimal)]
            : [.init("average", .decimal), .init("lowest", .decimal), .init("highest", .decimal), .init("latest", .decimal)]
        var table = TextTable(
            columns: [.init("from", .left, minimumWidth: 16)] + (bySubject ? [.init("subject")] : [])
                + (bySource ? [.init("source")] : []) + values
                + [.init("unit"), .init("samples", .right), .init("")])
        let most = rows.map { isCumulative ? $0.sum : $0.average ?? 0 }.max() ?? 0
        let least = isCumulative ? 0 : min(rows.compactMap(\.average).min() ?? 0, most) * 0.8
        let precision = rows.map { self.precision(of: $0.start) }.max() ?? 0
        for row in rows {
            let shown = isCumulative ? row.sum : row.average ?? 0
            let numbers = isCumulative ? [row.sum] : [row.average, row.minimum, row.maximum, row.mostRecent].map { $0 ?? 0 }
            table.append(
                [label(row.start, precision)] + (bySubject ? [person(row)] : []) + (bySource ? [row.source ?? ""] : [])
                    + numbers.map { Readable.rounded($0) } + [
                        Readable.unit(unit), Readable.count(row.count),
                        TextTable.bar(most > least ? (shown - least) / (most - least) : 1, width: 20, unicode: unicode),
                    ])
        }
        return table.rendered(width: width, unicode: unicode)
    }

    /// How much of a time has to be seen: a stretch that an anchor lets begin in the middle of a month, or of a day, says so.
    private func precision(of start: Instant) -> Int {
        let text = start.wallTime(at: zone.offset(at: start)).description
        if interval.unit == .minute || interval.unit == .hour || !text.dropFirst(11).hasPrefix("00:00:00") { return 16 }
        if interval.unit == .day || interval.unit == .week || text.dropFirst(8).prefix(2) != "01" { return 10 }
        return interval.unit == .month || text.dropFirst(5).prefix(2) != "01" ? 7 : 4
    }

    private func label(_ start: Instant, _ precision: Int) -> String {
        let offset = zone.offset(at: start)
        let wall = start.wallTime(at: offset)
        let text = String(wall.description.replacing("T", with: " ").prefix(precision))
        // An hour that occurs twice.
        return precision == 16 && zone.offsets(at: wall).count > 1 ? "\(text) \(offset)" : text
    }
}

extension Readable {
    /// Three digits behind the point at most: averages have no end.
    static func rounded(_ value: Double) -> String {
        guard value.magnitude < 1e12 else { return value.description }
        return number((value * 1000).rounded() / 1000)
    }
}
