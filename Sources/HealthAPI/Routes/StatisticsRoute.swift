import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The route for statistics by calendar interval, as in `vitalgate stats`.
enum StatisticsRoute {
    static let statistics = Route(
        method: "GET", path: "/v1/statistics", name: "statistics",
        summary: "Get statistics of a type by hour, day, week, or month.",
        discussion: """
            Cumulative types have a sum. Other quantities have an average, minimum, maximum, and latest value. Categories have the \
            duration of each case. Days follow the calendar of the time zone, and nights are from noon to noon. If several sources \
            report on the same time, only one of them counts.
            """,
        parameters: [
            Parameter(name: "type", form: .name(.amounts), help: "Quantity or category type.", isRequired: true),
            Parameter(
                name: "every", form: .interval, help: "Length of the intervals, such as 15m, 1h, 1d, 1w, 1mo, or 1y.",
                isRequired: true),
            .from, .to,
            Parameter(name: "anchor", form: .times, help: "Start of an interval (default: midnight, for weeks on Monday)."),
            .person, .source, .device, .condition, .zone, .unit,
        ] + StatisticsParameter.allCases.map { Parameter($0) } + [
            .limit(maximum, "Maximum number of intervals (default: \(maximum)).")
        ],
        isSlow: true, answers: [.json, .ndjson, .csv], key: "statistics", problems: [422], answer: statistics)

    /// The maximum number of intervals in an answer. A day has 1,440 minutes.
    private static let maximum = 20_000

    @Sendable private static func statistics(_ call: Call) throws -> HTTPResponse {
        let reader = try call.reader()
        let type = try call.type(call.text("type") ?? "", from: "type")
        guard type.kind == .quantity || type.kind == .category else {
            throw Problem(400, "'type' must be a quantity or category type.")
        }
        let (query, line) = try question(call, type, reader.store)
        let own = type.kind == .quantity ? type.canonicalUnit : line.unit
        let conversion = try own.conversion(to: line.unit, molarMass: type.molarMass)
        if try reader.store.shares(of: query) > 100 * maximum {
            throw Problem(422, "There would be too many intervals. Use longer intervals or a shorter time range.")
        }
        func made() throws -> [UInt8] {
            var writer = StatisticsWriter(form: call.form, line: line, ranges: choices(call).writtenRanges)
            var rest = call.number("limit") ?? maximum
            try reader.store.statistics(query) { rows in
                for row in rows {
                    rest -= 1
                    guard rest >= 0 else { return false }
                    writer.write(row.converted(by: conversion))
                    if row.count > 0 { reader.countRead(type.id, of: row.person) }
                }
                return rest > 0
            }
            return writer.finished()
        }
        // A condition may contain `today`, so its answer cannot be cached.
        guard call.text("where") == nil else { return HTTPResponse(type: call.form.type, try made()) }
        let times = [query.from, query.to, query.intervals.start(of: 0)].map { $0?.description ?? "" }
        let name = (call.parameters + [call.form.name] + times).joined(separator: "&")
        return HTTPResponse(type: call.form.type, try reader.answer(to: name, made))
    }

    private static func question(
        _ call: Call, _ type: SampleType, _ store: SampleStore
    ) throws -> (StatisticsQuery, StatisticsLine) {
        guard let interval = call.text("every").flatMap({ CalendarInterval($0) }) else {
            throw Problem(400, "'every' must be a number and a unit (m, h, d, w, mo, or y), such as 1d.")
        }
        let zone = try call.zone()
        let range = try call.range(zone)
        let anchor = try call.instant("anchor", zone) ?? StatisticsQuery.defaultAnchor(of: type, interval, zone)
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(interval, zone: zone, anchor: anchor), from: range.from, to: range.to,
            person: try call.person(store), priority: call.core.settings.priority)
        query.predicate =
            SampleQuery(
                source: call.text("source"), device: call.text("device"), where: try call.condition(for: [type], zone, store)
            ).predicate
        let unit = try type.kind == .quantity ? call.unit(for: [type]) ?? type.canonicalUnit : Unit(ucum: "s")
        guard type.kind == .quantity || call.text("unit") == nil else {
            throw Problem(422, "'unit' does not apply to a category. Its durations are in seconds.")
        }
        let line: StatisticsLine
        do {
            line = try choices(call).apply(to: &query, unit: unit, me: store.owner)
        } catch let error as StatisticsError {
            throw Problem(422, "type: \(error)")
        }
        if query.includesGaps {
            guard let from = range.from, let to = range.to,
                query.intervals.index(of: to) - query.intervals.index(of: from) <= maximum
            else { throw Problem(422, "'empty' requires 'from' and 'to' with at most \(maximum) intervals between them.") }
        }
        return (query, line)
    }

    private static func choices(_ call: Call) -> StatisticsChoices {
        StatisticsChoices(
            texts: { $0.form.isFlag ? (call.flag($0.rawValue) ? [""] : []) : call.texts($0.rawValue) },
            invalid: { parameter, _, expected in Problem(422, "'\(parameter.rawValue)' must be \(expected).") })
    }
}

/// Writes statistics in the requested format.
private struct StatisticsWriter {
    let form: AnswerForm
    let line: StatisticsLine
    private let csv = CSVWriter(lineEnding: .carriageReturnLineFeed, safe: true)
    private var bytes: [UInt8] = []
    private var hasCases: Bool { line.type.kind == .category }

    init(form: AnswerForm, line: StatisticsLine, ranges: [String]) {
        (self.form, self.line) = (form, line)
        if form == .csv {
            csv.append(row: StatisticsLine.columns(shown: line.shown, ranges: ranges, hasCases: hasCases), to: &bytes)
        }
    }

    mutating func write(_ row: Statistics) {
        switch form {
        case .csv: csv.append(row: line.cells(row, among: line.shown, ranges: line.ranges.count, hasCases: hasCases), to: &bytes)
        case .json: bytes += (bytes.isEmpty ? [] : Array(",\n".utf8)) + line.object(row).closed
        default: bytes += line.object(row).line
        }
    }

    func finished() -> [UInt8] { form == .json ? Array("{\"statistics\":[".utf8) + bytes + Array("]}\n".utf8) : bytes }
}

extension Parameter {
    fileprivate init(_ parameter: StatisticsParameter) {
        var form = Form.flag
        if case .text(_, let examples) = parameter.form { form = .text(maximum: 1000, like: examples) }
        self.init(name: parameter.rawValue, form: form, help: parameter.help, isRepeating: parameter.isRepeating)
    }
}
