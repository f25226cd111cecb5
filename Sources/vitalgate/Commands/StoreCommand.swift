import CommandLineKit
import Formats
import Glibc
import HealthModel
import HubBackup
import Ingestion
import SampleStore

/// `store`: checks, copies and measures the store's file.
enum StoreCommand: Command {
    static let specification = CommandSpecification(
        name: "store", summary: "Check, copy and measure the store.",
        subcommands: [
            CommandSpecification(
                name: "check", summary: "Verify the file, the counts in the ledger and the UUID of every sample.",
                discussion: "Prints one line for each problem, or ok. The exit status is 65 if there is a problem.",
                options: [
                    Option(
                        names: ["--deep"],
                        help:
                            """
                            Also verify repairs, records of deleted samples, the change log and the contents of large objects \
                            (takes minutes for millions of samples).
                            """
                    )
                ]),
            CommandSpecification(
                name: "merge", summary: "Merge duplicate samples.",
                discussion: """
                    Finds readings that are stored twice. One cause is 'vitalgate import --exact', if the same source reports a \
                    reading in two units. Another is a repair that corrects a reading, after another source had already reported \
                    the correct one. The command lists each duplicate with the sample that is kept, which is the repaired one, \
                    or else the earlier one. It changes nothing unless you use --yes. 'vitalgate ledger undo' reverts the merge.
                    """, options: [Option(names: ["--yes"], help: "Merge the samples (default: only show them).")]),
            CommandSpecification(
                name: "prune", summary: "Remove samples older than their retention period.",
                discussion: """
                    Permanently removes old samples and the records of deleted ones. The retention period of each type comes \
                    from 'retention' in the configuration, such as retention: { heartRate: "90d", all: "10y" }. You can instead \
                    give one type and one date with --type and --before. Removed samples cannot be restored, and the same \
                    readings are refused if they arrive again. Without --yes, the command only prints how many samples it would \
                    remove.

                    Targets keep their copies. A sample that a target has not received yet is not removed, and neither is a \
                    sample of a repair that can still be undone.

                    By age, nothing is removed if the machine's clock may be wrong, or if the command would remove unusually much: \
                    more than half of the samples the first time, or much more than the last time. Check the date, and confirm \
                    with --confirm. The hub's daily removal then continues. If a wrong clock or a short retention period has set the \
                    earliest date of a type too late, set it back with --set-back.
                    """,
                options: [
                    Option(
                        names: ["--type"], value: "TYPE", help: "Only this type.", completion: .types),
                    Option(names: ["--before"], value: "T", help: "With --type: remove samples that ended before this time."),
                    Option(names: ["--yes"], help: "Remove the samples (default: only count them)."),
                    Option(names: ["--confirm"], help: "Remove them even if they are unusually many."),
                    Option(
                        names: ["--set-back"],
                        help: "Remove nothing, but set the earliest dates back, so that older readings can be imported again."),
                    SharedOptions.timeZone,
                ],
                examples: [
                    Example(
                        "vitalgate store prune --type heartRate --before -90d --yes", "Keep only the last 90 days of heart rates."
                    )
                ]),
            CommandSpecification(
                name: "restore", summary: "Restore deleted samples (same as 'vitalgate restore').",
                arguments: RestoreCommand.arguments, options: RestoreCommand.options),
            CommandSpecification(
                name: "backup", summary: "Copy the store while it is in use.",
                arguments: [Argument(name: "FILE", help: "Path of the copy (must not exist yet).", completion: .file)]),
            CommandSpecification(
                name: "adopt", summary: "Give a copied store an identity of its own, for its targets and backups.",
                discussion: """
                    Targets recognize a store by its identity. A copy of a store, such as a cloned SD card, has the same \
                    identity, so the targets refuse it, and it cannot add to the backups of the original. By default this \
                    command gives the copy a new identity. The copy then sends all samples to its targets, and the targets \
                    recognize by their UUIDs the samples that they already have. Its backups are those of another store.

                    Use --moved if you moved the store to this machine and no longer use the other copy. The store then keeps \
                    its identity. The targets and the backups accept it here, and refuse the other copy.
                    """,
                options: [Option(names: ["--moved"], help: "Keep the identity, because this is the moved store and not a copy.")]),
            CommandSpecification(
                name: "stats", summary: "Show the size of the store and the number of samples of each type and source.",
                options: [Format.option, Format.safe]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "merge" { return try merge(context) }
        if context.invocation.path.last == "adopt" { return try adopt(context) }
        if context.invocation.path.last == "restore" { return try RestoreCommand.run(context) }
        if context.invocation.path.last == "prune" { return try PruneReport(context).run() }
        let store = try context.openForReading()
        switch context.invocation.path.last {
        case "check": return try check(store, context)
        case "backup":
            let target = context.invocation.argument("FILE") ?? ""
            // The copy belongs to the owner of its folder, as a store does.
            try FolderOwner.acting(asOwnerOf: target) { try store.backup(to: target) }
            context.note("the store is copied to \(target)")
            noteBackup(target, of: store, context)
        default: try stats(store, context)
        }
        return .success
    }

    /// Notes the copy for `doctor`, if this user may write to the store.
    private static func noteBackup(_ target: String, of store: SampleStore, _ context: CommandContext) {
        var (own, copy) = (Glibc.stat(), Glibc.stat())
        guard stat(store.path, &own) == 0, stat(target, &copy) == 0,
            let writer = try? context.access().openForWriting(creating: false)
        else { return }
        try? writer.note(LastBackup(time: context.machine.now(), isOnSameDisk: own.st_dev == copy.st_dev))
    }

    private static func adopt(_ context: CommandContext) throws -> ExitCode {
        try context.becomeStoreOwner()
        let store = try context.access().openForWriting(creating: false)
        let holder = context.machine.holder(ofStore: store.path)
        if context.invocation.flag("--moved") {
            try store.targets.confirm(holder: holder.id)
            try BackupState.takeOver(ofStore: store.path)
            context.note("the store now sends to its targets from \(holder.name)")
        } else {
            let before = store.identifier.prefix(8)
            let name = try store.targets.adoptIdentity()
            context.note(
                "the identity of the store changed from \(before) to \(name.filter { $0 != "-" }.prefix(8)). "
                    + "It will send all samples to its targets. Restart any hub or export that has it open"
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
            let mergeCandidates = try context.openForReading().duplicates.mergeCandidates()
            for retelling in mergeCandidates {
                let words =
                    retelling.isLeft ? "is kept because others were compared with it, but is a duplicate of" : "is a duplicate of"
                try context.streams.output.write("\(retelling.uuid) \(words) \(retelling.first)\n")
            }
            let count = mergeCandidates.count { !$0.isLeft }
            context.note(
                count == 0
                    ? "there is nothing to merge"
                    : "\(Readable.count(count, "sample")) would become \(count == 1 ? "a duplicate" : "duplicates"). "
                        + "Nothing was changed. Use --yes to merge"
            )
            return .success
        }
        let store = try context.access().openForWriting(creating: false)
        let (ingest, count) = try store.duplicates.merge(
            description: IngestDescription(kind: .merge, received: context.machine.now().microseconds))
        guard ingest > 0 else {
            context.note("there is nothing to merge")
            return .success
        }
        try store.checkpoint()
        context.note(
            "\(Readable.count(count, "sample")) became \(count == 1 ? "a duplicate" : "duplicates") "
                + "(this is ledger entry \(ingest), 'vitalgate ledger undo \(ingest)' reverts it)")
        return .success
    }

    private static func stats(_ store: SampleStore, _ context: CommandContext) throws {
        let summary = try store.summary()
        let perSample = summary.samples > 0 ? Double(summary.bytes) / Double(summary.samples) : 0
        let output = context.streams.output
        switch context.format {
        case .ndjson:
            try context.write([
                "path": summary.path, "bytes": summary.bytes, "samples": summary.samples, "bytesPerSample": perSample,
                "deleted": summary.deleted, "quarantined": summary.quarantined, "ingests": summary.ingests,
                "seq": summary.lastChange, "subject": summary.person, "schema": summary.schema,
                "series": summary.series.map(Self.object),
            ])
        case .csv:
            try TableOutput(context: context).write(
                header: ["type", "subject", "source", "device", "samples", "first", "last"],
                rows: summary.series.map {
                    [
                        $0.description.type.id, store.subject($0.description.person), $0.description.source,
                        $0.description.device, "\($0.count)", $0.first.description, $0.last.description,
                    ]
                })
        case .table:
            try output.write(
                """
                store        \(summary.path)
                size         \(Readable.bytes(summary.bytes)), \(Readable.number((perSample * 10).rounded() / 10)) bytes per sample
                samples      \(Readable.count(summary.samples)), \(Readable.count(summary.deleted)) deleted, \
                \(Readable.count(summary.quarantined)) in quarantine
                ledger       \(Readable.count(summary.ingests)) entries, last change \(summary.lastChange)
                person       \(summary.person) (me), schema \(summary.schema)


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
        [
            "type": series.description.type.id, "subject": series.description.person, "source": series.description.source,
            "device": series.description.device.isEmpty ? nil : series.description.device, "samples": series.count,
            "first": series.first.description, "last": series.last.description,
        ]
    }
}
