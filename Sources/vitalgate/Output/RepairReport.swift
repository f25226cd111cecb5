import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// Writes planned and completed repairs.
struct RepairReport {
    private let context: CommandContext
    private let output: OutputBuffer
    private let line: SampleLine
    private let times: ShownTimes
    private let me: String

    init(context: CommandContext, me: String) throws {
        self.context = context
        self.me = me
        output = context.streams.output
        line = SampleLine(me: me)
        times = try context.times()
    }

    // MARK: A plan

    func write(_ plan: RepairPlan, of request: RepairRequest, repairID: Int64?) throws {
        switch context.format {
        case .ndjson: try output.write(object(plan, request, repairID).line)
        case .csv: try TableOutput(context: context).write(header: ["what", "count"], rows: Self.counts(plan))
        case .table: try output.write(TerminalText.sanitized(text(plan, request), keepingLines: true))
        }
    }

    private static func counts(_ plan: RepairPlan) -> [[String]] {
        let reasons = RepairReason.allCases.compactMap { reason in plan.left[reason].map { [reason.rawValue, "\($0)"] } }
        return [["matched", "\(plan.matched)"], ["repaired", "\(plan.repaired)"], ["merged", "\(plan.merged)"]] + reasons
    }

    private func object(_ plan: RepairPlan, _ request: RepairRequest, _ repairID: Int64?) -> JSONObject {
        var object = JSONObject([
            "migration": repairID.map { Int($0) }, "repair": request.repair.text,
            "conditions": RawJSON(request.conditions.json(me: me)), "matched": plan.matched, "repaired": plan.repaired,
            "merged": plan.merged,
        ])
        for group in RepairReason.Group.allCases { object.set(group.rawValue, plan.left(group)) }
        var reasons = JSONObject()
        for reason in RepairReason.allCases { if let count = plan.left[reason] { reasons.set(reason.rawValue, count) } }
        object.set("reasons", reasons)
        object.set("histograms", Self.histograms(plan).map(Self.object))
        object.set(
            "examples",
            plan.examples.map { JSONObject(["before": line.field($0.before), "after": line.field($0.after)]) })
        return object
    }

    private typealias Comparison = (type: SampleType, before: Histogram, after: Histogram)

    private static func histograms(_ plan: RepairPlan) -> [Comparison] {
        Set(plan.before.keys).union(plan.after.keys).sorted { $0.id < $1.id }.map {
            ($0, plan.before[$0] ?? Histogram(), plan.after[$0] ?? Histogram())
        }
    }

    private static func object(_ comparison: Comparison) -> JSONObject {
        [
            "type": comparison.type.id, "unit": comparison.type.canonicalUnit.code,
            "bins": Histogram.commonBins(comparison.before, comparison.after, limit: 16).map { interval in
                JSONObject(["from": interval.from, "to": interval.to, "before": interval.one, "after": interval.other])
            },
        ]
    }

    private func text(_ plan: RepairPlan, _ request: RepairRequest) -> String {
        let conditions = request.conditions.parts(me: me).map { "\($0.name) \($0.text)" }.joined(separator: ", ")
        var text = "repair: \(Repair.words(of: request.repair.text)); \(conditions)\n\n"
        var table = TextTable(columns: [.init("samples", .right), .init("", .left)])
        func count(_ count: Int, _ words: String) { table.append([Readable.count(count), words]) }
        count(plan.matched, "matching the conditions")
        count(plan.repaired, "repaired")
        if plan.merged > 0 { count(plan.merged, "merged with a correct copy") }
        for group in RepairReason.Group.allCases where plan.left(group) > 0 {
            let name = [RepairReason.Group.alreadyRight: "already correct", .ambiguous: "ambiguous", .impossible: "impossible"][
                group]
            for reason in RepairReason.allCases where reason.group == group {
                if let number = plan.left[reason] { count(number, "unchanged (\(name ?? "")): they \(reason.words)") }
            }
        }
        text += table.rendered(width: nil, unicode: unicode)
        if case .person = request.repair { return text + examples(plan) }
        if case .shift = request.repair { return text + examples(plan) }
        if case .zone = request.repair { return text + examples(plan) }
        for comparison in Self.histograms(plan) {
            text += "\n\(comparison.type.id) in \(comparison.type.canonicalUnit.code)\n" + bars(comparison)
        }
        return text + examples(plan)
    }

    private var unicode: Bool { context.streams.outputTerminal.isUnicode }

