import CommandLineKit
import Formats
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
            Argument(
                name: "TYPE", help: "A quantity type such as heartRate, or several joined by commas.",
                completion: .command("vitalgate types --ids"))
        ],
        options: [
            Option(names: ["--every"], value: "LENGTH", help: "The stretch: 15m, 1h, 1d, 1w, 1mo, 1y.", required: true),
            Option(names: ["--anchor"], value: "T", help: "Where a stretch begins; else midnight, weeks on Monday."),
        ] + SharedOptions.range + [
            SharedOptions.timeZone, SharedOptions.subject,
            Option(names: ["--by-source"], help: "Keep the sources apart."),
            Option(names: ["--every-source"], help: "Count every source, also where several tell of the same time."),
            SharedOptions.unit, Option(names: ["--limit"], value: "N", help: "At most so many stretches of each type."),
            Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate stats stepCount --every 1d --from -7d", "Steps of each day of the last week."),
            Example("vitalgate stats heartRate --every 1h --from today --unit /min", "Heart rate by the hour."),
        ])

    /// The most stretches that samples are shared over; a year has 525,600 minutes.
    private static let mostShares = 2_000_000

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        var types: [SampleType] = []
        for type in try context.types(invocation.argument("TYPE") ?? "") where !types.contains(type) {
            guard type.kind == .quantity else {
                throw invocation.invalid(
                    "TYPE", value: type.id, expected: "a quantity type: the samples of a \(type.kind.name) are no amounts")
            }
            types.append(type)
        }
        let text = invocation.string("--every") ?? ""
        guard let interval = CalendarInterval(text) else {
            throw invocation.invalid("--every", value: text, expected: "a count and m, h, d, w, mo or y, such as 1d")
        }
        let units = try types.map { try context.unit(for: $0) ?? $0.canonicalUnit }
        let store = try context.openForReading()
        let queries = try types.map { try query($0, interval, store, context) }
        for query in queries {
            let shares = try store.shares(of: query)
            guard shares <= mostShares else {
                throw invocation.invalid(
                    "--every", value: text,
                    expected: """
                        longer stretches, or less time with --from and --to: samples of \(query.type.id) that last for long would be shared \
                        over \(Readable.count(shares)) stretches, and the most is \(Readable.count(mostShares))
                        """)
            }
        }
        let limit = try invocation.integer("--limit", in: 0...Int.max) ?? .max
        // Which columns a file of several types has.
        let hasSums = types.contains { $0.aggregation == .cumulative }
        let hasAverages = types.contains { $0.aggregation != .cumulative }
        var isFirst = true
        for (query, unit) in zip(queries, units) {
            let line = StatisticsLine(
                type: query.type, unit: unit, zone: query.intervals.zone, isBySource: query.bySource, me: store.subject)
            let report = StatisticsReport(query: query, unit: unit, interval: interval, me: store.subject)
            let batches = StatisticsBatches(
                store: store, query: query, limit: limit,
                conversion: try query.type.canonicalUnit.conversion(to: unit, molarMass: query.type.molarMass))
            switch context.format {
            case .ndjson:
                try batches.each { rows in for row in rows { try context.streams.output.write(line.object(row).line) } }
            case .csv:
                var bytes: [UInt8] = []
                if isFirst {
                    let columns = StatisticsLine.columns(isBySource: query.bySource, sums: hasSums, averages: hasAverages)
                    context.csv.append(row: columns, to: &bytes)
                }
                try batches.each { rows in
                    for row in rows { context.csv.append(row: line.cells(row, sums: hasSums, averages: hasAverages), to: &bytes) }
                    try context.streams.output.write(bytes)
                    bytes.removeAll(keepingCapacity: true)
                }
                try context.streams.output.write(bytes)
            case .table:
                try table(report, batches, title: types.count > 1 ? (isFirst ? "" : "\n") + "\(query.type.id)\n" : "", context)
            }
            isFirst = false
        }
        return .success
    }

    private static func query(
        _ type: SampleType, _ interval: CalendarInterval, _ store: SampleStore, _ context: CommandContext
    ) throws -> StatisticsQuery {
        let invocation = context.invocation
        let zone = try context.zone()
        let range = try context.range(zone: zone)
        var query = StatisticsQuery(
            type: type,
            intervals: CalendarIntervals(interval, zone: zone, anchor: try context.instant(option: "--anchor", zone: zone)),
            from: range.from, to: range.to,
            subject: try invocation.string("--subject").map { try StoreAccess.subject($0, in: store) },
            bySource: invocation.flag("--by-source"), priority: try context.configuration().priority)
        query.countsEvery = invocation.flag("--every-source")
        return query
    }

    /// A table that does not fit one batch is gathered twice: once for what all its rows share, and once to write it.
    private static func table(
        _ report: StatisticsReport, _ batches: StatisticsBatches, title: String, _ context: CommandContext
    ) throws {
        let terminal = context.streams.outputTerminal
        var frame = StatisticsFrame()
        var only: [Statistics]? = []
        try batches.each { rows in
            only = frame.count == 0 ? rows : nil
            report.add(rows, to: &frame)
        }
        if frame.count == 0, batches.limit > 0 {
            context.note(title.isEmpty ? "no samples" : "no samples of \(report.query.type.id)")
        }
        var isFirst = true
        func write(_ rows: [Statistics]) throws {
            let text = report.table(rows, frame, header: isFirst, width: terminal.width, unicode: terminal.isUnicode)
            try context.streams.output.write((isFirst ? title : "") + text)
            isFirst = false
        }
        if let only { try write(only) } else { try batches.each(write) }
    }
}

