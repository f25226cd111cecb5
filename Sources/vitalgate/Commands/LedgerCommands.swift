import CommandLineKit
import Formats
import Gateway
import HealthModel
import SampleStore

/// `ledger`: shows the ledger.
enum LedgerCommand: Command {
    static let specification = CommandSpecification(
        name: "ledger", formerNames: ["ingest"], summary: "Show the ledger: what came in, and where every reading ended.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List all ingests, the latest last.",
                options: [
                    Option(names: ["--limit"], value: "N", help: "Only the last so many."), SharedOptions.timeZone, Format.option,
                    Format.safe,
                ]),
            CommandSpecification(
                name: "show", summary: "Show one ingest with what it refused and assumed.",
                arguments: [Argument(name: "N", help: "The ingest's number.")],
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "undo", summary: "Take back what an ingest did.",
                discussion: """
                    What it stored is deleted, what it deleted comes back. Deleted stays deleted: importing the same file again stores nothing. \
                    A reading that a second file brought as well, as a duplicate, goes with the first. With --forget no trace is left, so that the file can be imported anew, in another time zone say. \
                    While an import or the hub still adds to it, it is not undone: exit status 75.
                    """,
                arguments: [Argument(name: "N", help: "The ingest's number.")],
                options: [Option(names: ["--forget"], help: "Leave no tombstones: the same readings may come again.")]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "list": try list(context)
        case "show": try show(context)
        default: try undo(context)
        }
        return .success
    }

    private static func number(_ context: CommandContext) throws -> Int64 {
        Int64(try context.invocation.integer(argument: "N", in: 1...Int.max) ?? 0)
    }

    private static func list(_ context: CommandContext) throws {
        let limit = try context.invocation.integer("--limit", in: 0...Int.max) ?? .max
        let accounts = try context.openForReading().accounts(limit: limit)
        try AccountReport(context: context, zone: try context.zone()).write(accounts)
    }

    private static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let number = try number(context)
        guard let account = try store.account(of: number) else {
            throw StoreError(.invalid, "there is no ingest \(number)")
        }
        let report = AccountReport(context: context, zone: try context.zone())
        try report.write([account])
        guard context.format == .table else { return }
        try report.writeDetails(
            of: account, refusals: try store.refusals(of: number),
            witnesses: try store.witnesses(of: number, limit: AccountReport.witnessesShown))
    }

    private static func undo(_ context: CommandContext) throws {
        let access = try context.access()
        let store = try access.openForWriting(creating: false)
        let number = try number(context)
        let forget = context.invocation.flag("--forget")
        let undone = try store.account(of: number)
        let touches = try store.touchesCharacteristics(number)
        let heldSoFar = try store.heldAgain(by: number)
        let (ingest, _) = try store.undo(
            number, forget: forget,
            description: IngestDescription(kind: .undo, name: "ingest \(number)", received: context.machine.now().microseconds))
        guard ingest > 0 else {
            context.note("ingest \(number) left nothing to take back")
            return
        }
        let became = try consequences(of: ingest, judgedAgain: heldSoFar, store)
        // Forgotten readings can no longer be looked up.
        let told = touches ? ", characteristics are what they were before" : ""
        let again = undone?.kind == .undo ? undone?.name.map { ", and what \($0) did holds again" } ?? "" : ""
        let outcome =
            if undone?.kind == .migrate {
                "'vitalgate repair apply' makes the repair again"
            } else if forget {
                "the same readings may come again"
            } else if became.withdrawn, undone?.kind != .undo {
                "the same readings stay out until 'ledger undo \(ingest)'"
            } else {
                "'ledger undo \(ingest)' takes that back"
            }
        context.note("ingest \(number) is undone\(again): \(became.text)\(told) (this is ledger entry \(ingest); \(outcome))")
    }

    /// The effect on the readings, from the ledger entry of the undo.
    private static func consequences(of ingest: Int64, judgedAgain: Int, _ store: SampleStore) throws -> (
        text: String, withdrawn: Bool
    ) {
        let account = try store.account(of: ingest)
        let (deleted, restored) = (account?.deleted ?? 0, account?.restored ?? 0)
        var parts: [String] = []
        if deleted > 0 { parts.append("\(Readable.count(deleted, "sample")) withdrawn") }
        if restored > 0 { parts.append("\(Readable.count(restored, "sample")) back as before") }
        let held = try store.heldAgain(by: ingest)
        if held > 0 { parts.append("\(Readable.count(held, "reading")) held again, see 'quarantine list'") }
        if judgedAgain > 0 { parts.append("\(Readable.count(judgedAgain, "held reading")) judged as before") }
        return (parts.isEmpty ? "no sample changed" : parts.joined(separator: ", "), deleted > 0)
    }
}

