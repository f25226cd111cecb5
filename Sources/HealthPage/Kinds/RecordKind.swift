import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// A clinical record: its dates and codes, and for a laboratory value the reference range and the trend.
enum RecordKind {
    private static let mostCodes = 50

    static func html(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let record = try? sample.body?.decoded(as: ClinicalRecord.self) else { return "" }
        let texts = call.texts
        let dates = ClinicalRecord.dateNames.compactMap { name in
            record.dates[name].map { (texts("record." + name), Optional(call.times.written($0))) }
        }
        let facts =
            dates + [
                (texts("record.updated"), record.lastUpdated.map { call.times.written($0) }),
                (texts("record.publisher"), record.sourceURL),
                (texts("record.kind"), texts.name(of: record.resourceType, in: .resource)),
            ]
        let codes: [[HTML]] = record.codes.prefix(mostCodes).map { coding in
            [KindPage.cell(coding.display ?? ""), KindPage.cell(coding.code ?? ""), KindPage.cell(name(of: coding.system))]
        }
        return """
            \(try lab(sample, reader, call))
            \(KindPage.facts(facts))
            \(KindPage.table("codes", texts("record.codes"), ["record.name", "record.code", "record.system"].map { texts($0) }, codes))
            """
    }

    /// The name of a code system that a person may know, or its URI.
    private static func name(of system: String?) -> String { system.map { CodeSystems.name(of: $0) ?? $0 } ?? "" }

    private static func lab(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let result = LabResult(sample, zone: call.zone) else { return "" }
        let texts = call.texts
        let value = result.value.map { (result.comparator ?? "") + CardFacts.joined(PageValues.text($0), result.unit) }
        let range = result.range.flatMap(text)
        let verdict = result.isOutside.map { texts($0 ? "lab.outside" : "lab.inside") }
        let mark: HTML = verdict.map { "<p class=\"\(result.isOutside == true ? "problem" : "done")\">\($0)</p>" } ?? ""
        let facts = KindPage.facts([
            (texts("lab.value"), value ?? result.words), (texts("lab.range"), range.map { CardFacts.joined($0, result.unit) }),
            (texts("lab.interpretation"), result.interpretation), (texts("lab.note"), result.notes.joined(separator: " ")),
        ])
        return "\(facts)\(mark)\(try trend(result, sample, reader, call))"
    }

    /// The reference range as written, or its bounds.
    private static func text(_ range: LabResult.ReferenceRange) -> String? {
        switch (range.low.map { PageValues.text($0) }, range.high.map { PageValues.text($0) }) {
        case (let low?, let high?): "\(low)–\(high)"
        case (let low?, nil): "≥ \(low)"
        case (nil, let high?): "≤ \(high)"
        case (nil, nil): range.text
        }
    }

    private static func trend(_ result: LabResult, _ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let (texts, all) = (call.texts, try result.others(like: sample, in: reader.store, zone: call.zone))
        guard all.count > 1, let first = all.first, let last = all.last else { return "" }
        let points = all.compactMap { each in each.value.map { (x: Double(each.time.microseconds), y: $0) } }
        var plot = LinePlot(
            label: texts("lab.trend"), lines: [.init(points: points, hasDots: true)],
            ticks: [first, last].map { (Double($0.time.microseconds), call.times.day($0.time)) })
        plot.units.y = result.unit
        if let range = result.range, range.low != nil || range.high != nil { plot.band = (range.low, range.high) }
        let rows: [[HTML]] = all.reversed().map { each in
            [
                call.times.element(each.time),
                KindPage.cell((each.comparator ?? "") + (each.value.map { PageValues.text($0) } ?? "")),
                KindPage.cell(each.range.flatMap(text) ?? ""), KindPage.cell(each.isOutside == true ? texts("lab.outside") : ""),
            ]
        }
        let heads = ["figure.when", "lab.value", "lab.range", "lab.mark"].map { texts($0) }
        let legend: HTML = plot.band == nil ? "" : "<p class=\"legend\"><span class=\"key band\">\(texts("lab.range"))</span></p>"
        return """
            <h2>\(texts("lab.trend"))</h2>\(legend)\(plot.html)
            \(KindPage.table("trend", result.unit.isEmpty ? texts("lab.results") : texts("lab.resultsIn", result.unit), heads, rows))
            """
    }
}
