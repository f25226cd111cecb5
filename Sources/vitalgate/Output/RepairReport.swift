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
        var object = JSONObject()
        object.set("migration", repairID.map { Int($0) })
        object.set("repair", request.repair.text)
        object.set("conditions", raw: Array(request.conditions.json(me: me).utf8))
        object.set("matched", plan.matched)
        object.set("repaired", plan.repaired)
        object.set("merged", plan.merged)
        for group in RepairReason.Group.allCases { object.set(group.rawValue, plan.left(group)) }
        var reasons = JSONObject()
        for reason in RepairReason.allCases { if let count = plan.left[reason] { reasons.set(reason.rawValue, count) } }
        object.set("reasons", reasons)
        object.set("histograms", Self.histograms(plan).map(Self.object))
        object.set(
            "examples",
            plan.examples.map { example in
                var pair = JSONObject()
                pair.set("before", raw: sample(example.before))
                pair.set("after", raw: sample(example.after))
                return pair
            })
        return object
    }

    private func sample(_ sample: Sample) -> [UInt8] {
        var bytes: [UInt8] = []
        line.append(sample, ingest: nil, seq: nil, to: &bytes)
        return Array(bytes.dropLast())
    }

    private typealias Comparison = (type: SampleType, before: Histogram, after: Histogram)

    private static func histograms(_ plan: RepairPlan) -> [Comparison] {
        Set(plan.before.keys).union(plan.after.keys).sorted { $0.id < $1.id }.map {
            ($0, plan.before[$0] ?? Histogram(), plan.after[$0] ?? Histogram())
        }
    }

    private static func object(_ comparison: Comparison) -> JSONObject {
        var object = JSONObject()
        object.set("type", comparison.type.id)
        object.set("unit", comparison.type.canonicalUnit.code)
        object.set(
            "bins",
            Histogram.commonBins(comparison.before, comparison.after, limit: 16).map { interval in
                var bin = JSONObject()
                bin.set("from", interval.from)
                bin.set("to", interval.to)
                bin.set("before", interval.one)
                bin.set("after", interval.other)
                return bin
            })
        return object
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
        if context.format == .ndjson {
            for repairID in repairs { try output.write(Self.object(repairID).line) }
            return
        }
        let header = ["migration", "when", "repair", "conditions", "repaired", "merged", "state", "ingest"]
        let rows = repairs.map { repairID in
            let applied = Instant(microseconds: repairID.applied)
            return [
                "\(repairID.id)", String(times.local(applied).prefix(19)),
                Repair.words(of: repairID.repair), repairID.conditions + (repairID.source.map { " (\($0))" } ?? ""),
                Readable.count(repairID.repaired), Readable.count(repairID.merged), repairID.state, "\(repairID.ingest)",
            ]
        }
        try TableOutput(context: context).write(header: header, rows: rows)
    }

    private static func object(_ repairID: StoredRepair) -> JSONObject {
        var object = JSONObject()
        object.set("migration", Int(repairID.id))
        object.set("repair", repairID.repair)
        object.set("conditions", raw: Array(repairID.conditions.utf8))
        object.set("source", repairID.source)
        object.set("state", repairID.state)
        object.set("matched", repairID.matched)
        object.set("repaired", repairID.repaired)
        object.set("merged", repairID.merged)
        object.set("alreadyRight", repairID.alreadyRight)
        object.set("ambiguous", repairID.ambiguous)
        object.set("impossible", repairID.impossible)
        object.set("applied", Instant(microseconds: repairID.applied).description)
        object.set("ingest", Int(repairID.ingest))
        object.set("undone", repairID.undone.map { Instant(microseconds: $0).description })
        object.set("undoneBy", repairID.undoneBy.map { Int($0) })
        return object
    }

    /// Writes a line for each pair as it is read, since there may be millions.
    func writePairs(_ forEach: ((RepairedPair) throws -> Void) throws -> Void) throws {
        if context.format == .csv { try output.write("old,new,merged\n") }
        try forEach { pair in
            switch context.format {
            case .ndjson:
                var object = JSONObject()
                object.set("old", pair.old.description)
                object.set("new", pair.new.description)
                object.set("merged", pair.isMerged)
                try output.write(object.line)
            case .csv: try output.write("\(pair.old),\(pair.new),\(pair.isMerged)\n")
            case .table: try output.write("\(pair.old)  \(pair.new)\(pair.isMerged ? "  merged" : "")\n")
            }
        }
    }
}
