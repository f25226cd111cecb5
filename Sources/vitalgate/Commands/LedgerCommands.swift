import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `ledger`: shows the ledger.
enum LedgerCommand: Command {
    static let specification = CommandSpecification(
        name: "ledger", formerNames: ["ingest"], summary: "Show the ledger of imports, live readings and changes.",
        discussion: """
            The ledger records everything that changed the store. It has an entry for each import, for the readings that the hub \
            stored on a day, and for each deletion, restoration, repair and undo. An entry has a number, which 'vitalgate ledger \
            undo' accepts.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List all entries, oldest first.",
                options: [
                    Option(names: ["--limit"], value: "N", help: "Show only the last N entries."), SharedOptions.timeZone,
                    Format.option,
                    Format.safe,
                ]),
            CommandSpecification(
                name: "show", summary: "Show one entry with its refused readings, duplicates and assumptions.",
                arguments: [Argument(name: "N", help: "Number of the entry.")],
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "undo", summary: "Undo an entry.",
                discussion: """
                    Samples that the entry stored are deleted, and samples that it deleted are restored. If another source \
                    reported the same measurement, its reading becomes visible instead of the deleted one. If another file \
                    contained exactly the same reading of the same source, that reading was not stored a second time, so it is \
                    deleted, too.

                    If you import the same file again, the deleted readings are not stored again, unless the new import reads \
                    its local times in another time zone. Use --forget if you want to import it again unchanged. You cannot undo an entry while an import or the hub is \
                    still writing it (exit status 75).
                    """,
                arguments: [Argument(name: "N", help: "Number of the entry.")],
                options: [
                    Option(
                        names: ["--forget"],
                        help: "Also forget that the readings were deleted, so that you can import them again.")
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "list": try list(context)
        case "show": try show(context)
        default: try undo(context)
        }
        return .success
    }

    private static func list(_ context: CommandContext) throws {
        let limit = try context.invocation.integer("--limit", in: 0...Int.max) ?? .max
        let accounts = try context.openForReading().ledger.accounts(limit: limit)
        try AccountReport(context: context, zone: try context.zone()).write(accounts)
    }

    private static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let number = try context.number()
        guard let account = try store.ledger.account(of: number) else {
            throw StoreError(.invalid, "there is no ledger entry \(number)")
        }
        let report = AccountReport(context: context, zone: try context.zone())
        try report.write([account])
        guard context.format == .table else { return }
        try report.writeDetails(
            of: account, refusals: try store.ledger.refusals(of: number),
            nearDuplicates: try store.duplicates.nearDuplicates(of: number, limit: AccountReport.maximumNearDuplicates))
    }

    private static func undo(_ context: CommandContext) throws {
        let access = try context.access()
        let store = try access.openForWriting(creating: false)
        let number = try context.number()
        let forget = context.invocation.flag("--forget")
        let undone = try store.ledger.account(of: number)
        let touches = try store.people.touchesCharacteristics(number)
        let quarantinedBefore = try store.quarantine.requarantinedCount(by: number)
        let (ingest, _) = try store.ledger.undo(
            number, forget: forget,
            description: IngestDescription(kind: .undo, name: "ingest \(number)", received: context.machine.now().microseconds))
        guard ingest > 0 else {
            context.note("ledger entry \(number) has nothing to undo")
            return
        }
        let became = try consequences(of: ingest, restoredDecisions: quarantinedBefore, store)
        // Forgotten readings can no longer be looked up.
        let reported = touches ? ", characteristics restored" : ""
        let again =
            undone?.kind == .undo
            ? undone?.name.map { " (\($0.replacing("ingest", with: "ledger entry")) applies again)" } ?? "" : ""
        let outcome =
            if undone?.kind == .migrate {
                "'vitalgate repair apply' repeats the repair"
            } else if forget {
                "the same readings can be imported again"
            } else if became.withdrawn, undone?.kind != .undo {
                "the same readings are not stored again until 'vitalgate ledger undo \(ingest)'"
            } else {
                "'vitalgate ledger undo \(ingest)' reverts this"
            }
        context.note(
            "ledger entry \(number) is undone\(again): \(became.text)\(reported) (this is ledger entry \(ingest), \(outcome))")
    }

    /// The effect on the readings, from the ledger entry of the undo.
    private static func consequences(of ingest: Int64, restoredDecisions: Int, _ store: SampleStore) throws -> (
        text: String, withdrawn: Bool
    ) {
        let account = try store.ledger.account(of: ingest)
        let (deleted, restored) = (account?.deleted ?? 0, account?.restored ?? 0)
        var parts: [String] = []
        if deleted > 0 { parts.append("\(Readable.count(deleted, "sample")) deleted") }
        if restored > 0 { parts.append("\(Readable.count(restored, "sample")) restored") }
        let quarantined = try store.quarantine.requarantinedCount(by: ingest)
        if quarantined > 0 { parts.append("\(Readable.count(quarantined, "reading")) quarantined again (see 'quarantine list')") }
        if restoredDecisions > 0 { parts.append("\(Readable.count(restoredDecisions, "quarantine decision")) restored") }
        return (parts.isEmpty ? "no samples changed" : parts.joined(separator: ", "), deleted > 0)
    }
}

/// `delete`: deletes samples.
enum DeleteCommand: Command {
    static let specification = CommandSpecification(
        name: "delete", summary: "Delete samples.",
        discussion: """
            Select the samples by UUID or by conditions. With conditions, the command only prints the number of matching samples \
            unless you use --yes. A deleted reading is not stored again if it arrives later from a file or a device. 'vitalgate \
            restore' brings it back.

            A correlation is a sample that combines others, such as a blood pressure with its two pressures. If you delete a \
            correlation, its samples are kept, and if you delete a workout, its routes are kept. Use --with-objects to delete \
            them, too. Other samples recorded during a workout are always kept.
            """,
        arguments: [
            Argument(name: "UUID", help: "UUIDs of samples, or their first digits (omit to use conditions).", arity: .any)
        ],
        options: [
            Option(names: ["--type"], value: "TYPE", help: "Type of samples, or all.", completion: .types)
        ]
            + SharedOptions.range + [
                SharedOptions.person,
                SharedOptions.source,
                SharedOptions.device,
                SharedOptions.condition, SharedOptions.timeZone,
                Option(
                    names: ["--with-objects"],
                    help: "Also delete the samples of deleted correlations and the routes of deleted workouts."),
                Option(names: ["--yes"], help: "Delete the matching samples (default: only count them)."),
            ],
        examples: [
            Example(
                "vitalgate delete --type bodyMass --from 2026-11-20 --where 'value < 20 kg' --yes",
                "Delete the weights of a cat on the scale.")
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let names = invocation.arguments("UUID")
        for name in names { try context.checkUUID(name) }
        let description = IngestDescription(
            kind: .delete, name: names.isEmpty ? invocation.string("--type") : nil, received: context.machine.now().microseconds)
        if !names.isEmpty {
            for option in ["--type", "--where", "--from", "--to", "--person", "--source", "--device"] {
                if let value = invocation.string(option) {
                    throw invocation.invalid(option, value: value, expected: "either UUIDs or conditions, not both")
                }
            }
            let store = try context.access().openForWriting(creating: false)
            let uuids = try names.map { try context.uuid($0, among: .live, in: store) }
            let objects = try store.samples.countOfObjects(namedBy: uuids)
            let withObjects = invocation.flag("--with-objects")
            return report(
                try store.samples.delete(uuids, withObjects: withObjects, description: description), objects, context)
        }
        guard invocation.string("--type") != nil || invocation.string("--where") != nil else {
            throw UsageError(.missingArgument("UUID"), command: "vitalgate delete")
        }
        let name = invocation.string("--type") ?? "all"
        let zone = try context.zone()
        let types: Set<SampleType>? = name == "all" ? nil : [try context.type(name)]
        let range = try context.range(zone: zone)
        let doIt = invocation.flag("--yes")
        let store = doIt ? try context.access().openForWriting(creating: false) : try context.openForReading()
        let query = try context.query(types, from: range.from, to: range.to, zone: zone, in: store)
        let objects = try store.samples.countOfObjects(namedBy: query)
        let withObjects = invocation.flag("--with-objects")
        if doIt {
            let done = try store.samples.delete(matching: query, withObjects: withObjects, description: description)
            return report(done, objects, context)
        }
        let cursor = try store.samples.cursor(matching: query)
        var count = 0
        while try cursor.next() != nil { count += 1 }
        if withObjects { count += objects }
        context.note(
            "\(Readable.count(count, "sample")) would be deleted\(others(objects, isDeleted: withObjects)). Use --yes to delete"
        )
        return .success
    }

    static func uuid(_ text: String, _ invocation: Invocation) throws -> SampleIdentity {
        guard let uuid = SampleIdentity(text) else {
            throw invocation.invalid("UUID", value: text, expected: "a sample's UUID, as 'query --format ndjson' prints it")
        }
        return uuid
    }

    /// The note on objects that belong to the deleted samples.
    private static func others(_ count: Int, isDeleted: Bool) -> String {
        guard count > 0 else { return "" }
        let names = count == 1 ? "1 object that belongs to them" : "\(Readable.count(count)) objects that belong to them"
        return isDeleted
            ? ", including \(names)" : ", but \(names) \(count == 1 ? "is" : "are") kept (use --with-objects to delete)"
    }

    private static func report(
        _ result: (ingest: Int64, count: Int), _ objects: Int, _ context: CommandContext
    ) -> ExitCode {
        guard result.count > 0 else {
            context.note("no samples match, nothing was deleted")
            return .success
        }
        context.note(
            "\(Readable.count(result.count, "sample")) deleted"
                + others(objects, isDeleted: context.invocation.flag("--with-objects"))
                + " (this is ledger entry \(result.ingest), 'vitalgate ledger undo \(result.ingest)' reverts it)"
        )
        return .success
    }
}

/// `restore`: restores deleted samples.
enum RestoreCommand: Command {
    static let specification = CommandSpecification(
        name: "restore", summary: "Restore deleted samples.",
        discussion: """
            'vitalgate deleted list' shows deleted samples. If you deleted a correlation or a workout together with its samples \
            or routes, --with-objects restores them, too. To restore everything that one command deleted, use 'vitalgate ledger \
            undo'.
            """,
        arguments: arguments, options: options)

    /// The arguments and options, also of `store restore`.
    static let arguments = [
        Argument(
            name: "UUID", help: "UUIDs of deleted samples, or their first digits.",
            arity: .oneOrMore)
    ]
    static let options = [
        Option(
            names: ["--with-objects"], help: "Also restore the samples or routes that were deleted together with these samples.")
    ]

    static func run(_ context: CommandContext) throws -> ExitCode {
        for name in context.invocation.arguments("UUID") { try context.checkUUID(name) }
        let store = try context.access().openForWriting(creating: false)
        let uuids = try context.invocation.arguments("UUID").map { try context.uuid($0, among: .deleted, in: store) }
        let withObjects = context.invocation.flag("--with-objects")
        let objects = try store.samples.countOfObjects(namedBy: uuids, deleted: true)
        let (ingest, count) = try store.samples.restore(
            uuids, withObjects: withObjects,
            description: IngestDescription(kind: .restore, received: context.machine.now().microseconds))
        let left =
            objects > 0 && !withObjects
            ? ", but \(Readable.count(objects, "object")) deleted with them \(objects == 1 ? "is" : "are") not (use --with-objects)"
            : ""
        context.note(
            "\(Readable.count(count, "sample")) restored\(left) (this is ledger entry \(ingest), 'vitalgate ledger undo \(ingest)' reverts it)"
        )
        return .success
    }
}

/// `quarantine`: shows and decides quarantined samples.
enum QuarantineCommand: Command {
    private static let ids = [Argument(name: "N", help: "Numbers that 'vitalgate quarantine list' prints.", arity: .oneOrMore)]

    static let specification = CommandSpecification(
        name: "quarantine", summary: "Review quarantined samples.",
        discussion: """
            A reading with an impossible value, such as a pulse of 255, or with an unknown time is quarantined. It is kept, but \
            queries and statistics do not show it until you accept it.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List quarantined samples and why each is quarantined.",
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "show", summary: "Show a quarantined sample, and the samples before and after it.",
                arguments: [Argument(name: "N", help: "Number that 'vitalgate quarantine list' prints.")],
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(name: "accept", summary: "Store quarantined samples as normal samples.", arguments: ids),
            CommandSpecification(name: "reject", summary: "Discard quarantined samples.", arguments: ids),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "list" { return try list(context) }
        if context.invocation.path.last == "show" { return try QuarantineReport(context).show() }
        let numbers = try context.invocation.arguments("N").map { text in
            guard let number = Int64(text), number > 0 else {
                throw context.invocation.invalid("N", value: text, expected: "a number shown by 'quarantine list'")
            }
            return number
        }
        let store = try context.access().openForWriting(creating: false)
        let accepts = context.invocation.path.last == "accept"
        let description = IngestDescription(kind: accepts ? .accept : .reject, received: context.machine.now().microseconds)
        guard accepts else {
            let (ingest, count) = try store.quarantine.reject(numbers, description: description)
            context.note("\(Readable.count(count, "sample")) rejected (this is ledger entry \(ingest))")
            return .success
        }
        let (ingest, count, duplicates) = try store.quarantine.accept(numbers, description: description)
        let rest =
            duplicates == 0
            ? ""
            : ", of which \(duplicates) already \(duplicates == 1 ? "is" : "are") stored more precisely or in a newer version"
        context.note("\(Readable.count(count, "sample")) accepted\(rest) (this is ledger entry \(ingest))")
        return .success
    }

    private static func list(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let (line, times) = (SampleLine(me: store.owner), try context.times())
        try context.write(
            try store.quarantine.all(),
            [
                Field("quarantine", "n") { $0.id }, .column("start") { times.start(of: $0.stored.sample) },
                .column("type") { $0.stored.sample.origin.type.id },
                .column("value") { $0.stored.sample.receivedCase ?? Readable.number($0.stored.sample.value) },
                .column("unit") { $0.stored.sample.origin.type.canonicalUnit.code }, Field("rule") { $0.rule },
                .column("ingest") { "\($0.stored.ingest)" }, Field("place") { $0.place },
                .json("sample") { line.field($0.stored.sample, ingest: $0.stored.ingest) },
            ])
        return .success
    }
}