/// The answers to a question, converted, some at a time.
private struct StatisticsBatches {
    let store: SampleStore
    let query: StatisticsQuery
    let limit: Int
    let conversion: UnitConversion

    func each(_ body: ([Statistics]) throws -> Void) throws {
        var rest = limit
        guard rest > 0 else { return }
        try store.statistics(query) { rows in
            let given = rows.prefix(rest)
            rest -= given.count
            try body(given.map { $0.converted(by: conversion) })
            return rest > 0
        }
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

/// What all rows of a table have in common.
private struct StatisticsFrame {
    var count = 0
    var most = 0.0
    var least = 0.0
    var precision = 0
    var subjects: Set<String> = []
}

/// Writes statistics for people.
private struct StatisticsReport {
    let query: StatisticsQuery
    let unit: HealthModel.Unit
    let interval: CalendarInterval
    let me: String

    private var type: SampleType { query.type }
    private var zone: TimeZoneRules { query.intervals.zone }
    private var bySource: Bool { query.bySource }

    private func person(_ row: Statistics) -> String { row.subject == me ? "me" : row.subject }

    private var isCumulative: Bool { type.aggregation == .cumulative }

    /// Takes more rows into what a table's rows have in common.
    func add(_ rows: [Statistics], to frame: inout StatisticsFrame) {
        for row in rows {
            let shown = isCumulative ? row.sum : row.average ?? 0
            frame.most = frame.count == 0 ? shown : max(frame.most, shown)
            frame.least = frame.count == 0 ? shown : min(frame.least, shown)
            frame.precision = max(frame.precision, precision(of: row.start))
            frame.subjects.insert(row.subject)
            frame.count += 1
        }
    }

    func table(_ rows: [Statistics], _ frame: StatisticsFrame, header: Bool, width: Int?, unicode: Bool) -> String {
        let values: [TextTable.Column] =
            isCumulative
            ? [.init("sum", .decimal)]
            : [.init("average", .decimal), .init("lowest", .decimal), .init("highest", .decimal), .init("latest", .decimal)]
        let bySubject = frame.subjects.count > 1
        var table = TextTable(
            columns: [.init("from", .left, minimumWidth: 16)] + (bySubject ? [.init("subject")] : [])
                + (bySource ? [.init("source")] : []) + values
                + [.init("unit"), .init("samples", .right), .init("")])
        let least = isCumulative ? 0 : min(frame.least, frame.most) * 0.8
        for row in rows {
            let shown = isCumulative ? row.sum : row.average ?? 0
            let numbers = isCumulative ? [row.sum] : [row.average, row.minimum, row.maximum, row.mostRecent].map { $0 ?? 0 }
            let part = frame.most > least ? (shown - least) / (frame.most - least) : 1
            var cells = [label(row.start, frame.precision)]
            if bySubject { cells.append(person(row)) }
            if bySource { cells.append(row.source ?? "") }
            cells += numbers.map { Readable.rounded($0) }
            cells += [
                Readable.unit(unit), Readable.count(row.count), TextTable.bar(part, width: 20, unicode: unicode),
            ]
            table.append(cells)
        }
        return table.rendered(width: width, unicode: unicode, header: header)
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
