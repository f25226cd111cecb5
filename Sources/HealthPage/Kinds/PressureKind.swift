import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The table of blood pressures: the averages of both pressures, and the readings with the highest and the lowest systolic pressure. Also the category of a pressure, if the
/// owner chose a guideline.
enum PressureKind {
    /// The category of a pressure with the name of the guideline: `High normal (ESC/ESH 2018)`. `nil` without a guideline.
    static func category(of pressure: BloodPressure, _ call: PageCall) -> String? {
        guard let guideline = call.site.settings.pressureGuideline else { return nil }
        let category = guideline.category(systolic: pressure.systolic, diastolic: pressure.diastolic)
        return call.texts("pressure.category", call.texts("pressure." + category.rawValue), guideline.name)
    }

    /// The category of a sample as a paragraph. Empty for other types, and without a guideline.
    static func category(of sample: Sample, in store: SampleStore, _ call: PageCall) throws -> HTML {
        guard let pressure = try BloodPressure(sample, in: store), let text = category(of: pressure, call) else { return "" }
        return "<p>\(text)</p>"
    }

    static func table(_ window: ChartWindow, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let (texts, values) = (call.texts, call.values)
        let unit = values.unit(of: .bloodPressureSystolic, asked: call.text("unit"))
        let conversion = try values.conversion(of: .bloodPressureSystolic, to: unit)
        let conditions = try TrustedReadings.conditions(of: call.person().person, call)
        func rows(_ type: SampleType) throws -> [Statistics] {
            var query = StatisticsQuery(
                type: type, intervals: CalendarIntervals(window.interval, zone: call.zone), from: window.start, to: window.end,
                person: try call.person().person, priority: call.core.settings.priority)
            if let condition = conditions[type] { query.predicate = condition }
            return try reader.store.statistics(query).map { $0.converted(by: conversion) }
        }
        let lower = Dictionary(try rows(.bloodPressureDiastolic).map { ($0.start, $0) }) { first, _ in first }
        let readings = try BloodPressure.readings(
            of: call.person().person, from: window.start, to: window.end, in: reader.store, where: conditions)
        let lines: [[HTML]] = try rows(.bloodPressureSystolic).reversed().map { upper in
            let average = [upper.average, lower[upper.start]?.average].map { $0.map { PageValues.text($0, places: 0) } ?? "–" }
            // Each is one reading, so that its two values were measured together.
            let own = readings.filter { upper.start <= $0.time && $0.time < upper.end }.map(\.pressure).sorted {
                ($0.systolic, $0.diastolic) < ($1.systolic, $1.diastolic)
            }
            return [
                TypePage.label(upper.start, window.interval, call), KindPage.cell(average.joined(separator: "/")),
                KindPage.cell(own.first?.text(conversion) ?? "–"), KindPage.cell(own.last?.text(conversion) ?? "–"),
                KindPage.cell(PageValues.grouped(Int64(upper.count))),
            ]
        }
        guard !lines.isEmpty else { return "<p>\(texts("type.nothing"))</p>" }
        let heads = ["figure.from", "figure.average", "figure.lowest", "figure.highest", "pressure.count"].map { texts($0) }
        return KindPage.table("figures", texts("pressure.table", values.symbol(unit)), heads, lines)
    }
}
