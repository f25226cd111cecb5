import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// A clinical record: its dates and codes, and for a laboratory value the reference range and the trend.
enum RecordKind {
    private static let maximumCodes = 50

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
        let codes: [[HTML]] = record.codes.prefix(maximumCodes).map { coding in
            [
                KindPage.cell(coding.display ?? coding.code ?? "–"), KindPage.cell(coding.code ?? ""),
                KindPage.cell(name(of: coding.system)),
            ]
        }
        let references: [[HTML]] = try RecordNames(reader.store, of: .all).references(of: sample).map { each in
            [KindPage.cell(PageValues.words(each.reference.element)), KindPage.cell(each.name ?? each.reference.reference ?? "")]
        }
        let others = KindPage.table(
            "references", texts("record.references"), ["record.kind", "record.name"].map { texts($0) }, references)
        return """
            \(try lab(sample, reader, call))
            \(KindPage.facts(facts))
            \(others)
            \(KindPage.more(texts("record.codes"), KindPage.table("codes", texts("record.codes"), ["record.name", "record.code", "record.system"].map { texts($0) }, codes)))
            """
    }

    /// The name of a code system that a person may know, or its URI.
    private static func name(of system: String?) -> String { system.map { CodeSystems.name(of: $0) ?? $0 } ?? "" }

    private static func lab(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let lab = LabResult(sample, zone: call.zone) else { return "" }
        let (texts, result) = (call.texts, lab.result)
        let verdict = result.isOutside.map { texts($0 ? "lab.outside" : "lab.inside") }
        let mark: HTML = verdict.map { "<p class=\"\(result.isOutside == true ? "problem" : "done")\">\($0)</p>" } ?? ""
        let ranges = (result.ranges ?? []).map { PageValues.local($0.text) }
        let trend = try trend(lab, sample, reader, call)
        // The drawing has both in words.
        let isDrawn = !trend.text.isEmpty
        let facts = KindPage.facts([
            (texts("lab.value"), isDrawn ? nil : value(of: result) ?? result.absent),
            (texts("lab.range"), isDrawn ? nil : ranges.joined(separator: "; ")),
            (texts("lab.interpretation"), result.interpretation?.joined(separator: ", ")),
            (texts("lab.note"), result.notes?.joined(separator: " ")),
        ])
        let parts: [[HTML]] = (result.components ?? []).map { part in
            [
                KindPage.cell(part.name), KindPage.cell(value(of: part.result) ?? part.result.absent ?? ""),
                KindPage.cell((part.result.ranges ?? []).map { PageValues.local($0.text) }.joined(separator: "; ")),
                KindPage.cell((part.result.interpretation ?? []).joined(separator: ", ")),
            ]
        }
        let heads = ["record.name", "lab.value", "lab.range", "lab.interpretation"].map { texts($0) }
        return """
            \(mark)\(trend)\(facts)\(KindPage.table("parts", texts("lab.results"), heads, parts))
            """
    }

    /// The result with its digits and its unit, or its words.
    private static func value(of result: ClinicalResult) -> String? {
        result.quantity.map { PageValues.local($0.text) } ?? result.words
    }

    private static func trend(_ lab: LabResult, _ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let quantity = lab.result.quantity else { return "" }
        let (texts, all) = (call.texts, try lab.others(like: sample, in: reader.store, zone: call.zone))
        guard all.count > 1, let first = all.first, let last = all.last else { return "" }
        // A limit such as <5 is in the table, but it is not a point.
        let points = all.compactMap { each in
            each.result.amount.map { (x: Double(each.time.microseconds), y: $0.numeral.doubleValue) }
        }
        let unit = quantity.unit ?? ""
        var plot = LinePlot(
            label: texts("lab.trend"), lines: [.init(points: points, hasDots: true)],
            ticks: [first, last].map { (Double($0.time.microseconds), call.times.day($0.time)) })
        plot.units.y = unit
        if let range = lab.result.range, range.low != nil || range.high != nil, lab.result.isOutside != nil {
            plot.band = (range.low?.amount?.numeral.doubleValue, range.high?.amount?.numeral.doubleValue)
        }
        let rows: [[HTML]] = all.reversed().map { each in
            let digits = each.result.quantity.map { ($0.comparator ?? "") + $0.value } ?? ""
            return [
                call.times.element(each.time), KindPage.cell(PageValues.local(digits)),
                KindPage.cell((each.result.ranges ?? []).map { PageValues.local($0.text) }.joined(separator: "; ")),
                KindPage.cell(each.result.isOutside == true ? texts("lab.outside") : ""),
            ]
        }
        let heads = ["figure.when", "lab.value", "lab.range", "lab.mark"].map { texts($0) }
        let numbers = all.compactMap { each in
            each.result.amount.flatMap { amount in each.result.quantity.map { (amount.numeral.doubleValue, $0.value) } }
        }
        var drawing: HTML = ""
        if points.count > 1, let low = numbers.min(by: { $0.0 < $1.0 }), let high = numbers.max(by: { $0.0 < $1.0 }) {
            let ends = [low.1, high.1].map(PageValues.local)
            let days = [first, last].map { call.times.day($0.time) }
            let period = days[0] == days[1] ? days[0] : days.joined(separator: " – ")
            let range = (lab.result.ranges ?? []).map { PageValues.local($0.text) }.joined(separator: "; ")
            let note =
                texts("lab.results.period", period, "\(numbers.count)", ends[0], ends[1])
                + (range.isEmpty ? "" : " " + texts("lab.results.range", range))
            drawing = plot.card(
                .other, note: note,
                value: (
                    PageValues.local((quantity.comparator ?? "") + quantity.value),
                    texts("lab.on", unit, call.times.day(lab.time))
                ))
        }
        return """
            <h2>\(texts("lab.trend"))</h2>\(drawing)
            \(KindPage.more(texts("lab.all"), KindPage.table("trend", unit.isEmpty ? texts("lab.results") : texts("lab.resultsIn", unit), heads, rows)))
            """
    }
}
