import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `store`: checks, copies and measures the store's file.
enum StoreCommand: Command {
    static let specification = CommandSpecification(
        name: "store", summary: "Check, copy and measure the store.",
        subcommands: [
            CommandSpecification(
                name: "check", summary: "Verify the file, the ledger's sums and every sample's UUID.",
                discussion: "Exit status 65 where something is wrong; each finding is a line.",
                options: [
                    Option(
                        names: ["--deep"],
                        help:
                            "Verify also repairs, tombstones and the change log, entry by entry, and the bodies of all objects; takes some minutes for millions."
                    )
                ]),
            CommandSpecification(
                name: "merge", summary: "Make one of readings that are there twice.",
                discussion: """
                    'import --exact' stores a reading that a source exports again in another unit, as after a phone's unit was changed, a second time. A \
                    repair, or its undoing, can move a reading to where another path told it. Without --yes each such sample is shown, with the one that stays: what was \
                    repaired, or else came first. With --yes the other is kept as its duplicate; 'ingest undo' gives it back.
                    """, options: [Option(names: ["--yes"], help: "Do it without showing first.")]),
            CommandSpecification(
                name: "prune", summary: "Remove what is older than it has to be kept.",
                discussion: """
                    What ended before the earliest permitted date of its type is removed for good, with its tombstones: no 'undo' brings it back, and the \
                    same reading arriving again is refused. The dates follow from 'retention' of the configuration, by type or for all others \
                    (retention: { heartRate: "90d", all: "10y" }), or are said by --type and --before. This is no deletion: targets keep what they have, and \
                    what one of them has not been told yet stays until it has. Without --yes it only says how much would go.

                    Samples that a repair made, and those that it replaced, stay as long as the repair could be undone.
                    """,
                options: [
                    Option(
                        names: ["--type"], value: "TYPE", help: "Only this type.", completion: .command("vitalgate types --ids")),
                    Option(names: ["--before"], value: "T", help: "With --type: the earliest end that stays."),
                    Option(names: ["--yes"], help: "Do it without showing first."), SharedOptions.timeZone,
                ],
                examples: [
                    Example("vitalgate store prune --type heartRate --before -90d --yes", "Heart rates of the last 90 days stay.")
                ]),
            CommandSpecification(
                name: "backup", summary: "Copy the store as it is at this moment, while writing goes on.",
                arguments: [Argument(name: "FILE", help: "The copy; it must not exist yet.", completion: .file)]),
            CommandSpecification(
                name: "adopt", summary: "Give a copied store an identity of its own.",
                discussion: """
                    A store has a name of its own, by which targets know whose readings they have. A copy has the same name, as on a card that was cloned, and a target refuses the second one that comes. By default this \
                    command gives the copy another name: it is a hub of its own from now on, and tells its targets everything. Its readings have the same UUIDs, so that no target has them twice.

                    With --moved the store stays who it is: it has come to this machine, or to this path, and goes on here. The other one is refused from then on.
                    """,
                options: [Option(names: ["--moved"], help: "It is the same store, at another place.")]),
            CommandSpecification(
                name: "stats", summary: "Show size, bytes a sample, and the series.", options: [Format.option, Format.safe]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "merge" { return try merge(context) }
        if context.invocation.path.last == "adopt" { return try adopt(context) }
        if context.invocation.path.last == "prune" { return try PruneReport(context).run() }
        let store = try context.openForReading()
        switch context.invocation.path.last {
        case "check": return try check(store, context)
        case "backup":
            let target = context.invocation.argument("FILE") ?? ""
            try store.backup(to: target)
            context.note("the store is copied to \(target)")
        default: try stats(store, context)
        }
        return .success
    }

    private static func adopt(_ context: CommandContext) throws -> ExitCode {
        let store = try context.access().openForWriting(creating: false)
        let holder = context.machine.holder(ofStore: store.path)
        if context.invocation.flag("--moved") {
            try store.confirm(holder: holder.id)
            context.note("this store feeds its targets from \(holder.name) from now on")
        } else {
            let before = store.identifier.prefix(8)
            let name = try store.adoptIdentity()
            context.note(
                "this store was \(before), and is \(name.filter { $0 != "-" }.prefix(8)) from now on; its targets are told everything. A hub or an export that has it open has to be started again"
            )
        }
        return .success
    }

    private static func check(_ store: SampleStore, _ context: CommandContext) throws -> ExitCode {
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let problems: [String]
        var notes: [String] = []
        do throws(StoreError) {
            let deep = context.invocation.flag("--deep")
            problems = try store.check(
                deep: deep, progress: { progress.update("\(Readable.count($0, "sample")) verified") },
                note: { notes.append($0) })
        } catch {
            guard error.kind == .corrupt else { throw error }
            problems = ["database: \(error.message)"]
        }
        progress.finish()
        for note in notes { context.note("note: \(note)") }
        for problem in problems { try context.streams.output.write(problem + "\n") }
        if problems.isEmpty { try context.streams.output.write("ok\n") }
        return problems.isEmpty ? .success : .dataError
    }

    private static func merge(_ context: CommandContext) throws -> ExitCode {
        guard context.invocation.flag("--yes") else {
            let retellings = try context.openForReading().retellings()
            for retelling in retellings {
                let words = retelling.isLeft ? "tells again, and is left since others are compared with it:" : "tells again"
                try context.streams.output.write("\(retelling.uuid) \(words) \(retelling.first)\n")
            }
            let count = retellings.count { !$0.isLeft }
            context.note(
                count == 0
                    ? "there is nothing to merge"
                    : "\(Readable.count(count, "sample")) would become \(count == 1 ? "a duplicate" : "duplicates") of the first; with --yes \(count == 1 ? "it does" : "they do"). Nothing is changed"
            )
            return .success
        }
        let store = try context.access().openForWriting(creating: false)
        let (ingest, count) = try store.mergeRetellings(
            description: IngestDescription(kind: .merge, received: context.machine.now().microseconds))
        guard ingest > 0 else {
            context.note("there is nothing to merge")
            return .success
        }
        try store.checkpoint()
        context.note(
            "\(Readable.count(count, "sample")) became \(count == 1 ? "a duplicate" : "duplicates") of the first (this is ingest \(ingest); "
                + "'vitalgate ingest undo \(ingest)' takes that back)")
        return .success
    }

    private static func stats(_ store: SampleStore, _ context: CommandContext) throws {
        let summary = try store.summary()
        let perSample = summary.samples > 0 ? Double(summary.bytes) / Double(summary.samples) : 0
        let output = context.streams.output
        switch context.format {
        case .ndjson:
            var object = JSONObject()
            object.set("path", summary.path)
            object.set("bytes", summary.bytes)
            object.set("samples", summary.samples)
            object.set("bytesPerSample", perSample)
            object.set("deleted", summary.deleted)
            object.set("quarantined", summary.quarantined)
            object.set("ingests", summary.ingests)
            object.set("seq", Int(summary.lastChange))
            object.set("subject", summary.subject)
            object.set("schema", summary.schema)
            object.set("series", summary.series.map(Self.object))
            try output.write(object.line)
        case .csv:
            var bytes: [UInt8] = []
            context.csv.append(row: ["type", "subject", "source", "device", "samples", "first", "last"], to: &bytes)
            for series in summary.series {
                let description = series.description
                context.csv.append(
                    row: [
                        description.type.id, description.subject == store.subject ? "me" : description.subject,
                        description.source,
                        description.device, "\(series.count)", series.first.description, series.last.description,
                    ], to: &bytes)
            }
            try output.write(bytes)
        case .table:
            try output.write(
                """
                store        \(summary.path)
                size         \(Readable.bytes(summary.bytes)), \(Readable.number((perSample * 10).rounded() / 10)) bytes a sample
                samples      \(Readable.count(summary.samples)), \(Readable.count(summary.deleted)) deleted, \
                \(Readable.count(summary.quarantined)) in quarantine
                ingests      \(Readable.count(summary.ingests)), last change \(summary.lastChange)
                subject      \(summary.subject) (me), schema \(summary.schema)


                """)
            var table = TextTable(columns: [
                .init("type"), .init("source"), .init("device"), .init("samples", .right), .init("first"), .init("last"),
            ])
            for series in summary.series {
                table.append([
                    series.description.type.id, series.description.source, series.description.device,
                    Readable.count(series.count),
                    String(series.first.description.prefix(10)), String(series.last.description.prefix(10)),
                ])
            }
            let terminal = context.streams.outputTerminal
            try output.write(table.rendered(width: terminal.width, unicode: terminal.isUnicode))
        }
    }

    private static func object(_ series: StoreSummary.Series) -> JSONObject {
        var object = JSONObject()
        object.set("type", series.description.type.id)
        object.set("subject", series.description.subject)
        object.set("source", series.description.source)
        object.set("device", series.description.device.isEmpty ? nil : series.description.device)
        object.set("samples", series.count)
        object.set("first", series.first.description)
        object.set("last", series.last.description)
        return object
    }
}
