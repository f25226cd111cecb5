import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The page of one type: a chart, its history, a table of statistics, and the latest samples.
enum TypePage {
    static let routes = [PageRoute(method: "GET", path: "type/*", isSlow: true, answer: page)]

    private static let shownSamples = 20
    /// The type whose page shows the night of a day.
    private static let nights = "sleepAnalysis"

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        // A type outside the catalogue may be known from another person's data only, so the page hides it unless this person has
        // samples.
        guard let type = try? SampleType(anyName: call.variables[0]),
            try type.isKnown || !reader.store.samples.latest(of: [type]).isEmpty
        else { throw PageProblem(404, "type") }
        let texts = call.texts
        let place = [SampleKind.workout: "nav.workouts"][type.kind] ?? (type.id == nights ? "nav.nights" : nil)
        let name = place.map { texts($0) } ?? call.values.name(of: type)
        let hasChart = ChartData.isShown(type)
        let defaultRange = try defaultRange(of: type, reader, call)
        if let day = try KindPage.day(call), type.id != nights {
            return call.see(address(of: type, on: day, range: hasChart ? defaultRange : nil, call))
        }
        let window = try ChartWindow(call, defaultRange: defaultRange) { try ChartData.first(of: type, reader, call) }
        let table: HTML = hasChart ? "<div data-figures>\(try figures(of: type, window, reader, call))</div>" : ""
        let history = try KindPage.history(of: type, reader, call)
        let samples = try samples(of: type, reader, call)
        // If there is a drawing, a press opens the readings. Otherwise they are the page.
        let isDrawn = hasChart || !history.text.isEmpty
        let readings: HTML =
            isDrawn
            ? KindPage.more(texts("type.latest"), samples, isOpen: call.text("before") != nil)
            : "<h2>\(texts("type.latest"))</h2>\(samples)"
        let hasReadings = try !reader.store.samples.latest(of: [BloodPressure.measuredType(of: type)]).isEmpty
        let dayForm: HTML = HTML.choose(type.id != nights && hasReadings, KindPage.dayForm(of: type.id, on: nil, call))
        let body: HTML = """
            <p id="live" class="live" role="status" hidden></p>
            <h1>\(name)</h1>
            \(hasChart ? ranges(window.range, type, call) : "")
            \(try quarantined(of: type, call))
            \(hasChart ? try ChartSummary(type: type, window: window, reader: reader, call: call).html() : "")
            \(hasChart ? try chart(of: type, defaultRange, reader, call) + StillChart.html(of: type, window, reader, call) : "")
            \(history)
            \(try GoalsPage.note(of: type, call))
            \(try actions(of: type, reader, call))
            \(KindPage.more(texts("type.figures"), table))
            \(dayForm)
            \(readings)
            \(try ClientsPage.readers(of: type, reader.store, call))
            """
        return .page(
            PageLayout(call: call, title: name, place: "/page/type/\(type.id)", isReading: true, family: type.family).whole(
                body, scripts: hasChart ? ["page.js", "chart.js"] : ["page.js"]))
    }

    /// The address of the range that contains a day, and of the readings up to its end.
    private static func address(of type: SampleType, on day: Int, range: ChartWindow.Range?, _ call: PageCall) -> String {
        let days = CalendarIntervals(.day, zone: call.zone)
        let range = range.map { call.text("range").flatMap(ChartWindow.Range.init(rawValue:)) ?? $0 }
        let back = range.map { "range=\($0.rawValue)&back=\((days.index(of: call.now) - day) / ($0.days ?? .max))&" } ?? ""
        return "/page/type/\(type.id)?\(back)before=\(days.start(of: day + 1).microseconds)"
    }

    /// The shortest range that contains the latest sample. A sum has several bars.
    private static func defaultRange(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> ChartWindow.Range {
        let measured = BloodPressure.measuredType(of: type)
        let latest = try reader.store.samples.latest(of: [measured]) { $0.start <= call.now }.map(\.sample.start).max()
        let defaultRange = ChartWindow.defaultRange(for: latest ?? call.now, call)
        return defaultRange == .day && (type.aggregation == .cumulative || type.kind != .quantity) ? .week : defaultRange
    }

    /// The number of quarantined readings of the type, with a link to decide about them.
    private static func quarantined(of type: SampleType, _ call: PageCall) throws -> HTML {
        let count = try call.doubts().counts(of: type).quarantined
        guard count > 0 else { return "" }
        return """
            <p class="note">\(call.texts("card.quarantined", "\(count)")) <a href="/page/care">\(call.texts("needs.review"))</a></p>
            """
    }

    /// The actions on the type: add a reading, correct the latest one, and print a report.
    private static func actions(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let measured = BloodPressure.measuredType(of: type)
        // Readings of activity and of the heart come by themselves.
        let isCorrected = measured.kind == .quantity && ![.activity, .heart].contains(type.family)
        let latest = !isCorrected ? nil : try reader.store.samples.latest(of: [measured]) { $0.start <= call.now }.first
        let correction: HTML =
            latest.map { stored in
                """
                <p><a class="button" href="/page/sample/\(stored.sample.identity.description)/correct">\(call.texts("type.correct"))</a></p>
                """
            } ?? ""
        return "\(EntryPage.link(call, type))\(correction)\(ReportPage.link(call, type))"
    }

    private static func chart(
        of type: SampleType, _ first: ChartWindow.Range, _ reader: Reader, _ call: PageCall
    ) throws -> HTML {
        let series = try reader.store.samples.series(matching: SampleQuery(person: try call.person().person))
        let others = Set(series.map(\.type)).filter { $0.kind == .quantity && $0 != type }
        let sorted = others.sorted { call.values.name(of: $0) < call.values.name(of: $1) }
        let sources = Set(series.filter { $0.type == type }.map(\.source))
        return ChartFigure(call: call, type: type, first: first, others: sorted, hasSources: sources.count > 1).html
    }

    private static func ranges(_ shown: ChartWindow.Range?, _ type: SampleType, _ call: PageCall) -> HTML {
        let links: [HTML] = ChartWindow.Range.allCases.map { each in
            let current: HTML = each == shown ? " aria-current=\"true\"" : ""
            let address = "/page/type/\(type.id)?range=\(each.rawValue)"
            return
                "<li><a href=\"\(address)\" data-range=\"\(each.rawValue)\"\(current)>\(call.texts("range." + each.rawValue))</a></li>"
        }
        return "<nav class=\"ranges\" aria-label=\"\(call.texts("range.label"))\"><ul>\(links)</ul></nav>"
    }

    private static func figures(of type: SampleType, _ window: ChartWindow, _ reader: Reader, _ call: PageCall) throws -> HTML {
        if type.id == BloodPressure.type { return try PressureKind.table(window, reader, call) }
        let interval = window.interval
        let (texts, values) = (call.texts, call.values)
        let unit = values.unit(of: type, asked: call.text("unit"))
        let conversion = try values.conversion(of: type, to: unit)
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(interval, zone: call.zone), from: window.start, to: window.end,
            person: try call.person().person, priority: call.core.settings.priority)
        if let condition = try TrustedReadings(of: type, call).condition() { query.predicate = condition }
        let rows = try reader.store.calendarStatistics(query).map { $0.converted(by: conversion) }
        guard !rows.isEmpty else { return "<p>\(texts("type.nothing"))</p>" }
        let isSum = type.aggregation == .cumulative
        let names =
            ["figure.from"] + (isSum ? ["figure.sum"] : ["figure.average", "figure.lowest", "figure.highest", "figure.latest"])
        let lines: [[HTML]] = rows.reversed().map { row in
            let numbers = isSum ? [row.sum] : [row.average, row.minimum, row.maximum, row.mostRecent]
            return [label(row.start, interval, call)]
                + numbers.map { KindPage.cell($0.map { PageValues.text($0, in: unit) } ?? "–") }
                + [KindPage.cell(PageValues.grouped(Int64(row.count)))]
        }
        let symbol = values.symbol(unit)
        return KindPage.table(
            "figures", symbol.isEmpty ? texts("figure.plain") : texts("figure.in", symbol),
            (names + ["figure.samples"]).map { texts($0) }, lines)
    }

    static func label(_ start: Instant, _ interval: CalendarInterval, _ call: PageCall) -> HTML {
        switch interval.unit {
        case .hour, .minute: call.times.element(start)
        default: "<time datetime=\"\(start.description)\">\(call.times.day(start))</time>"
        }
    }

    /// A page of readings, the newest first, and the start before which the next older ones begin, or `nil` at the end.
    ///
    /// Readings of one instant are on one page, so that none is lost between two.
    private static func page(
        _ types: [SampleType], before: Instant?, _ reader: Reader
    ) throws -> (readings: [StoredSample], older: Instant?) {
        func read(from: Instant?, to: Instant?, limit: Int?) throws -> [StoredSample] {
            var query = SampleQuery(types: Set(types), from: from, to: to, descending: true, limit: limit)
            query.derivesCorrelations = types.contains { $0.kind == .correlation }
            let cursor = try reader.store.samples.cursor(matching: query)
            defer { cursor.close() }
            var all: [StoredSample] = []
            while let stored = try cursor.next() { all.append(stored) }
            return all
        }
        var readings = try read(from: nil, to: before, limit: shownSamples + 1)
        guard readings.count > shownSamples, let next = readings.popLast()?.sample.start, let last = readings.last?.sample.start
        else { return (readings, nil) }
        if next == last {
            readings.removeAll { $0.sample.start == last }
            readings += try read(from: last, to: Instant(microseconds: last.microseconds + 1), limit: nil)
        }
        let isLast = try read(from: nil, to: last, limit: 1).isEmpty
        return (readings, isLast ? nil : last)
    }

    /// The end of the shown page of readings, in microseconds since 1970, or the end of the day of the address.
    private static func before(_ call: PageCall) throws -> Instant? {
        if let before = call.text("before").flatMap({ Int64($0) }) { return Instant(microseconds: before) }
        return try KindPage.day(call).map { CalendarIntervals(.day, zone: call.zone).start(of: $0 + 1) }
    }

    private static func samples(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let before = try before(call)
        var (all, older) = try page([type], before: before, reader)
        // Some sources report both pressures without saying that they are of one measurement.
        let isUnpaired = all.isEmpty && type.id == BloodPressure.type
        if isUnpaired { (all, older) = try page(EntryForm.pressures, before: before, reader) }
        // Readings of one minute differ by their seconds.
        let minutes = Set(all.map { $0.sample.start.microseconds / 60_000_000 })
        let hasSeconds = minutes.count < all.count
        let names = RecordNames(reader.store)
        let rows: [HTML] = try all.map { stored in
            let stored = try names.named(stored)
            let shownValue = try call.values.shown(stored.sample, in: reader.store)
            let when = call.times.element(of: stored.sample, hasSeconds: hasSeconds)
            let name = isUnpaired ? call.values.name(of: stored.sample.origin.type) + ": " : ""
            return """
                <tr><th scope="row"><a href="/page/sample/\(stored.uuid.description)">\(when)</a></th><td>\(name)\(shownValue.value) \(shownValue.unit)</td>\
                <td>\(TypeCard.source(of: stored.sample, call.texts))</td></tr>
                """
        }
        let texts = call.texts
        guard !rows.isEmpty else { return "<p>\(texts("type.none"))</p>" }
        return """
            <div class="scroll" role="region" tabindex="0" aria-labelledby="latest">
            <table><caption id="latest">\(texts(before == nil ? "type.newest" : "type.older", "\(rows.count)"))</caption>
            <thead><tr><th scope="col">\(texts("figure.when"))</th><th scope="col">\(texts("figure.value"))</th>\
            <th scope="col">\(texts("figure.source"))</th></tr></thead>
            <tbody>\(rows)</tbody></table></div>
            \(pages(of: type, before, older, call))
            """
    }

    /// The links to older readings, and back to the newest.
    private static func pages(of type: SampleType, _ before: Instant?, _ older: Instant?, _ call: PageCall) -> HTML {
        func link(_ query: String, _ key: String) -> HTML {
            "<p><a class=\"button\" href=\"/page/type/\(type.id)\(query)#latest\">\(call.texts(key))</a></p>"
        }
        let newest: HTML = before == nil ? "" : link("", "type.toNewest")
        return newest + (older.map { link("?before=\($0.microseconds)", "type.toOlder") } ?? "")
    }
}
