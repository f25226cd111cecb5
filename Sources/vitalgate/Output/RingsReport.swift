import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// Writes the rings of days: one day as a page, several as a table, or lines for programs.
struct RingsReport {
    private let context: CommandContext
    private let persons: [String: String]
    private let line: ActivityLine
    private let sampleLine: SampleLine
    private var first: [ActivityDayWithSummary]?
    private var isTable = false
    private var hasHeader = false
    private(set) var count = 0

    /// Creates a report.
    ///
    /// - Parameter persons: Names by person.
    init(context: CommandContext, zone: TimeZoneRules, me: String, persons: [String: String]) {
        (self.context, self.persons) = (context, persons)
        line = ActivityLine(zone: zone, me: me)
        sampleLine = SampleLine(me: me)
    }

    mutating func write(_ days: [ActivityDayWithSummary]) throws {
        count += days.count
        switch context.format {
        case .ndjson:
            var bytes: [UInt8] = []
            for (day, summary) in days {
                if let summary {
                    sampleLine.append(summary.sample, ingest: summary.ingest, seq: summary.seq, to: &bytes)
                } else {
                    bytes += line.object(day).line
                }
            }
            try context.streams.output.write(bytes)
        case .csv: try writeRows(days)
        case .table:
            // A single day is a page, so the first day waits until a second one arrives.
            let waiting = first ?? []
            if isTable || Set((waiting + days).map(\.day.date)).count > 1 {
                try table(waiting + days)
                first = []
            } else {
                first = waiting + days
            }
        }
    }

    mutating func finish() throws {
        if context.format == .csv, !hasHeader { try writeRows([]) }
        for (index, (day, _)) in (first ?? []).enumerated() {
            try context.streams.output.write((index > 0 ? "\n" : "") + page(of: day))
        }
    }

    private mutating func writeRows(_ days: [ActivityDayWithSummary]) throws {
        var bytes: [UInt8] = []
        if !hasHeader { context.csv.append(row: ActivityLine.columns, to: &bytes) }
        hasHeader = true
        for (day, _) in days { context.csv.append(row: line.cells(day), to: &bytes) }
        try context.streams.output.write(bytes)
    }

    // MARK: One day

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// The colours of the rings and their figures: red, green, cyan.
    private static let colours = [31, 32, 36]

    private func page(of day: ActivityDay) -> String {
        let terminal = context.streams.outputTerminal
        let rings: [(name: String, ring: ActivityDay.Ring, unit: String)] = [
            ("move", day.move, day.move.unit.map(Readable.unit) ?? ""),
            ("exercise", day.exercise, day.exercise.unit.map(Readable.unit) ?? ""),
            (day.usesWheelchair ? "roll" : "stand", day.stand, "h"),
        ]
        let colours = terminal.showsColours ? Self.colours : []
        var text = [Self.heading(day.date) + (persons.isEmpty ? "" : name(day)), ""]
        let maximumWidth = rings.map { Self.figures($0.ring, $0.unit).count }.max() ?? 0
        for (index, (name, ring, unit)) in rings.enumerated() {
            let figures = Self.figures(ring, unit)
            var row = name + String(repeating: " ", count: max(1, 10 - name.count)) + figures
            if let fraction = ring.fraction {
                let percent = "\(Readable.number((fraction * 100).rounded())) %"
                row += String(repeating: " ", count: max(2, 10 + maximumWidth + 7 - row.count - percent.count)) + percent
                row += "  " + TextTable.bar(fraction, width: 20, unicode: terminal.isUnicode)
            }
            while row.last == " " { row.removeLast() }
            text.append(index < colours.count ? "\u{1B}[\(colours[index])m\(row)\u{1B}[0m" : row)
        }
        if let steps = day.steps { text.append((day.usesWheelchair ? "pushes" : "steps ") + "    " + Self.amount(steps)) }
        if day.isDerived {
            let isKnown = [day.move, day.exercise, day.stand].contains { $0.goal != nil }
            text += [
                "",
                isKnown
                    ? "calculated from samples, with the goals of the last summary" : "calculated from samples (no goals known)",
            ]
        }
        return text.joined(separator: "\n") + "\n"
    }

    private func name(_ day: ActivityDay) -> String { "  " + TerminalText.sanitized(persons[day.person] ?? day.person) }

    /// A date with its weekday, such as `Fri 2026-11-20`.
    private static func heading(_ date: String) -> String {
        guard let midnight = try? Timestamp(iso8601: "\(date)T00:00:00").wall else { return date }
        // 1970-01-01 was a Thursday.
        let day = (midnight.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day).quotient + 3)
            .flooredQuotientAndRemainder(dividingBy: 7).remainder
        return "\(weekdays[Int(day)]) \(date)"
    }

    /// The value and the goal: `421.5 of 500 kcal`, `34 min`, or `-`.
    private static func figures(_ ring: ActivityDay.Ring, _ unit: String) -> String {
        guard let value = ring.value else { return ring.goal.map { "- of \(amount($0)) \(unit)" } ?? "-" }
        return amount(value) + (ring.goal.map { " of \(amount($0))" } ?? "") + " " + unit
    }

    private static func amount(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        guard let whole = Int(exactly: rounded), whole.magnitude < 1_000_000_000_000 else { return Readable.number(rounded) }
        return Readable.count(whole)
    }

    // MARK: Several days

    private mutating func table(_ days: [ActivityDayWithSummary]) throws {
        let terminal = context.streams.outputTerminal
        let rings = ["move", "exercise", "stand"]
        var columns: [TextTable.Column] = [.init("day", .left, minimumWidth: 14)]
        if persons.count > 1 { columns.append(.init("person")) }
        for ring in rings { columns += [.init(ring, .right), .init("", .left, minimumWidth: 6)] }
        var table = TextTable(columns: columns + [.init("steps", .right), .init("from")])
        for (day, _) in days {
            var cells = [Self.heading(day.date)]
            if persons.count > 1 { cells.append(persons[day.person] ?? day.person) }
            let units = [day.move.unit.map(Readable.unit) ?? "", day.exercise.unit.map(Readable.unit) ?? "", "h"]
            for (ring, unit) in zip([day.move, day.exercise, day.stand], units) {
                let bar = ring.fraction.map { TextTable.bar($0, width: 6, unicode: terminal.isUnicode) }
                cells += [ring.value == nil && ring.goal == nil ? "" : Self.figures(ring, unit), bar ?? ""]
            }
            cells.append(day.steps.map { Self.amount($0) + (day.usesWheelchair ? " pushes" : "") } ?? "")
            cells.append(day.isDerived ? "samples" : "summary")
            table.append(cells)
        }
        let header = !isTable || terminal.width != nil
        try context.streams.output.write(
            table.rendered(width: terminal.width, unicode: terminal.isUnicode, header: header))
        isTable = true
    }
}