/// `delete`: deletes samples.
enum DeleteCommand: Command {
    static let specification = CommandSpecification(
        name: "delete", summary: "Delete samples.",
        discussion: """
            Deleted stays deleted: the same reading arriving again, from a file or a device's memory, is not stored. 'restore' is the way \
            back. Without --yes a condition only shows how many samples it meets.

            What belongs to a correlation (a blood pressure's two samples, a food's nutrients) or to a workout (its routes) stays, as in HealthKit, \
            unless --with-objects says that it goes with it. What was recorded during a workout is no part of it here.
            """,
        arguments: [Argument(name: "UUID", help: "Samples' UUIDs; or none, and a type or condition.", arity: .any)],
        options: [
            Option(
                names: ["--type"], value: "TYPE", help: "A type of samples, or all.",
                completion: .command("vitalgate types --ids"))
        ]
            + SharedOptions.range + [
                SharedOptions.subject, Option(names: ["--source"], value: "SOURCE", help: "A source's id or name."),
                Option(names: ["--device"], value: "DEVICE", help: "A device's key, name, model or serial number."),
                SharedOptions.condition, SharedOptions.timeZone,
                Option(
                    names: ["--with-objects"],
                    help: "Delete also what belongs to them: a correlation's samples, a workout's routes."),
                Option(names: ["--yes"], help: "Do it without showing first."),
            ],
        examples: [
            Example(
                "vitalgate delete --type bodyMass --from 2026-11-20 --where 'value < 20 kg' --yes", "The cat on the scale.")
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let uuids = try invocation.arguments("UUID").map { try uuid($0, invocation) }
        let description = IngestDescription(
            kind: .delete, name: uuids.isEmpty ? invocation.string("--type") : nil, received: context.machine.now().microseconds)
        if !uuids.isEmpty {
            for option in ["--type", "--where", "--from", "--to", "--person", "--source", "--device"] {
                if let value = invocation.string(option) {
                    throw invocation.invalid(option, value: value, expected: "either UUIDs or conditions, not both")
                }
            }
            let store = try context.access().openForWriting(creating: false)
            let objects = try store.countOfObjects(namedBy: uuids)
            let withObjects = invocation.flag("--with-objects")
            return report(
                try store.delete(uuids, withObjects: withObjects, description: description), objects, context)
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
        let query = SampleQuery(
            types: types, from: range.from, to: range.to,
            subject: try invocation.string("--person").map { try StoreAccess.subject($0, in: store) },
            source: invocation.string("--source"), device: invocation.string("--device"),
            where: try context.condition(for: types, zone: zone, in: store))
        let objects = try store.countOfObjects(namedBy: query)
        let withObjects = invocation.flag("--with-objects")
        if doIt {
            let done = try store.delete(matching: query, withObjects: withObjects, description: description)
            return report(done, objects, context)
        }
        let cursor = try store.samples(matching: query)
        var count = 0
        while try cursor.next() != nil { count += 1 }
        if withObjects { count += objects }
        context.note(
            "\(Readable.count(count)) samples would be deleted\(others(objects, goes: withObjects, context)); --yes does it")
        return .success
    }

    static func uuid(_ text: String, _ invocation: Invocation) throws -> SampleIdentity {
        guard let uuid = SampleIdentity(text) else {
            throw invocation.invalid("UUID", value: text, expected: "a sample's UUID, as 'query --format ndjson' prints it")
        }
        return uuid
    }

    /// The note on objects that belong to the deleted samples.
    private static func others(_ count: Int, goes: Bool, _ context: CommandContext) -> String {
        guard count > 0 else { return "" }
        let names = count == 1 ? "1 that belongs to them" : "\(Readable.count(count)) that belong to them"
        return goes
            ? ", among them \(names)" : "; \(names) \(count == 1 ? "stays" : "stay") (--with-objects deletes that as well)"
    }

    private static func report(
        _ result: (ingest: Int64, count: Int), _ objects: Int, _ context: CommandContext
    ) -> ExitCode {
        guard result.count > 0 else {
            context.note("no sample meets this; nothing is deleted")
            return .success
        }
        context.note(
            "\(Readable.count(result.count)) samples deleted\(others(objects, goes: context.invocation.flag("--with-objects"), context)) (this is ledger entry \(result.ingest); 'ledger undo \(result.ingest)' takes it back)"
        )
        return .success
    }
}

/// `restore`: restores deleted samples.
enum RestoreCommand: Command {
    static let specification = CommandSpecification(
        name: "restore", summary: "Bring deleted samples back.",
        discussion: """
            A correlation's samples and a workout's routes that were deleted with it come back with --with-objects; 'ledger undo' of the deletion \
            takes all of it back.
            """,
        arguments: [Argument(name: "UUID", help: "Deleted samples' UUIDs.", arity: .oneOrMore)],
        options: [Option(names: ["--with-objects"], help: "Bring back also what was deleted with them as theirs.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let uuids = try context.invocation.arguments("UUID").map { try DeleteCommand.uuid($0, context.invocation) }
        let store = try context.access().openForWriting(creating: false)
        let withObjects = context.invocation.flag("--with-objects")
        let objects = try store.countOfObjects(namedBy: uuids, deleted: true)
        let (ingest, count) = try store.restore(
            uuids, withObjects: withObjects,
            description: IngestDescription(kind: .restore, received: context.machine.now().microseconds))
        let left =
            objects > 0 && !withObjects
            ? "; \(Readable.count(objects)) deleted with them stay so (--with-objects brings them back)" : ""
        context.note("\(Readable.count(count)) samples restored\(left) (this is ledger entry \(ingest))")
        return .success
    }
}

/// `quarantine`: shows and decides quarantined samples.
enum QuarantineCommand: Command {
    private static let ids = [Argument(name: "N", help: "Numbers that 'quarantine list' shows.", arity: .oneOrMore)]

    static let specification = CommandSpecification(
        name: "quarantine", summary: "Show and judge samples that cannot be true.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List what is held, with the rule that holds it.",
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "show", summary: "Show one: the rule, what arrived, and the samples next to it in time.",
                arguments: [Argument(name: "N", help: "A number that 'quarantine list' shows.")],
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(name: "accept", summary: "Store held samples: they are right.", arguments: ids),
            CommandSpecification(name: "reject", summary: "Throw held samples out.", arguments: ids),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "list" { return try list(context) }
        if context.invocation.path.last == "show" { return try QuarantineReport(context).show() }
        let numbers = try context.invocation.arguments("N").map { text in
            guard let number = Int64(text), number > 0 else {
                throw context.invocation.invalid("N", value: text, expected: "a number")
            }
            return number
        }
        let store = try context.access().openForWriting(creating: false)
        let accepts = context.invocation.path.last == "accept"
        let description = IngestDescription(kind: accepts ? .accept : .reject, received: context.machine.now().microseconds)
        let (ingest, count) =
            accepts ? try store.accept(numbers, description: description) : try store.reject(numbers, description: description)
        context.note("\(Readable.count(count)) samples \(accepts ? "accepted" : "rejected") (this is ledger entry \(ingest))")
        return .success
    }

    private static func list(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let held = try store.quarantined()
        if context.format == .ndjson {
            let output = context.streams.output
            let line = SampleLine(me: store.subject)
            for entry in held {
                var sample: [UInt8] = []
                line.append(entry.stored.sample, ingest: entry.stored.ingest, seq: nil, to: &sample)
                var object = JSONObject()
                object.set("quarantine", Int(entry.id))
                object.set("rule", entry.rule)
                object.set("place", entry.place)
                object.set("sample", raw: Array(sample.dropLast()))
                try output.write(object.line)
            }
            return .success
        }
        let times = try context.times()
        let rows = held.map { entry in
            let sample = entry.stored.sample
            return [
                "\(entry.id)", times.start(of: sample),
                sample.origin.type.id,
                Readable.number(sample.value), sample.origin.type.canonicalUnit.code, entry.rule, "\(entry.stored.ingest)",
                entry.place,
            ]
        }
        let header = ["n", "start", "type", "value", "unit", "rule", "ingest", "place"]
        try TableOutput(context: context).write(header: header, rows: rows)
        return .success
    }
}
