import CommandLineKit
import EventLoopKit
import ExportEngine
import Formats
import HealthModel
import Hub
import Pipeline
import SampleStore

/// `targets`: the targets that the store is exported to.
enum TargetsCommand: Command {
    private static let target = Argument(
        name: "TARGET", help: "Name of a target.", completion: .targets)
    private static let uuids = Argument(name: "UUID", help: "UUIDs of set-aside samples (default: all).", arity: .any)

    static let specification = CommandSpecification(
        name: "targets", summary: "Show and manage the systems that receive your samples.",
        discussion: """
            A target is another system, or a folder of files, to which Vitalgate sends your samples and their later changes. You \
            define each target in the configuration, with its kind, its location and the types of samples that it receives:

              targets: { archive: { kind: "files", folder: "/srv/vitalgate/archive", types: ["heartRate"] } }

            'targets add' writes such an entry for you. The kinds are \
            \(ExporterKind.allCases.map(\.rawValue).joined(separator: ", ")) \
            (see docs/how-to/export.md). A running hub keeps all targets up to date. If a target is down, its changes wait in the \
            store, and nothing is lost. If a target rejects a sample, that sample is set aside with the error message, and the \
            others are delivered.
            """,
        subcommands: [
            TargetEditing.addition,
            TargetEditing.removal,
            CommandSpecification(
                name: "list", summary: "List the targets in the configuration.",
                options: [Option(names: ["--names"], help: "Print only the names, one per line."), Format.option, Format.safe]),
            CommandSpecification(
                name: "status", summary: "Show deliveries, waiting changes and errors of targets.",
                discussion: """
                    If you name a TARGET, the command also lists its set-aside samples, which are the samples that it rejected.
                    """,
                arguments: [Argument(name: "TARGET", help: "Name of a target (default: all).", arity: .optional)],
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "check", summary: "Check whether a target accepts data.",
                discussion:
                    """
                    Tests a delivery as far as the target allows it. The command writes a test reading to the target, reads it \
                    back and deletes it. The exit status is 69 if the target does not accept the reading.
                    """,
                arguments: [target],
                options: [
                    Option(names: ["--create"], help: "Create missing parts, such as a database's tables."), Format.option,
                    Format.safe,
                ], examples: [Example("vitalgate targets check archive", "Test the connection and the permissions.")]),
            CommandSpecification(
                name: "retry", summary: "Resume a stopped target and send its set-aside samples again.",
                arguments: [target, uuids]),
            CommandSpecification(
                name: "skip", summary: "Give up on set-aside samples and do not send them again.", arguments: [target, uuids]),
            CommandSpecification(
                name: "verify", summary: "Compare a target with the store and correct the differences.",
                discussion: """
                    Compares the samples in the target with those in the store, by UUID and, if the target supports it, by \
                    content. The command sends missing samples, replaces samples that differ, and deletes samples that were \
                    deleted in the store. Later deliveries continue from this state. Samples that this store never had, such as \
                    those of another hub, are counted and left unchanged.

                    Use the command after you change the target's settings or the selection of its samples, after you move it to \
                    another database or folder, or after you restore the target or the store from a backup.
                    """, arguments: [target],
                options: [
                    Option(names: ["--dry-run"], help: "Compare without changing anything."),
                    Option(
                        names: ["--days"],
                        help: "With --dry-run and a target of the kind 'fleet', also list the types and days whose counts differ."
                    ),
                    SharedOptions.timeZone, Format.option, Format.safe,
                ]),
            CommandSpecification(
                name: "restart", summary: "Send everything to a target again.",
                discussion:
                    """
                    Use this command if 'vitalgate targets verify' does not support the target, or after you change the target's \
                    settings. Most targets recognize each sample by its UUID and keep it only once. A folder of files gets all \
                    lines a second time, so empty it first. If the target is no longer in the configuration, the command instead removes what the \
                    store remembers about it.
                    """,
                arguments: [target]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "add": return try TargetEditing(context).add()
        case "remove": try TargetEditing(context).remove()
        case "list": try list(context)
        case "status": try TargetReport(context: context).write(named: context.invocation.argument("TARGET"))
        case "check": return try check(context)
        case "retry": try retry(context)
        case "skip": try skip(context)
        case "verify": return try verify(context)
        default: try restart(context)
        }
        return .success
    }

    private static func named(_ context: CommandContext) throws -> TargetConfiguration {
        try context.becomeStoreOwner()
        return try context.target(context.invocation.argument("TARGET") ?? "")
    }

    private static func list(_ context: CommandContext) throws {
        let targets = try context.configuration().targets
        if context.invocation.flag("--names") {
            for target in targets { try context.streams.output.write(target.name + "\n") }
            return
        }
        try context.write(targets, [Field("name") { $0.name }, Field("kind") { $0.kind.rawValue }])
        if context.format == .ndjson { return }
        if targets.isEmpty { context.note("the configuration defines no targets (see 'vitalgate targets --help')") }
    }

    private static func check(_ context: CommandContext) throws -> ExitCode {
        let target = try named(context)
        let store = try context.openForReading()
        return try context.check(target, store) ? .success : .unavailable
    }

    private static func samples(_ context: CommandContext) throws -> [SampleIdentity] {
        try context.invocation.arguments("UUID").map {
            guard let uuid = SampleIdentity($0) else {
                throw context.invocation.invalid("UUID", value: $0, expected: "a sample's UUID")
            }
            return uuid
        }
    }

    private static func retry(_ context: CommandContext) throws {
        let target = try named(context)
        let uuids = try samples(context)
        let store = try context.access().openForWriting(creating: false)
        let count = try TargetLock(store: store.path, target: target.name).withLock {
            if var known = try store.targets.target(target.name), known.state != .delivering {
                (known.state, known.words) = (.delivering, nil)
                try store.targets.save(known)
            }
            return try store.targets.retry(uuids, of: target.name)
        }
        context.note("\(target.name): resumed, \(Readable.count(count, "set-aside sample")) will be sent again")
    }

    private static func skip(_ context: CommandContext) throws {
        let target = try named(context)
        let uuids = try samples(context)
        let store = try context.access().openForWriting(creating: false)
        let count = try store.targets.skip(uuids, of: target.name)
        context.note("\(target.name): \(Readable.count(count, "set-aside sample")) will not be sent")
    }

    private static func verify(_ context: CommandContext) throws -> ExitCode {
        let target = try named(context)
        let store = try context.access().openForWriting(creating: false)
        let (settings, exporter) = try context.assemble(target, store)
        if let exporter = exporter as? any HourComparingExporter {
            return try verifyHours(
                HourComparison(settings, exporter: exporter, store: store, now: context.machine.now), exporter, context)
        }
        guard let exporter = exporter as? any ComparableExporter else {
            throw context.invocation.invalid(
                "TARGET", value: target.name,
                expected:
                    "a target that can list its samples (for the kind '\(target.kind.rawValue)', use 'vitalgate targets restart')"
            )
        }
        let comparison = TargetComparison(
            settings, exporter: exporter, store: store, now: context.machine.now, isClockSet: { ClockSteps.isSynchronised })
        let isDry = context.invocation.flag("--dry-run")
        let counter = try dayCounter(exporter, context)
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        defer { try? exporter.finish() }
        let (differences, refused): (TargetDifferences, Int)
        var days: [DayDifference]?
        do {
            if let counter {
                let zone = try context.zone()
                let compared = try comparison.compare(counting: counter, zone: zone.identifier) {
                    String(Readable.local($0, at: zone.offset(at: $0)).prefix(10))
                }
                (differences, days, refused) = (compared.differences, compared.days, 0)
            } else {
                (differences, refused) =
                    isDry
                    ? (try comparison.compare(), 0)
                    : try comparison.repair { progress.update("\(Readable.count($0, "difference")) fixed") }
            }
        } catch let error as DeliveryError {
            progress.finish()
            context.warn("\(target.name): \(TerminalText.sanitized(error.reason))")
            return error.kind == .unfit || error.isAboutAccess ? .unavailable : .tryAgain
        }
        progress.finish()
        try VerifyReport(context: context, differences: differences, refused: refused, days: days).write()
        return refused > 0 || (isDry && differences.count > 0) ? .dataError : .success
    }

    /// Compares a target that has hours instead of samples.
    private static func verifyHours(
        _ comparison: HourComparison, _ exporter: any HourComparingExporter, _ context: CommandContext
    ) throws -> ExitCode {
        let name = context.invocation.argument("TARGET") ?? ""
        let isDry = context.invocation.flag("--dry-run")
        guard !context.invocation.flag("--days") else {
            throw context.invocation.invalid("--days", value: name, expected: "a target of the kind 'fleet'")
        }
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        defer { try? exporter.finish() }
        let hours: HourDifferences
        do {
            hours = try comparison.compare(mends: !isDry) {
                progress.update("\(Readable.count($0, "difference")) \(isDry ? "found" : "fixed")")
            }
        } catch let error as DeliveryError {
            progress.finish()
            context.warn("\(name): \(TerminalText.sanitized(error.reason))")
            return error.kind == .unfit || error.isAboutAccess ? .unavailable : .tryAgain
        }
        progress.finish()
        let differences = TargetDifferences(
            equal: hours.equal, missing: hours.missing, differing: hours.differing, surplus: hours.surplus, foreign: hours.foreign
        )
        try VerifyReport(context: context, differences: differences, refused: 0, days: nil).write()
        return isDry && hours.count > 0 ? .dataError : .success
    }

    /// The exporter that counts by type and day, if this was asked for.
    private static func dayCounter(_ exporter: any ComparableExporter, _ context: CommandContext) throws -> (
        any DayCountingExporter
    )? {
        guard context.invocation.flag("--days") else { return nil }
        guard let counter = exporter as? any DayCountingExporter, context.invocation.flag("--dry-run") else {
            throw context.invocation.invalid(
                "--days", value: context.invocation.argument("TARGET") ?? "",
                expected: "--dry-run and a target of the kind 'fleet'")
        }
        return counter
    }

    private static func restart(_ context: CommandContext) throws {
        let name = context.invocation.argument("TARGET") ?? ""
        try context.becomeStoreOwner()
        let store = try context.access().openForWriting(creating: false)
        guard let target = try context.configuration().targets.first(where: { $0.name == name }) else {
            // A target that is no longer in the configuration can also be forgotten.
            if try store.targets.target(name) == nil { _ = try context.target(name) }
            try TargetLock(store: store.path, target: name).withLock { try store.targets.forget(target: name) }
            return context.note("\(name) is forgotten, since it is no longer configured")
        }
        let (settings, exporter) = try context.assemble(target, store)
        try TargetLock(store: store.path, target: name).withLock {
            try store.targets.restart(
                target: name, isOrdered: exporter.isOrdered, filter: settings.filterText, at: context.machine.now())
        }
        let isTwice = target.kind == .files
        context.note(
            "\(name): everything will be sent again"
                + (isTwice ? ", and its folder gets each line a second time if it is not empty" : ""))
    }
}
