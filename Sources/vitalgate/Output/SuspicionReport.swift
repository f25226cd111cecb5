import CommandLineKit
import Formats
import HealthModel
import Hub
import Ingestion
import Profiles
import SampleStore

/// `repair suggest`: suspicious samples with the evidence and the command that shows the repair.
struct SuspicionReport {
    static let dismissed = Option(names: ["--dismissed"], help: "List the suggestions that you dismissed.")

    private let context: CommandContext

    init(context: CommandContext) { self.context = context }

    /// A row of the table, and the commands for it. The first one is the most likely to be right.
    private struct Row {
        var cells: [String]
        var commands: [String]
    }

    func run() throws {
        let store = try context.openForReading()
        guard !context.invocation.flag(Self.dismissed.names[0]) else { return try listDismissed(store) }
        let corrections = Corrections(library: try ProfileCommand.library(context), now: context.machine.now())
        let pending = try corrections.pending(in: store)
        let suspicions = try store.repairs.suspicions()
        if context.format == .ndjson {
            for (entry, plan) in pending { try context.streams.output.write(Self.object(entry, plan).line) }
            for suspicion in suspicions { try context.streams.output.write(Self.object(suspicion, store).line) }
            return
        }
        let times = try context.times()
        var rows = pending.map { entry, plan in
            Row(
                cells: [
                    "correction", entry.name, "", "", Readable.count(plan.repaired + plan.merged),
                    Repair.words(of: entry.request.repair.text), entry.note, "",
                ], commands: [Self.command(entry)])
        }
        rows += suspicions.map { suspicion in
            let range = suspicion.range
            func local(_ instant: Instant) -> String { String(times.local(instant).prefix(16)) }
            let cells = [
                suspicion.explanations[0] == .unit ? "unit" : "person", suspicion.series.type.id, local(range.from),
                local(range.to), Readable.count(range.count),
                Self.repair(suspicion), Self.evidence(range), Self.confidence(range),
            ]
            return Row(cells: cells, commands: suspicion.explanations.map { Self.command(suspicion, $0, store) })
        }
        guard !rows.isEmpty else { return context.note("no suspicious samples found") }
        let header = ["what", "of", "from", "to", "samples", "repair", "why", "confidence", "command"]
        if context.format == .csv {
            return try TableOutput(context: context).write(header: header, rows: rows.map { $0.cells + $0.commands.prefix(1) })
        }
        // The commands are too long for the table, so they follow it.
        try TableOutput(context: context).write(header: header.dropLast(), rows: rows.map(\.cells))
        try context.streams.output.write("\n" + rows.flatMap(\.commands).map { "\($0)\n" }.joined())
    }

    private func listDismissed(_ store: SampleStore) throws {
        let series = Dictionary(uniqueKeysWithValues: try store.samples.series(matching: SampleQuery()).map { ($0.id, $0) })
        let names = try store.people.names()
        let rows = try store.repairs.dismissals().compactMap { dismissal in series[dismissal.series].map { (dismissal, $0) } }
        try context.write(
            rows,
            [
                Field("type") { $0.1.type.id }, .person(names, store) { $0.1.person }, Field("source") { $0.1.source },
                Field("device") { $0.1.device.isEmpty ? nil : $0.1.device }, Field("from") { $0.0.from },
                Field("to") { $0.0.to }, Field("fits") { $0.0.fits },
            ], empty: "no suggestion is dismissed")
    }

    /// A line for a warning, without values.
    static func sentence(_ suspicion: Suspicion) -> String {
        let range = suspicion.range
        return
            "\(Readable.count(range.count, "reading")) of \(suspicion.series.type.id) from \(suspicion.series.source) \(suspicion.claim) "
            + "(confidence \(confidence(range)), see 'vitalgate repair suggest')"
    }

    /// The confidence, which is never shown as 1.
    private static func confidence(_ range: MisunitRange) -> String {
        Readable.number((min(range.confidence, 0.999) * 1000).rounded(.down) / 1000)
    }

    private static func evidence(_ range: MisunitRange) -> String {
        func number(_ value: Double) -> String { Readable.number((value * 10).rounded() / 10) }
        let around = range.around.map { ", readings around: \(number($0))" } ?? ""
        return "middle \(number(range.before)) would be \(number(range.after))\(around)"
    }

