import CommandLineKit
import Formats
import HealthAnswers
import HealthModel
import SampleStore

/// A `stats` query for one type, with the units of its output.
struct StatisticsQuestion {
    let query: StatisticsQuery
    let line: StatisticsLine
    let conversion: UnitConversion
    /// The ranges as the user wrote them, for column headers.
    let writtenRanges: [String]
    let me: String
    /// The results of a LOINC code, or `nil` for a type.
    let lab: LabStatistics?
    /// The name of the type or of the code for headings and notes.
    let name: String

    var interval: CalendarInterval { query.intervals.interval }

    init(_ type: SampleType, _ interval: CalendarInterval, _ store: SampleStore, _ context: CommandContext) throws {
        let invocation = context.invocation
        let zone = try context.zone()
        let range = try context.range(zone: zone)
        let anchor =
            try context.instant(option: "--anchor", zone: zone) ?? StatisticsQuery.defaultAnchor(of: type, interval, zone)
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(interval, zone: zone, anchor: anchor), from: range.from, to: range.to,
            person: try context.person(in: store),
            priority: try context.configuration().priority)
        query.predicate =
            SampleQuery(
                source: invocation.string("--source"), device: invocation.string("--device"),
                where: try context.condition(for: [type], zone: zone, in: store)
            ).predicate
        let unit = try Self.unit(of: type, context)
        let choices = Self.choices(invocation)
        do {
            line = try choices.apply(to: &query, unit: unit, me: store.owner)
        } catch let error as StatisticsError {
            throw invocation.invalid("TYPE", value: type.id, expected: "another type, or other figures: \(error)")
        }
        self.query = query
        // Durations are in seconds, so their conversion is the identity.
        let own = type.kind == .quantity ? type.canonicalUnit : unit
        conversion = try own.conversion(to: unit, molarMass: type.molarMass)
        writtenRanges = choices.writtenRanges
        me = store.owner
        (lab, name) = (nil, type.id)
    }

    /// The statistics of the results of a LOINC code, or `nil` if no result has it.
    init?(loinc code: String, _ interval: CalendarInterval, _ store: SampleStore, _ context: CommandContext) throws {
        let invocation = context.invocation
        let zone = try context.zone()
        let range = try context.range(zone: zone)
        for option in ["--own-zone", "--every-source", "--follow"] where invocation.flag(option) {
            throw invocation.invalid(option, value: code, expected: "a type of samples, not a LOINC code")
        }
        let records = try SampleQuery(
            types: LabStatistics.types,
            person: try context.person(in: store),
            source: invocation.string("--source"), device: invocation.string("--device"),
            where: context.condition(for: LabStatistics.types, zone: zone, in: store))
        let lab = try LabStatistics(loinc: code, in: store, matching: records, from: range.from, to: range.to, zone: zone)
        guard let type = SampleType("labResultRecord"), let name = lab.name else { return nil }
        let unit = try context.unit(for: nil) ?? lab.unit ?? .one
        let choices = Self.choices(invocation)
        var shown = try choices.figures([.discreteAverage, .discreteMin, .discreteMax, .mostRecent])
        guard shown.subtracting(StatisticsOptions.discrete.union([.mostRecent, .percentiles, .inRange])).isEmpty else {
            throw invocation.invalid(
                "--show", value: invocation.string("--show") ?? "", expected: "average, min, max or mostRecent for a LOINC code")
        }
        var query = StatisticsQuery(
            type: type,
            intervals: CalendarIntervals(interval, zone: zone, anchor: try context.instant(option: "--anchor", zone: zone)),
            from: range.from, to: range.to, bySource: choices.has(.bySource))
        query.includesGaps = choices.has(.empty)
        query.ranges = try choices.ranges(in: unit, writtenIn: unit, molarMass: lab.substance?.molarMass)
        if query.bySource { shown.insert(.separateBySource) }
        query.options = shown
        self.query = query
        self.lab = lab
        self.name = "\(code) \(name)"
        line = StatisticsLine(
            type: type, unit: unit, zone: zone, shown: shown, ranges: query.ranges, me: store.owner,
            loinc: (code: code, name: name))
        conversion = .identity
        writtenRanges = choices.writtenRanges
        me = store.owner
        note(lab, unit, context)
    }

    /// Reports the results that enter no figure.
    private func note(_ lab: LabStatistics, _ unit: HealthModel.Unit, _ context: CommandContext) {
        let without = lab.without
        if !without.isEmpty {
            let texts = without.prefix(5).map { $0.result.text ?? "no value" }.joined(separator: ", ")
            context.note(
                "\(lab.code): \(Readable.count(without.count, "result")) without a number not counted: \(texts)"
                    + (without.count > 5 ? ", and \(without.count - 5) more" : ""))
        }
        let others = lab.otherUnits(than: unit)
        if others > 0 {
            context.note(
                "\(lab.code): \(Readable.count(others, "result")) not counted, because the unit cannot be converted to \(Readable.unit(unit))"
            )
        }
    }

    /// The requested unit, or the preferred one in tables, or the type's own. For categories, the second.
    private static func unit(of type: SampleType, _ context: CommandContext) throws -> HealthModel.Unit {
        guard type.kind == .quantity else {
            if let code = context.invocation.string("--unit") {
                throw context.invocation.invalid(
                    "--unit", value: code, expected: "no unit, since \(type.id) has durations in seconds")
            }
            return try HealthModel.Unit(ucum: "s")
        }
        if let unit = try context.unit(for: type) { return unit }
        guard context.format == .table else { return type.canonicalUnit }
        return try context.configuration().unit(of: type) ?? type.canonicalUnit
    }

    private static func choices(_ invocation: Invocation) -> StatisticsChoices {
        StatisticsChoices(
            texts: { $0.form.isFlag ? (invocation.flag($0.option) ? [""] : []) : invocation.strings($0.option) },
            invalid: { invocation.invalid($0.option, value: $1, expected: $2) })
    }
}

/// The results of a query in batches, converted to the displayed unit.
struct StatisticsBatches {
    let store: SampleStore
    let question: StatisticsQuestion
    let limit: Int

    func each(_ body: ([Statistics]) throws -> Void) throws {
        var rest = limit
        guard rest > 0 else { return }
        if let lab = question.lab {
            let query = question.query
            return try body(
                Array(
                    lab.rows(
                        by: query.intervals, unit: question.line.unit, bySource: query.bySource, ranges: query.ranges,
                        includesGaps: query.includesGaps
                    ).prefix(limit)))
        }
        try store.statistics(question.query) { rows in
            var given: [Statistics] = []
            for row in rows {
                // An interval of a category has a row for each case.
                let isNew = given.last.map { ($0.start, $0.person, $0.source) != (row.start, row.person, row.source) } ?? true
                if isNew || row.value == nil { rest -= 1 }
                guard rest >= 0 else { break }
                given.append(row.converted(by: question.conversion))
            }
            try body(given)
            return rest > 0
        }
    }
}
