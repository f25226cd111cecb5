import CommandLineKit
import Glibc
import HealthModel
import Ingestion
import SampleStore

/// `repair`: repairs samples that were stored wrongly, and undoes repairs.
enum RepairCommand: Command {
    private static let number = Argument(name: "N", help: "Number of the repair.")

    static let specification = CommandSpecification(
        name: "repair", formerNames: ["migrate"], summary: "Repair samples with a wrong unit, time, person or type.",
        discussion: """
            A repair does not change a sample. It stores a corrected sample and deletes the wrong one. 'plan' shows the result \
            without changing anything. 'apply' repairs all selected samples or none. If you apply the same repair again, it \
            changes nothing. 'undo' restores the original samples.
            """,
        subcommands: [
            CommandSpecification(
                name: "plan", summary: "Show the result of a repair without applying it.",
                discussion: """
                    Select samples with conditions such as --type, --source and --from, and give one repair: --read-as, --scale, \
                    --shift, --move-zone, --assign or --set-type. Or give only --correction, which contains its own conditions \
                    and repair.

                    --read-as and --scale change a sample only if its value is implausible now and plausible after the repair. \
                    With --read-as '[degF]', for example, a temperature of 98.6 degrees Celsius is changed, and one of 37 \
                    degrees is not. A value that is plausible both before and after the repair, such as a weight of 154 in \
                    kilograms or pounds, is changed only if you use --ambiguous.
                    """, options: RepairOptions.all,
                examples: [
                    Example(
                        "vitalgate repair plan --type bodyTemperature --source Thermo --read-as '[degF]'",
                        "Read numbers as degrees Fahrenheit instead of Celsius."),
                    Example(
                        "vitalgate repair plan --type bodyFatPercentage --scale 0.01", "Change 3040 % to 30.40 %."),
                ]),
            CommandSpecification(
                name: "apply", summary: "Apply a repair to all selected samples, or to none if it fails.",
                discussion: """
                    If the store already has the correct version of a wrong reading, for example from a newer file, the repair \
                    only removes the wrong one. 'apply' first shows how many samples this affects and asks you to confirm. In a \
                    script without a terminal, use --merge to confirm. If a repair makes two selected readings equal, both are \
                    kept.
                    """, options: RepairOptions.all + [RepairOptions.merge],
                examples: [
                    Example(
                        "vitalgate repair apply --type bodyMass --device S-17 --from 2026-03-01 --read-as '[lb_av]' --ambiguous",
                        "Read all of a scale's weights since March as pounds."),
                    Example(
                        "vitalgate repair apply --source Cuff --person me --assign 7f9c0000-0000-4000-8000-000000000001",
                        "Assign your readings to another person."),
                ]),
            CommandSpecification(
                name: "undo", summary: "Undo a repair and restore the original samples.", arguments: [number]
            ),
            CommandSpecification(
                name: "suggest", summary: "Suggest repairs without changing anything.",
                discussion: """
                    Shows two kinds of repairs: readings that would fit far better in another unit, and corrections in profiles \
                    that you have not applied yet. Unusual values that are possible, such as a fever or a low blood glucose, are \
                    not suggested. Each suggestion comes with the 'vitalgate repair plan' command that previews it. If the \
                    readings may also belong to another person, the command prints both explanations with a command for each, \
                    and the more likely one comes first. 'vitalgate repair dismiss' declares readings right.
                    """,
                options: [SuspicionReport.dismissed, SharedOptions.timeZone, Format.option, Format.safe]),
            RepairDismissal.specification,
            CommandSpecification(
                name: "list", summary: "List applied repairs.",
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "show", summary: "Show one repair.", arguments: [number],
                options: [
                    Option(names: ["--pairs"], help: "List the UUID of each sample before and after the repair."),
                    SharedOptions.timeZone, Format.option, Format.safe,
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "plan": try plan(context)
        case "apply": try apply(context)
        case "undo": try undo(context)
        case "suggest": try SuspicionReport(context: context).run()
        case "dismiss": try RepairDismissal.run(context)
        case "list":
            let store = try context.openForReading()
            try RepairReport(context: context, me: store.owner).writeList(try store.repairs.all())
        default: try show(context)
        }
        return .success
    }

    private static func plan(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let request = try RepairOptions.request(context, store)
        let plan = try store.repairs.plan(request)
        try RepairReport(context: context, me: store.owner).write(plan, of: request, repairID: nil)
        guard context.format == .table, plan.repaired + plan.merged > 0 else { return }
        context.note(
            "nothing was changed. To repair, run 'vitalgate repair apply' with the same options"
                + (plan.merged == 0
                    ? "" : " and --merge (correct copies of \(Readable.count(plan.merged, "sample")) already exist)"))
    }

    private static func apply(_ context: CommandContext) throws {
        let store = try context.access().openForWriting(creating: false)
        var request = try RepairOptions.request(context, store)
        if context.invocation.flag("--merge") { request.merging = .atMost(.max) }
        let last = try store.lastChange()
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        func migrate() throws -> (plan: RepairPlan, repairID: Int64?) {
            defer { progress.finish() }
            return try store.repairs.apply(request, owner: ProcessIdentity.current()) {
                progress.update("\(Readable.count($0, "sample")) repaired")
            }
        }
        let (plan, repairID): (RepairPlan, Int64?)
        do {
            (plan, repairID) = try migrate()
        } catch let fewer as FewerReadings {
            guard isatty(STDIN_FILENO) == 1, allows(fewer.plan, context) else { throw fewer }
            request.merging = .atMost(fewer.plan.merged)
            (plan, repairID) = try migrate()
        }
        try store.checkpoint()
        try RepairReport(context: context, me: store.owner).write(plan, of: request, repairID: repairID)
        guard let repairID else {
            context.note("there is nothing to repair")
            return
        }
        context.note(
            (plan.merged == 0
                ? "\(Readable.count(plan.repaired, "sample")) repaired"
                : "\(Readable.count(plan.repaired, "sample")) repaired, \(Readable.count(plan.merged)) merged with existing copies")
                + " (this is repair \(repairID), "
                + "'vitalgate repair undo \(repairID)' reverts it)")
        if plan.joined > 0 {
            context.note(
                "\(Readable.count(plan.joined)) of them \(plan.joined == 1 ? "was" : "were") also reported over another path, and "
                    + "\(plan.joined == 1 ? "counts" : "count") once now")
        }
        try noteDuplicates(store, since: last, context)
    }

    /// Reports samples that repeat another path's sample because a repair or its undo moved them, and that could not be merged.
    private static func noteDuplicates(_ store: SampleStore, since last: Int64, _ context: CommandContext) throws {
        let count = try store.duplicates.duplicateCount(since: last)
        guard count > 0 else { return }
        context.note(
            "\(Readable.count(count)) of them \(count == 1 ? "is" : "are") also stored from another path, and counted twice: "
                + "'vitalgate store merge' shows \(count == 1 ? "it" : "them")")
    }

    /// Asks the user whether duplicates may be merged.
    private static func allows(_ plan: RepairPlan, _ context: CommandContext) -> Bool {
        context.note(
            "correct copies of \(Readable.count(plan.merged)) of \(Readable.count(plan.matched, "sample")) already exist. "
                + "The repair would remove \(Readable.count(plan.merged, "sample")). Continue (y/n)?")
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }

    private static func undo(_ context: CommandContext) throws {
        let store = try context.access().openForWriting(creating: false)
        let number = try context.number()
        let last = try store.lastChange()
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let (ingest, count) = try store.repairs.undo(
            number, at: context.machine.now(), owner: ProcessIdentity.current()
        ) { progress.update("\(Readable.count($0, "sample")) restored") }
        progress.finish()
        try store.checkpoint()
        context.note(
            "repair \(number) is undone: \(Readable.count(count, "sample")) restored (this is ledger entry \(ingest))")
        try noteDuplicates(store, since: last, context)
    }

    private static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let number = try context.number()
        guard let repairID = try store.repairs.repair(number) else { throw StoreError(.invalid, "there is no repair \(number)") }
        let report = try RepairReport(context: context, me: store.owner)
        guard context.invocation.flag("--pairs") else { return try report.write([repairID]) }
        try report.writePairs { body in try store.repairs.forEachPair(of: number, body) }
    }
}
