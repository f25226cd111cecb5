import Formats
import HTTPServerKit
import HealthModel
import SampleStore

/// The route for statistics by calendar interval, as in `vitalgate stats`.
enum StatisticsRoute {
    static let statistics = Route(
        method: "GET", path: "/v1/statistics", name: "statistics", summary: "A type summed up by hours, days, weeks, months.",
        discussion: """
            Cumulative types have a sum, all other quantities average, lowest, highest and latest value, categories the time that each case lasted. \
            Days follow the calendar of the zone; nights go from noon to noon. Where several sources tell of the same time, one counts.
            """,
        parameters: [
            Parameter(name: "type", form: .name(.amounts), help: "A quantity type or a category.", isRequired: true),
            Parameter(name: "every", form: .stretch, help: "The stretch: 15m, 1h, 1d, 1w, 1mo, 1y.", isRequired: true),
            .from, .to, Parameter(name: "anchor", form: .times, help: "Where a stretch begins; else midnight, weeks on Monday."),
            .subject, .source, .device, .condition, .zone, .unit,
            Parameter(name: "bySource", form: .flag, help: "Keeps the sources apart."),
            Parameter(name: "everySource", form: .flag, help: "Counts every source, also where several tell of the same time."),
            Parameter(name: "percentiles", form: .flag, help: "Also the 5th, 25th, 50th, 75th and 95th percentile."),
            Parameter(name: "empty", form: .flag, help: "Also stretches without samples."),
            .limit(most, "At most so many stretches; \(most) without it."),
        ],
        isSlow: true, answers: [.json, .ndjson, .csv], key: "statistics", problems: [422], answer: statistics)

    /// The maximum number of intervals in an answer. A day has 1,440 minutes.
    private static let most = 20_000

    @Sendable private static func statistics(_ call: Call) throws -> HTTPResponse {
        let reader = try call.reader()
        let type = try call.type(call.text("type") ?? "", from: "type")
        guard type.kind == .quantity || type.kind == .category else {
            throw Problem(400, "type: expected a quantity type or a category: other samples are no amounts")
        }
        let (query, line) = try question(call, type, reader.store)
        let own = type.kind == .quantity ? type.canonicalUnit : line.unit
        let conversion = try own.conversion(to: line.unit, molarMass: type.molarMass)
        if try reader.store.shares(of: query) > 100 * most {
            throw Problem(422, "every: these would be too many stretches; take longer ones, or less time")
        }
        func made() throws -> [UInt8] {
            var writer = StatisticsWriter(form: call.form, line: line)
            var rest = call.number("limit") ?? most
            try reader.store.statistics(query) { rows in
                for row in rows {
                    rest -= 1
                    guard rest >= 0 else { return false }
                    writer.write(row.converted(by: conversion))
                    if row.count > 0 { reader.tells(type.id, of: row.subject) }
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
            throw Problem(400, "every: expected a count and m, h, d, w, mo or y, such as 1d")
        }
        let zone = try call.zone()
        let range = try call.range(zone)
        let anchor = try call.instant("anchor", zone) ?? StatisticsQuery.usualAnchor(of: type, interval, zone)
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(interval, zone: zone, anchor: anchor), from: range.from, to: range.to,
            subject: try call.subject(store), bySource: call.flag("bySource"), priority: call.core.settings.priority)
        query.predicate =
            SampleQuery(
                source: call.text("source"), device: call.text("device"), where: try call.condition(for: [type], zone, store)
            ).predicate
        query.countsEvery = call.flag("everySource")
        query.includesGaps = call.flag("empty")
        if query.includesGaps {
            guard let from = range.from, let to = range.to,
                query.intervals.index(of: to) - query.intervals.index(of: from) <= most
            else { throw Problem(422, "empty: takes from and to, with at most \(most) stretches between them") }
        }
        var shown = StatisticsLine.usual(for: type)
        if call.flag("percentiles") { shown.insert(.percentiles) }
        do throws(StatisticsError) {
            try shown.check(for: type)
        } catch {
            throw Problem(422, "type: \(error)")
        }
        query.options = shown
        if query.bySource { shown.insert(.separateBySource) }
        let unit = try type.kind == .quantity ? call.unit(for: [type]) ?? type.canonicalUnit : Unit(ucum: "s")
        guard type.kind == .quantity || call.text("unit") == nil else {
            throw Problem(422, "unit: a category has durations, in seconds")
        }
        return (query, StatisticsLine(type: type, unit: unit, zone: zone, shown: shown, me: store.subject))
    }
}

/// Writes statistics in the requested format.
private struct StatisticsWriter {
    let form: AnswerForm
    let line: StatisticsLine
    private let csv = CSVWriter(lineEnding: .carriageReturnLineFeed, safe: true)
    private var bytes: [UInt8] = []
    private var hasCases: Bool { line.type.kind == .category }

    init(form: AnswerForm, line: StatisticsLine) {
        (self.form, self.line) = (form, line)
        if form == .csv {
            csv.append(row: StatisticsLine.columns(shown: line.shown, ranges: [], hasCases: hasCases), to: &bytes)
        }
    }

    mutating func write(_ row: Statistics) {
        switch form {
        case .csv: csv.append(row: line.cells(row, among: line.shown, ranges: 0, hasCases: hasCases), to: &bytes)
        case .json: bytes += (bytes.isEmpty ? [] : Array(",\n".utf8)) + line.object(row).closed
        default: bytes += line.object(row).line
        }
    }

    func finished() -> [UInt8] { form == .json ? Array("{\"statistics\":[".utf8) + bytes + Array("]}\n".utf8) : bytes }
}
