import CommandLineKit
import Gateway
import Glibc
import HealthModel
import Ingestion
import SampleStore

/// `migrate`: repairs samples that were stored wrongly, and undoes repairs.
enum MigrateCommand: Command {
    private static let number = Argument(name: "N", help: "The migration's number.")

    static let specification = CommandSpecification(
        name: "migrate", summary: "Repair samples that have a wrong unit, time or name.",
        discussion: """
            A repair never changes a sample: it makes a new one and deletes the old one, which names the new. 'plan' shows what would be done and changes \
            nothing. 'apply' does it, whole or not at all; the same repair again finds nothing to do. 'undo' gives the very same samples back.
            """,
        subcommands: [
            CommandSpecification(
                name: "plan", summary: "Show what a repair would do.",
                discussion: """
                    A repair of values (--read-as, --scale) takes what is plausible only after the repair. What is plausible only as it is, is right already and \
                    stays; what could be either stays too, unless --ambiguous says that the conditions alone decide.
                    """, options: MigrateOptions.all,
                examples: [
                    Example(
                        "vitalgate migrate plan --type bodyTemperature --source Thermo --read-as '[degF]'",
                        "Degrees Fahrenheit that were taken for degrees Celsius."),
                    Example(
                        "vitalgate migrate plan --type bodyFatPercentage --scale 0.01", "3040 % that should be 30.40 %."),
                ]),
            CommandSpecification(
                name: "apply", summary: "Repair, in one step that is done whole or not begun.",
                discussion: """
                    A repair compares only with what stands outside itself: two readings that it makes equal stay two. Where a reading is there in the right form \
                    already, the wrong one makes way for it, and there is one reading fewer: 'apply' says how many, and asks, or wants --merge.
                    """, options: MigrateOptions.all + [MigrateOptions.merge],
                examples: [
                    Example(
                        "vitalgate migrate apply --type bodyMass --device S-17 --from 2026-03-01 --read-as '[lb_av]' --ambiguous",
                        "All of a scale's weights since March were pounds."),
                    Example(
                        "vitalgate migrate apply --source Cuff --subject me --assign 7f9c0000-0000-4000-8000-000000000001",
                        "Readings that were somebody else's."),
                ]),
            CommandSpecification(
                name: "undo", summary: "Take a repair back: the same samples as before, with the same UUIDs.", arguments: [number]
            ),
            CommandSpecification(
                name: "suggest", summary: "Look for what should be repaired. Nothing is changed.",
                discussion: """
                    Shows the corrections of device profiles that are not applied yet, and stretches of a series whose numbers fit a person's readings, or \
                    anybody's, far better in another unit. A fever or a hypo is no such stretch. Each comes with the command that shows what its repair would do. \
                    Readings that may also be another person's come with a command for each explanation, the more likely one first.
                    """, options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "list", summary: "List the repairs that were made.",
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "show", summary: "Show one repair; with --pairs also which sample became which.", arguments: [number],
                options: [
                    Option(names: ["--pairs"], help: "A line for each sample: its old UUID and its new one."),
                    SharedOptions.timeZone, Format.option, Format.safe,
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "plan": try plan(context)
        case "apply": try apply(context)
        case "undo": try undo(context)
        case "suggest": try SuspicionReport(context: context).run()
        case "list":
            let store = try context.openForReading()
            try MigrationReport(context: context, me: store.subject).writeList(try store.migrations())
        default: try show(context)
        }
        return .success
    }

    private static func plan(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let request = try MigrateOptions.request(context, store)
        let plan = try store.plan(request)
        try MigrationReport(context: context, me: store.subject).write(plan, of: request, migration: nil)
        guard context.format == .table, plan.repaired + plan.merged > 0 else { return }
        context.note(
            "nothing is changed; 'vitalgate migrate apply' with the same options does it"
                + (plan.merged == 0
                    ? "" : "; with --merge, since there would be \(Readable.count(plan.merged)) fewer"))
    }

    private static func apply(_ context: CommandContext) throws {
        let store = try context.access().openForWriting(creating: false)
        var request = try MigrateOptions.request(context, store)
        if context.invocation.flag("--merge") { request.merging = .atMost(.max) }
        let last = try store.lastChange()
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        func migrate() throws -> (plan: MigrationPlan, migration: Int64?) {
            defer { progress.finish() }
            return try store.migrate(request, owner: ProcessIdentity.current()) {
                progress.update("\(Readable.count($0, "sample")) repaired")
            }
        }
        let (plan, migration): (MigrationPlan, Int64?)
        do {
            (plan, migration) = try migrate()
        } catch let fewer as FewerReadings {
            guard isatty(STDIN_FILENO) == 1, allows(fewer.plan, context) else { throw fewer }
            request.merging = .atMost(fewer.plan.merged)
            (plan, migration) = try migrate()
        }
        try store.checkpoint()
        try MigrationReport(context: context, me: store.subject).write(plan, of: request, migration: migration)
        guard let migration else {
            context.note("there is nothing to repair; nothing is changed")
            return
        }
        context.note(
            (plan.merged == 0
                ? "\(Readable.count(plan.repaired, "sample")) repaired"
                : "\(Readable.count(plan.repaired, "sample")) repaired, \(Readable.count(plan.merged)) merged with what was there")
                + " (this is migration \(migration); "
                + "'vitalgate migrate undo \(migration)' takes it back)")
        try noteRetold(store, since: last, context)
    }

    /// Reports samples that became duplicates of another path's samples because a repair or its undo moved them.
    private static func noteRetold(_ store: SampleStore, since last: Int64, _ context: CommandContext) throws {
        let count = try store.retoldOverPaths(since: last)
        guard count > 0 else { return }
        context.note(
            "\(Readable.count(count)) of them \(count == 1 ? "is" : "are") told over another path as well, and counted twice: "
                + "'vitalgate store merge' shows \(count == 1 ? "it" : "them")")
    }

    /// Asks the user whether duplicates may be merged.
    private static func allows(_ plan: MigrationPlan, _ context: CommandContext) -> Bool {
        context.note(
            "the same reading as \(Readable.count(plan.merged)) of \(Readable.count(plan.matched)) is there in the right form already, so that there would be "
                + "\(Readable.count(plan.merged)) fewer. Go on (y/n)?")
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }

    private static func identifier(_ context: CommandContext) throws -> Int64 {
        Int64(try context.invocation.integer(argument: "N", in: 1...Int.max) ?? 0)
    }

    private static func undo(_ context: CommandContext) throws {
        let store = try context.access().openForWriting(creating: false)
        let number = try identifier(context)
        let last = try store.lastChange()
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let (ingest, count) = try store.undoMigration(
            number, at: context.machine.now(), owner: ProcessIdentity.current()
        ) { progress.update("\(Readable.count($0, "sample")) given back") }
        progress.finish()
        try store.checkpoint()
        context.note("migration \(number) is undone: \(Readable.count(count, "sample")) as before (this is ingest \(ingest))")
        try noteRetold(store, since: last, context)
    }

    private static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let number = try identifier(context)
        guard let migration = try store.migration(number) else { throw StoreError(.invalid, "there is no migration \(number)") }
        let report = try MigrationReport(context: context, me: store.subject)
        guard context.invocation.flag("--pairs") else { return try report.write([migration]) }
        try report.writePairs { body in try store.forEachPair(of: number, body) }
    }
}
