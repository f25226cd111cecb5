import CommandLineKit
import EventLoopKit
import ExportEngine
import Formats
import Gateway
import HealthModel
import Pipeline
import SampleStore

/// `targets`: the targets that the store is exported to.
enum TargetsCommand: Command {
    private static let target = Argument(
        name: "TARGET", help: "A target of the configuration.", completion: .command("vitalgate targets list --names"))
    private static let uuids = Argument(name: "UUID", help: "Samples that it has set aside; all without one.", arity: .any)

    static let specification = CommandSpecification(
        name: "targets", summary: "See how the stores are doing that this one feeds.",
        discussion: """
            The configuration names targets, each with its kind, where it is, and what goes there:

              targets: { archive: { kind: "files", folder: "/srv/vitalgate/archive", types: ["heartRate"] } }

            Kinds are \(ExporterKind.allCases.map(\.rawValue).joined(separator: ", ")); docs/export.md tells of each. The hub keeps all of them up to date. The store is \
            what waits for a target that is down: there is no second queue, and nothing is thrown away. What a target does not take is set aside with the target's words, \
            and the rest goes on.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the configuration's targets.",
                options: [Option(names: ["--names"], help: "Only their names, one a line."), Format.option, Format.safe]),
            CommandSpecification(
                name: "status", summary: "Show what targets have, what waits, what they said.",
                discussion: "With a TARGET, what it has set aside is listed, too.",
                arguments: [Argument(name: "TARGET", help: "A target; all of them without it.", arity: .optional)],
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "check", summary: "Look whether a target can be delivered to.",
                discussion:
                    "Does what a delivery does, where the target allows it: writes a reading that nobody made, reads it and takes it back. Exit status 69 where nothing could be delivered now.",
                arguments: [target],
                options: [
                    Option(names: ["--create"], help: "Make what is missing there, such as a database's tables."), Format.option,
                    Format.safe,
                ], examples: [Example("vitalgate targets check archive", "Can it be reached, and are we let in?")]),
            CommandSpecification(
                name: "retry", summary: "Ask a stopped target again, and tell what was set aside.",
                arguments: [target, uuids]),
            CommandSpecification(
                name: "skip", summary: "Give up what a target has set aside.", arguments: [target, uuids]),
            CommandSpecification(
                name: "verify", summary: "Compare a target with the store, and mend what differs.",
                discussion: """
                    They are compared by UUID and, where the target can say it, by content. What the target lacks is delivered, what has other content is written anew, what is deleted here is deleted there, and it \
                    goes on from here: after its filter or its settings changed, where it is another database or folder than the one that was filled, or after the target or the store was put back from a backup. What \
                    this store never had, such as another hub's samples, is counted and left alone.
                    """, arguments: [target],
                options: [Option(names: ["--dry-run"], help: "Only compare."), Format.option, Format.safe]),
            CommandSpecification(
                name: "restart", summary: "Tell a target everything again, from the beginning.",
                discussion:
                    "For a target that cannot be asked what it has, or whose settings have changed: what is there is written anew. One that goes by UUIDs has each sample once all the same; a folder of files gets new lines.",
                arguments: [target]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
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
        try context.target(context.invocation.argument("TARGET") ?? "")
    }

    private static func list(_ context: CommandContext) throws {
        let targets = try context.configuration().targets
        if context.invocation.flag("--names") {
            for target in targets { try context.streams.output.write(target.name + "\n") }
            return
        }
        if context.format == .ndjson {
            for target in targets {
                var object = JSONObject()
                object.set("name", target.name)
                object.set("kind", target.kind.rawValue)
                try context.streams.output.write(object.line)
            }
            return
        }
        try TableOutput(context: context).write(header: ["name", "kind"], rows: targets.map { [$0.name, $0.kind.rawValue] })
        if targets.isEmpty { context.note("the configuration names no targets; 'vitalgate targets --help' shows how") }
    }

    private static func check(_ context: CommandContext) throws -> ExitCode {
        let target = try named(context)
        let store = try context.openForReading()
        let (_, exporter) = try context.assemble(target, store)
        var findings: [Finding] = []
        do throws(DeliveryError) {
            if context.invocation.flag("--create") { findings += try exporter.create() }
            findings += try exporter.check()
        } catch {
            findings.append(Finding(.broken, target.name, TerminalText.sanitized(error.reason)))
        }
        try? exporter.finish()
        try FindingReport(context: context).write(findings)
        return findings.contains { $0.weight == .broken } ? .unavailable : .success
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
        let count = try TargetLock(store: store.path, target: target.name).holding {
            if var known = try store.target(target.name), known.state != .delivering {
                (known.state, known.words) = (.delivering, nil)
                try store.save(known)
            }
            return try store.retry(uuids, of: target.name)
        }
        context.note("\(target.name) is asked again, and told \(Readable.count(count, "sample")) that it had set aside")
    }

    private static func skip(_ context: CommandContext) throws {
        let target = try named(context)
        let uuids = try samples(context)
        let store = try context.access().openForWriting(creating: false)
        let count = try store.skip(uuids, of: target.name)
        context.note("\(target.name) does without \(Readable.count(count, "sample")) that it had set aside")
    }

    private static func verify(_ context: CommandContext) throws -> ExitCode {
        let target = try named(context)
        let store = try context.access().openForWriting(creating: false)
        let (settings, exporter) = try context.assemble(target, store)
        guard let exporter = exporter as? any ComparableExporter else {
            throw context.invocation.invalid(
                "TARGET", value: target.name,
                expected:
                    "one that can be asked what it has; '\(target.kind.rawValue)' cannot: 'vitalgate targets restart' tells it everything again"
            )
        }
        let comparison = TargetComparison(
            settings, exporter: exporter, store: store, now: context.machine.now, isClockSet: { ClockSteps.isSynchronised })
        let isDry = context.invocation.flag("--dry-run")
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        defer { try? exporter.finish() }
        let (differences, refused): (TargetDifferences, Int)
        do {
            (differences, refused) =
                isDry
                ? (try comparison.compare(), 0)
                : try comparison.repair { progress.update("\(Readable.count($0, "difference")) mended") }
        } catch let error as DeliveryError {
            progress.finish()
            context.warn("\(target.name): \(TerminalText.sanitized(error.reason))")
            return error.kind == .unfit || error.isAboutAccess ? .unavailable : .tryAgain
        }
        progress.finish()
        try write(differences, refused, context)
        return refused > 0 || (isDry && differences.count > 0) ? .dataError : .success
    }

    private static func write(_ differences: TargetDifferences, _ refused: Int, _ context: CommandContext) throws {
        let counts = [
            ("equal", differences.equal), ("missing", differences.missing), ("differing", differences.differing),
            ("surplus", differences.surplus),
            ("foreign", differences.foreign), ("setAside", refused),
        ]
        if context.format == .ndjson {
            var object = JSONObject()
            for (name, count) in counts { object.set(name, count) }
            return try context.streams.output.write(object.line)
        }
        try TableOutput(context: context).write(header: counts.map(\.0), rows: [counts.map { "\($0.1)" }])
    }

    private static func restart(_ context: CommandContext) throws {
        let name = context.invocation.argument("TARGET") ?? ""
        let store = try context.access().openForWriting(creating: false)
        guard let target = try context.configuration().targets.first(where: { $0.name == name }) else {
            // A target that is no longer in the configuration can also be forgotten.
            if try store.target(name) == nil { _ = try context.target(name) }
            try TargetLock(store: store.path, target: name).holding { try store.forget(target: name) }
            return context.note("\(name) is forgotten")
        }
        let (settings, exporter) = try context.assemble(target, store)
        try TargetLock(store: store.path, target: name).holding {
            try store.restart(
                target: name, isOrdered: exporter.isOrdered, filter: settings.filterText, at: context.machine.now())
        }
        context.note("\(name) is told everything again")
    }
}
