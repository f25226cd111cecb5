import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The summary above a chart, in words: the average with its unit, the period, and the lowest and highest value.
struct ChartSummary {
    let type: SampleType
    let window: ChartWindow
    let reader: Reader
    let call: PageCall

    /// The hours of a day that are a morning.
    static let morning = 4..<12

    func html() throws -> HTML {
        let summary = try type.id == BloodPressure.type ? pressure() : type.kind == .quantity ? quantity() : nil
        guard let summary else { return "<div class=\"sum\" data-figures></div>" }
        return """
            <div class="sum" data-figures><div><p class="num">\(summary.value) <small>\(summary.unit)</small></p><p class="note">\(summary.text)</p>\(summary.drawing)</div></div>
            """
    }

    private struct Content {
        var value: String
        var unit: String
        var text: String
        var drawing: HTML = ""
    }

    /// The period, such as `31 Oct – 29 Nov`.
    private var period: String {
        let last = Instant(microseconds: min(window.end.microseconds - 1, max(call.now.microseconds, window.start.microseconds)))
        let ends = [window.start, last].map { call.times.day($0) }
        return ends[0] == ends[1] ? ends[0] : ends.joined(separator: " – ")
    }

    private func quantity() throws -> Content? {
        let (texts, values, isSum) = (call.texts, call.values, type.aggregation == .cumulative)
        let unit = values.unit(of: type, asked: call.text("unit"))
        let conversion = try values.conversion(of: type, to: unit)
        func rows(_ interval: CalendarInterval) throws -> [Statistics] {
            var query = StatisticsQuery(
                type: type, intervals: CalendarIntervals(interval, zone: call.zone), from: window.start, to: window.end,
                person: try call.person().person, priority: call.core.settings.priority)
            if let condition = try trusted.condition() { query.predicate = condition }
            return try reader.store.calendarStatistics(query)
        }
        let trusted = try TrustedReadings(of: type, call)
        func text(_ value: Double) -> String { PageValues.text(conversion(value), in: unit) }
        let symbol = values.symbol(unit)
        if isSum {
            let days = CalendarIntervals(.day, zone: call.zone)
            let today = days.index(of: call.now)
            let all = try rows(.day)
            // A day that is not over is compared with nothing.
            let whole = all.filter { days.index(of: $0.start) != today }
            guard let low = whole.map(\.sum).min(), let high = whole.map(\.sum).max() else {
                return all.last.map { Content(value: text($0.sum), unit: symbol, text: texts("sum.today", period)) }
            }
            return Content(
                value: text(whole.reduce(0) { $0 + $1.sum } / Double(whole.count)), unit: texts("sum.daily", symbol),
                text: texts("sum.days", period, "\(whole.count)", text(low), text(high)))
        }
        guard let century = CalendarInterval("100y"), let row = try rows(century).last, let average = row.average,
            let low = row.minimum,
            let high = row.maximum
        else { return nil }
        return Content(
            value: text(average), unit: texts("sum.average", symbol),
            text: row.count == 1
                ? texts("sum.one", period)
                : texts("sum.values", period, PageValues.grouped(Int64(row.count)), text(low), text(high)),
            drawing: (type == .bloodGlucose ? try GlucoseDay.bar(window, reader, call) : "")
                + trusted.note(from: window.start, to: window.end, call))
    }

    private func pressure() throws -> Content? {
        let (texts, values, type) = (call.texts, call.values, SampleType.bloodPressureSystolic)
        let unit = values.unit(of: type, asked: call.text("unit"))
        let conversion = try values.conversion(of: type, to: unit)
        let person = try call.person().person
        let all = try BloodPressure.readings(
            of: person, from: window.start, to: window.end, in: reader.store,
            where: TrustedReadings.conditions(of: person, call))
        func average(_ readings: [(time: Instant, pressure: BloodPressure, sample: Sample)]) -> String? {
            guard !readings.isEmpty else { return nil }
            let count = Double(readings.count)
            return [
                readings.reduce(0) { $0 + $1.pressure.systolic } / count,
                readings.reduce(0) { $0 + $1.pressure.diastolic } / count,
            ].map { PageValues.text(conversion($0), places: unit.code == "mm[Hg]" ? 0 : 1) }.joined(separator: "/")
        }
        guard let mean = average(all) else { return nil }
        let mornings = all.filter { isMorning($0.time) }
        let others = all.filter { !isMorning($0.time) }
        var text = texts("sum.count", period, PageValues.grouped(Int64(all.count)))
        if let morning = average(mornings) { text += " " + texts("sum.mornings", morning, "\(mornings.count)") }
        if let evening = average(others) { text += " " + texts("sum.others", evening, "\(others.count)") }
        let note = try TrustedReadings(of: type, call).note(from: window.start, to: window.end, call)
        return Content(value: mean, unit: texts("sum.average", values.symbol(unit)), text: text, drawing: note)
    }

    private func isMorning(_ time: Instant) -> Bool { Self.morning.contains(call.times.hour(of: time)) }
}