    private static func repair(_ suspicion: Suspicion) -> String {
        suspicion.explanations.map { explanation in
            switch explanation {
            case .unit: "\(suspicion.range.taken.code) is \(suspicion.range.fits.code)"
            case .anotherPerson: "another person's"
            }
        }.joined(separator: ", or ")
    }

    /// The command that plans the repair for an explanation. Its instants are in UTC and need no zone.
    private static func command(_ suspicion: Suspicion, _ explanation: Suspicion.Explanation, _ store: SampleStore) -> String {
        let (range, series) = (suspicion.range, suspicion.series)
        var words = [
            "vitalgate", "repair", "plan", "--type", series.type.id, "--source", quoted(series.source), "--person",
            store.subject(series.person), "--from", range.from.description, "--to",
            suspicion.end.description,
        ]
        if !series.device.isEmpty { words += ["--device", quoted(series.device)] }
        if let condition = suspicion.condition { words += ["--where", quoted(condition)] }
        switch explanation {
        case .unit: words += ["--read-as", quoted(range.fits.code), "--ambiguous"]
        case .anotherPerson: words += ["--assign", "PERSON"]
        }
        return words.joined(separator: " ")
    }

    private static func command(_ entry: Corrections.Entry) -> String {
        "vitalgate repair plan --correction \(quoted(entry.name))"
    }

    /// Quotes a word for a shell if necessary.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "._-/:+%,".utf8.contains(byte)
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    private static func object(_ entry: Corrections.Entry, _ plan: RepairPlan) -> JSONObject {
        [
            "kind": "correction", "correction": entry.name, "note": entry.note, "repair": entry.request.repair.text,
            "matched": plan.matched, "repaired": plan.repaired, "merged": plan.merged, "command": command(entry),
        ]
    }

    private static func object(_ suspicion: Suspicion, _ store: SampleStore) -> JSONObject {
        let (range, series) = (suspicion.range, suspicion.series)
        return [
            "kind": suspicion.explanations[0] == .unit ? "unit" : "person",
            "explanations": suspicion.explanations.map(\.rawValue), "type": series.type.id,
            "subject": store.subject(series.person), "source": series.source,
            "device": series.device.isEmpty ? nil : series.device, "from": range.from.description, "to": range.to.description,
            "samples": range.count, "taken": range.taken.code, "fits": range.fits.code, "unit": series.type.canonicalUnit.code,
            "before": range.before, "after": range.after, "around": range.around, "evidence": range.evidence,
            "confidence": range.confidence, "where": suspicion.condition,
            "command": command(suspicion, suspicion.explanations[0], store),
        ]
    }
}

/// Handles profiles' corrections when the hub starts. They are applied if the configuration allows it, and otherwise reported.
struct CorrectionNotices {
    let context: CommandContext

    func atStart(_ store: SampleStore, _ library: ProfileLibrary) throws {
        let corrections = Corrections(library: library, now: context.machine.now())
        guard try context.configuration().appliesCorrections else {
            for (entry, plan) in try corrections.pending(in: store) {
                context.note(
                    "info: correction \(entry.name) is pending for \(Readable.count(plan.repaired + plan.merged, "sample")) "
                        + "(see 'vitalgate repair suggest')")
            }
            return
        }
        let last = try store.lastChange()
        for (entry, plan, repairID) in try corrections.apply(to: store) {
            guard let repairID else {
                context.note(
                    "warning: correction \(entry.name) is not applied: \(Readable.count(plan.merged, "sample")) would be merged with "
                        + "correct copies (run 'vitalgate repair apply --correction \(entry.name) --merge')")
                continue
            }
            context.note(
                "info: correction \(entry.name) repaired \(Readable.count(plan.repaired + plan.merged, "sample")) (repair \(repairID))"
            )
        }
        let duplicates = try store.lastChange() == last ? 0 : store.duplicates.duplicateCount(since: last)
        if duplicates > 0 {
            context.note(
                "warning: \(Readable.count(duplicates, "repaired sample")) also came over another path and count twice "
                    + "(see 'vitalgate store merge')")
        }
    }
}