    /// The histogram's bins, each with a bar before the repair and one after it.
    private func bars(_ comparison: Comparison) -> String {
        let commonBins = Histogram.commonBins(comparison.before, comparison.after, limit: 16)
        let maximum = max(1, commonBins.map { max($0.one, $0.other) }.max() ?? 1)
        var table = TextTable(columns: [
            .init("from", .decimal), .init("to", .decimal), .init("before", .right), .init(""), .init("after", .right), .init(""),
        ])
        // Every bin with data gets a visible bar.
        func bar(_ count: Int) -> String {
            let part = count == 0 ? 0 : max(Double(count) / Double(maximum), 1.0 / 20)
            return TextTable.bar(part, width: 20, unicode: unicode)
        }
        for interval in commonBins where interval.one + interval.other > 0 {
            table.append([
                Readable.number(interval.from), Readable.number(interval.to), Readable.count(interval.one), bar(interval.one),
                Readable.count(interval.other), bar(interval.other),
            ])
        }
        return table.rendered(width: nil, unicode: unicode)
    }

    private func examples(_ plan: RepairPlan) -> String {
        guard !plan.examples.isEmpty else { return "" }
        var table = TextTable(columns: [
            .init("start"), .init("as received"), .init("before", .decimal), .init(""), .init("after", .decimal), .init(""),
            .init("other changes"),
        ])
        for example in plan.examples {
            let (before, after) = (example.before, example.after)
            var more: [String] = []
            if before.start != after.start || before.zone != after.zone { more.append("moved to \(times.start(of: after))") }
            if before.origin.person != after.origin.person {
                more.append("assigned to \(after.origin.person == me ? "me" : after.origin.person)")
            }
            if before.origin.type != after.origin.type { more.append(after.origin.type.id) }
            table.append([
                times.start(of: before), "\(before.numeral.text) \(before.unit.code)", Readable.number(before.value),
                before.origin.type.canonicalUnit.code, Readable.number(after.value), after.origin.type.canonicalUnit.code,
                more.joined(separator: ", "),
            ])
        }
        return "\nexamples\n" + table.rendered(width: nil, unicode: unicode)
    }

    // MARK: What was done

    /// Writes a list that fits the terminal. `repair show` has the details.
    func writeList(_ repairs: [StoredRepair]) throws {
        guard context.format == .table else { return try write(repairs) }
        // Only the repair and its conditions may be truncated.
        var table = TextTable(columns: [
            .init("repair", .right), .init("when", .right), .init("samples", .right), .init("state", .right), .init("change"),
            .init("conditions"),
        ])
        for repairID in repairs {
            let applied = Instant(microseconds: repairID.applied)
            table.append([
                "\(repairID.id)", String(times.local(applied).prefix(19)),
                Readable.count(repairID.repaired + repairID.merged), repairID.state, Repair.words(of: repairID.repair),
                Self.words(repairID.conditions) + (repairID.source.map { " (\($0))" } ?? ""),
            ])
        }
        let terminal = context.streams.outputTerminal
        try output.write(table.rendered(width: terminal.width, unicode: terminal.isUnicode))
    }

    /// The conditions of a repair without JSON punctuation: `type heartRate, source Strap`.
    private static func words(_ conditions: String) -> String {
        guard let parts = try? Metadata(json: conditions).entries else { return conditions }
        return parts.map { part in
            if case .string(let text) = part.value { "\(part.key) \(text)" } else { "\(part.key) \(part.value.json)" }
        }.joined(separator: ", ")
    }

    func write(_ repairs: [StoredRepair]) throws {
        try context.write(
            repairs,
            [
                Field("migration") { $0.id },
                .column("when") { String(times.local(Instant(microseconds: $0.applied)).prefix(19)) },
                Field("repair", cell: { Repair.words(of: $0.repair) }) { $0.repair },
                Field("conditions", cell: { $0.conditions + ($0.source.map { " (\($0))" } ?? "") }) { RawJSON($0.conditions) },
                .column("repaired") { Readable.count($0.repaired) }, .column("merged") { Readable.count($0.merged) },
                .json("source") { $0.source }, Field("state") { $0.state }, .json("matched") { $0.matched },
                .json("repaired") { $0.repaired }, .json("merged") { $0.merged }, .json("alreadyRight") { $0.alreadyRight },
                .json("ambiguous") { $0.ambiguous }, .json("impossible") { $0.impossible },
                .json("applied") { Instant(microseconds: $0.applied) }, Field("ingest") { $0.ingest },
                .json("undone") { $0.undone.map { Instant(microseconds: $0) } }, .json("undoneBy") { $0.undoneBy },
            ])
    }

    /// Writes a line for each pair as it is read, since there may be millions.
    func writePairs(_ forEach: ((RepairedPair) throws -> Void) throws -> Void) throws {
        if context.format == .csv { try output.write("old,new,merged\n") }
        try forEach { pair in
            switch context.format {
            case .ndjson:
                try output.write(
                    JSONObject([
                        "old": pair.old.description, "new": pair.new.description, "merged": pair.isMerged,
                    ]).line)
            case .csv: try output.write("\(pair.old),\(pair.new),\(pair.isMerged)\n")
            case .table: try output.write("\(pair.old)  \(pair.new)\(pair.isMerged ? "  merged" : "")\n")
            }
        }
    }
}
