import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The part of a report for one type: a summary, a chart, and a table of the readings or of the days.
struct ReportSection {
    let type: SampleType
    let request: ReportRequest
    let call: PageCall
    let reader: Reader

    /// The number of readings up to which the table lists each one.
    private static let maximumReadings = 120

    private var parts: [SampleType] { ReportRequest.parts(of: type) }
    private var isSum: Bool { type.kind == .quantity && type.aggregation == .cumulative }

    private var unit: Unit { call.values.unit(of: parts[0]) }
    private func text(_ value: Double) -> String { PageValues.text(value, in: unit) }

    func html() throws -> HTML {
        let (values, texts) = (call.values, call.texts)
        let conversion = try values.conversion(of: parts[0], to: unit)
        let days = try parts.map { part in
            try reader.store.calendarStatistics(query(part, .day)).map { $0.converted(by: conversion) }
        }
        let symbol = values.symbol(unit)
        let title: HTML = "<h2>\(values.name(of: type))\(symbol.isEmpty ? "" : " (\(symbol))")</h2>"
        guard days.contains(where: { !$0.isEmpty }) else { return "<section>\(title)<p>\(texts("type.nothing"))</p></section>" }
        return """
            <section class="\(type.family.rawValue)">\(title)
            \(summary(days))\(try TrustedReadings(of: parts[0], call).note(from: request.from, to: request.to, call))
            \(try partsOfDay(conversion))
            \(try plot())
            \(try table(days, conversion))</section>
            """
    }

    private func query(_ part: SampleType, _ interval: CalendarInterval) throws -> StatisticsQuery {
        var query = StatisticsQuery(
            type: part, intervals: CalendarIntervals(interval, zone: call.zone), from: request.from, to: request.to,
            person: call.session?.person, priority: call.core.settings.priority)
        if let condition = try TrustedReadings(of: part, call).condition() { query.predicate = condition }
        return query
    }

    private func summary(_ days: [[Statistics]]) -> HTML {
        let texts = call.texts
        let rows: [HTML] = zip(parts, days).map { part, days in
            let count = days.reduce(0) { $0 + $1.count }
            var cells: [String]
            if isSum {
                let sum = days.reduce(0) { $0 + $1.sum }
                cells = [text(sum), text(sum / Double(max(days.count, 1)))]
            } else {
                // Each reading counts the same, as a doctor would average a list of readings.
                let average = days.reduce(0) { $0 + ($1.average ?? 0) * Double($1.count) } / Double(max(count, 1))
                cells = [average, days.compactMap(\.minimum).min() ?? .nan, days.compactMap(\.maximum).max() ?? .nan].map(
                    text)
            }
            cells += [PageValues.grouped(Int64(count)), PageValues.grouped(Int64(days.count))]
            let data: [HTML] = cells.map { "<td>\($0)</td>" }
            return "<tr><th scope=\"row\">\(call.values.name(of: part))</th>\(data)</tr>"
        }
        let heads =
            (isSum ? ["figure.sum", "report.perDay"] : ["figure.average", "figure.lowest", "figure.highest"])
            + ["report.readings", "report.days"]
        return ClientsPage.table(
            "summary-\(type.id)", caption("report.summary"), [texts("clients.type")] + heads.map { texts($0) }, rows)
    }

    /// The parts of the day that are compared, as hours: the morning and the evening.
    private static let partsOfDay = [("report.morning", 4..<12), ("report.evening", 16..<24)]

    /// The average blood pressures of the mornings and of the evenings. Empty for other types.
    private func partsOfDay(_ conversion: UnitConversion) throws -> HTML {
        guard type.id == BloodPressure.type else { return "" }
        let readings = try pressures()
        let texts = call.texts
        let rows: [HTML] = Self.partsOfDay.compactMap { key, hours in
            let own = readings.filter { hours.contains(call.times.hour(of: $0.time)) }.map(\.pressure)
            guard !own.isEmpty else { return nil }
            let averages = [\BloodPressure.systolic, \.diastolic].map { part in
                PageValues.text(conversion(own.reduce(0) { $0 + $1[keyPath: part] } / Double(own.count)), places: 0)
            }
            return """
                <tr><th scope="row">\(texts(key, "\(hours.lowerBound)", "\(hours.upperBound)"))</th>\
                <td>\(averages.joined(separator: "/"))</td><td>\(PageValues.grouped(Int64(own.count)))</td></tr>
                """
        }
        guard !rows.isEmpty else { return "" }
        let heads = ["report.time", "figure.average", "report.readings"].map { texts($0) }
        return ClientsPage.table("parts-\(type.id)", caption("report.partsOfDay"), heads, rows)
    }

