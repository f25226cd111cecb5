import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page of one type: a chart, a table of statistics, and the latest samples.
enum TypePage {
    static let routes = [PageRoute(method: "GET", path: "type/*", isSlow: true, answer: page)]

    /// The ranges to choose from.
    enum Range: String, CaseIterable {
        case day, week, month, year, years

        /// The interval of the table's rows.
        var interval: CalendarInterval? {
            switch self {
            case .day: CalendarInterval(count: 1, unit: .hour)
            case .week, .month: .day
            case .year: CalendarInterval(count: 1, unit: .month)
            case .years: CalendarInterval(count: 1, unit: .year)
            }
        }

        /// The start of the range, which includes today.
        func start(before now: Instant, in zone: TimeZoneRules) -> Instant {
            let days = CalendarIntervals(.day, zone: zone)
            let today = days.index(of: now)
            switch self {
            case .day: return days.start(of: today)
            case .week: return days.start(of: today - 6)
            case .month: return days.start(of: today - 30)
            case .year: return days.start(of: today - 364)
            case .years: return days.start(of: today - 3650)
            }
        }
    }

    private static let shownSamples = 20

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        // A type outside the catalogue may be known from another person's data only, so the page hides it unless this person has
        // samples.
        guard let type = SampleType(call.variables[0]),
            try type.isKnown || !reader.store.latestSamples(of: [type]).isEmpty
        else { throw Problem(404, "Type not found.") }
        let (texts, name) = (call.texts, call.values.name(of: type))
        let usual = try usual(of: type, reader, call)
        let range = call.text("range").flatMap(Range.init(rawValue:)) ?? (usual == .day ? .week : usual)
        let isSummed = type.kind == .quantity
        let figures = isSummed ? try figures(of: type, range, reader, call) : ""
        let body: HTML = """
            <h1>\(name)</h1>
            <p id="live" class="live" role="status" hidden></p>
            \(isSummed ? try chart(of: type, usual, reader, call) : "")
            \(type.id == "sleepAnalysis" ? try SleepNight(reader, call)?.html(call) ?? "" : "")
            \(isSummed ? ranges(range, type, call) : "")
            \(figures)
            \(try GoalsPage.note(of: type, call))
            \(EntryPage.link(call, type))\(ReportPage.link(call, type))
            <h2>\(texts("type.latest"))</h2>
            \(try samples(of: type, reader, call))
            """
        return .page(PageLayout(call: call, title: name).whole(body, scripts: isSummed ? ["page.js", "chart.js"] : ["page.js"]))
    }

    /// The shortest range that contains the latest sample.
    private static func usual(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> Range {
        let latest = try reader.store.latestSamples(of: [type]).map(\.sample.start).max()
        return Range.allCases.first { $0.start(before: call.now, in: call.zone) <= latest ?? call.now } ?? .years
    }

    private static func chart(of type: SampleType, _ first: Range, _ reader: Reader, _ call: PageCall) throws -> HTML {
        var others: Set<SampleType> = []
        for stored in try reader.store.latestSamples() where stored.sample.origin.kind == .quantity {
            others.insert(stored.sample.origin.type)
        }
        let sorted = others.subtracting([type]).sorted { call.values.name(of: $0) < call.values.name(of: $1) }
        return ChartFigure(call: call, type: type, first: first, others: sorted).html
    }

    private static func ranges(_ shown: Range, _ type: SampleType, _ call: PageCall) -> HTML {
        let links: [HTML] = Range.allCases.map { each in
            let current: HTML = each == shown ? " aria-current=\"true\"" : ""
            return
                "<li><a href=\"/page/type/\(type.id)?range=\(each.rawValue)\"\(current)>\(call.texts("range." + each.rawValue))</a></li>"
        }
        return "<nav class=\"ranges\" aria-label=\"\(call.texts("range.label"))\"><ul>\(links)</ul></nav>"
    }

    private static func figures(of type: SampleType, _ range: Range, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let interval = range.interval else { return "" }
        let (texts, values) = (call.texts, call.values)
        let unit = values.unit(of: type)
        let conversion = try values.conversion(of: type, to: unit)
        let query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(interval, zone: call.zone),
            from: range.start(before: call.now, in: call.zone),
            subject: try call.person().subject, priority: call.core.settings.priority)
        let rows = try reader.store.statistics(query).map { $0.converted(by: conversion) }
        guard !rows.isEmpty else { return "<p>\(texts("type.nothing"))</p>" }
        let isSum = type.aggregation == .cumulative
        let heads: [HTML] = (isSum ? ["sum"] : ["average", "lowest", "highest", "latest"]).map {
            "<th scope=\"col\">\(texts("figure." + $0))</th>"
        }
        let lines: [HTML] = rows.reversed().map { row in
            let numbers = isSum ? [row.sum] : [row.average, row.minimum, row.maximum, row.mostRecent]
            let cells: [HTML] = numbers.map { "<td>\($0.map(PageValues.text) ?? "–")</td>" }
            return
                "<tr><th scope=\"row\">\(label(row.start, interval, call))</th>\(cells)<td>\(PageValues.grouped(Int64(row.count)))</td></tr>"
        }
        let symbol = values.symbol(unit)
        return """
            <div class="scroll" role="region" tabindex="0" aria-labelledby="figures">
            <table><caption id="figures">\(symbol.isEmpty ? texts("figure.plain") : texts("figure.in", symbol))</caption>
            <thead><tr><th scope="col">\(texts("figure.from"))</th>\(heads)<th scope="col">\(texts("figure.samples"))</th></tr></thead>
            <tbody>\(lines)</tbody></table></div>
            """
    }

    private static func label(_ start: Instant, _ interval: CalendarInterval, _ call: PageCall) -> HTML {
        switch interval.unit {
        case .hour, .minute: call.times.element(start)
        default: "<time datetime=\"\(start.description)\">\(call.times.day(start))</time>"
        }
    }

    private static func samples(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> HTML {
        var query = SampleQuery(types: [type])
        query.order = [SampleOrder("-start")].compactMap { $0 }
        query.limit = shownSamples
        query.derivesCorrelations = type.kind == .correlation
        var rows: [HTML] = []
        let cursor = try reader.store.samples(matching: query)
        defer { cursor.close() }
        while let stored = try cursor.next() {
            let said = try call.values.shown(stored.sample, in: reader.store)
            rows.append(
                """
                <tr><th scope="row"><a href="/page/sample/\(stored.uuid.description)">\(call.times.element(stored.sample.start))</a></th><td>\(said.value) \(said.unit)</td>\
                <td>\(TypeCard.source(of: stored.sample))</td></tr>
                """)
        }
        let texts = call.texts
        guard !rows.isEmpty else { return "<p>\(texts("type.nothing"))</p>" }
        return """
            <div class="scroll" role="region" tabindex="0" aria-labelledby="latest">
            <table><caption id="latest">\(texts("type.newest", "\(rows.count)"))</caption>
            <thead><tr><th scope="col">\(texts("figure.when"))</th><th scope="col">\(texts("figure.value"))</th>\
            <th scope="col">\(texts("figure.source"))</th></tr></thead>
            <tbody>\(rows)</tbody></table></div>
            """
    }
}