    /// The pulse that a cuff measured with a blood pressure. `nil` without one.
    private func pulse(with pressure: Sample) throws -> String? {
        let cursor = try reader.store.samples.cursor(
            matching: SampleQuery(
                types: [.heartRate], from: pressure.start, to: Instant(microseconds: pressure.start.microseconds + 1),
                person: pressure.origin.person))
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            guard sample.origin.source.id == pressure.origin.source.id, sample.origin.device?.key == pressure.origin.device?.key
            else { continue }
            return call.values.amount(sample.value, of: .heartRate).value
        }
        return nil
    }

    /// The caption of a table, which is different for each type.
    private func caption(_ key: String) -> String { "\(call.values.name(of: type)): \(call.texts(key))" }

    private func plot() throws -> HTML {
        guard let frame = ChartFrame(from: request.from.microseconds / 1000, to: request.to.microseconds / 1000, width: 640)
        else {
            return ""
        }
        let label = call.texts(
            "report.chart", call.values.name(of: type), call.times.written(request.first), call.times.written(request.last))
        return try ReportPlot(of: type, in: frame, label: label, reader, call).html
    }

    private func table(_ days: [[Statistics]], _ conversion: UnitConversion) throws -> HTML {
        let texts = call.texts
        let count = days.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        guard isSum || count > Self.maximumReadings else { return try readings(conversion) }
        if type.id == BloodPressure.type { return try pressureDays(conversion) }
        let rows: [HTML] = (days.first ?? []).map { day in
            let numbers = isSum ? [day.sum] : [day.average, day.minimum, day.maximum].map { $0 ?? .nan }
            let cells: [HTML] = numbers.map { "<td>\(text($0))</td>" }
            return "<tr><th scope=\"row\">\(call.times.day(day.start))</th>\(cells)</tr>"
        }
        let heads = ["clients.day"] + (isSum ? ["figure.sum"] : ["figure.average", "figure.lowest", "figure.highest"])
        return ClientsPage.table("days-\(type.id)", caption("report.daily"), heads.map { texts($0) }, rows)
    }

    /// A row for each day with the blood pressures of its morning and of the time after it, each with its pulse.
    private func pressureDays(_ conversion: UnitConversion) throws -> HTML {
        let days = CalendarIntervals(.day, zone: call.zone)
        var rows: [(day: Int, morning: [String], later: [String])] = []
        for (time, pressure, sample) in try pressures() {
            let day = days.index(of: time)
            if rows.last?.day != day { rows.append((day, [], [])) }
            let text = try pulse(with: sample).map { "\(pressure.text(conversion)) (\($0))" } ?? pressure.text(conversion)
            if ChartSummary.morning.contains(call.times.hour(of: time)) {
                rows[rows.count - 1].morning.append(text)
            } else {
                rows[rows.count - 1].later.append(text)
            }
        }
        let cells: [[HTML]] = rows.map { row in
            [KindPage.cell(call.times.day(days.start(of: row.day)))]
                + [row.morning, row.later].map { KindPage.cell($0.isEmpty ? "–" : $0.joined(separator: ", ")) }
        }
        let heads = ["clients.day", "script.morning", "script.evening"].map { call.texts($0) }
        return KindPage.table("days-\(type.id)", caption("report.pressures"), heads, cells)
    }

    /// The blood pressures of the report.
    private func pressures() throws -> [(time: Instant, pressure: BloodPressure, sample: Sample)] {
        let person = try call.person().person
        return try BloodPressure.readings(
            of: person, from: request.from, to: request.to, in: reader.store, where: TrustedReadings.conditions(of: person, call))
    }

    /// Each reading on a row. The pressures of one measurement are a row together.
    private func readings(_ conversion: UnitConversion) throws -> HTML {
        var rows: [[HTML]] = []
        func add(_ sample: Sample, _ values: [String]) {
            rows.append(
                [call.times.dayAndTime(sample.start)].map(KindPage.cell) + values.map(KindPage.cell)
                    + [KindPage.cell(TypeCard.source(of: sample, call.texts))])
        }
        let isPressure = type.id == BloodPressure.type
        if isPressure {
            for (_, pressure, sample) in try pressures() {
                add(sample, [pressure.text(conversion), try pulse(with: sample) ?? "–"])
            }
        } else {
            let cursor = try reader.store.samples.cursor(
                matching: SampleQuery(
                    types: [type], from: request.from, to: request.to, where: try TrustedReadings(of: type, call).condition()))
            defer { cursor.close() }
            while let sample = try cursor.next()?.sample { add(sample, [text(conversion(sample.value))]) }
        }
        let heads =
            [call.texts("figure.when"), call.texts("figure.value")]
            + (isPressure
                ? ["\(call.values.name(of: .heartRate)) (\(call.values.symbol(call.values.unit(of: .heartRate))))"] : [])
            + [call.texts("figure.source")]
        return KindPage.table("readings-\(type.id)", caption("report.each"), heads, rows)
    }
}

extension PageTimes {
    /// The hour of the day, from 0 to 23.
    func hour(of instant: Instant) -> Int { Int(clock(instant).prefix(2)) ?? 0 }

    /// A time with its day, also of today: `20 Nov, 06:31`.
    func dayAndTime(_ instant: Instant) -> String { texts("time.at", day(instant), clock(instant)) }
}
