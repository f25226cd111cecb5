import CommandLineKit
import Formats
import Glibc
import HealthModel
import Hub
import Ingestion

/// `update`: newer versions of the Debian package, with a way back.
enum UpdateCommand: Command {
    static let specification = CommandSpecification(
        name: "update", summary: "Update the Debian package, and return if the new version fails.",
        discussion: """
            An update installs the newer version of apt's repository and tests it: the service runs, the store is intact, the \
            profiles can be read, and the sources that ran before run again. If the test fails, the old version is installed \
            again within a minute, and readings are kept. 'vitalgate status' and 'vitalgate doctor' show why.

            The key 'update' of the configuration checks for a newer version each night, and can also apply it. Both are off by \
            default.
            """,
        subcommands: [
            CommandSpecification(
                name: "status", summary: "Show the versions, the last check and the last update.",
                options: [Format.option, Format.safe, SharedOptions.timeZone]),
            CommandSpecification(
                name: "check", summary: "Ask the repository for a newer version.",
                discussion: "Runs 'apt-get update' and writes down the answer. It installs nothing."),
            CommandSpecification(
                name: "apply", summary: "Install the newer version, and return if it fails.",
                discussion: """
                    Run this command as root. It continues an update that was interrupted, for example by a power cut. The exit \
                    status is 75 if the old version was installed again or the update was not tried.
                    """,
                options: [Option(names: ["--yes"], help: "Do not ask for confirmation.")],
                examples: [Example("sudo vitalgate update apply", "Update this machine.")]),
            CommandSpecification(
                name: "nightly", summary: "Check and apply as configured (the timer uses this).", isHidden: true),
            CommandSpecification(
                name: "resume", summary: "Continue an interrupted update (the service manager uses this).", isHidden: true),
            CommandSpecification(
                name: "self-test", summary: "Test the installed version (the update uses this).",
                options: [
                    Option(names: ["--running"], value: "NAME", help: "A source that has to run.", repeating: true)
                ], isHidden: true),
            CommandSpecification(
                name: "carry", summary: "Print the samples that arrived after a copy (the update uses this).",
                options: [
                    Option(names: ["--after"], value: "N", help: "The last change in the copy."),
                    Option(names: ["--quarantined"], value: "N", help: "The quarantined readings in the copy."),
                    Option(names: ["--erasures"], value: "N", help: "The erased people in the copy."),
                ], isHidden: true),
            CommandSpecification(
                name: "recover", summary: "Import the samples that arrived after a copy (the update uses this).",
                arguments: ImportCommand.specification.arguments, options: ImportCommand.specification.options, isHidden: true),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "status": return try status(context)
        case "self-test": return try UpdateSelfTest(context).run()
        case "carry": return try UpdateCarry(context).run()
        case "recover": return try ImportCommand.run(context, isRecovery: true)
        default: break
        }
        guard geteuid() == 0 else {
            context.note("vitalgate: only root can update the package (use sudo)")
            return .noPermission
        }
        do {
            switch context.invocation.path.last {
            case "check": return try check(context)
            case "resume": return try resume(context)
            case "nightly": return try nightly(context)
            default: return try apply(context)
            }
        } catch let failure as UpdateFailure {
            context.streams.note("vitalgate: \(TerminalText.sanitized(failure.description))", priority: .error)
            return failure.isStopped ? .tryAgain : .unavailable
        }
    }

    // MARK: For people

    private static func status(_ context: CommandContext) throws -> ExitCode {
        let state = UpdateState(in: UpdateState.folder) ?? UpdateState()
        guard context.format == .table else {
            try context.write([state], StatusReport.fields(state).map { field in Field(field.key) { _ in field.value } })
            return .success
        }
        let zone = try context.zone()
        func local(_ time: Instant) -> String { String(Readable.local(time, at: zone.offset(at: time)).prefix(16)) }
        var rows: [(String, String)] = [
            ("installed", state.installed ?? Program.version),
            ("available", state.available ?? (state.checked == nil ? "unknown" : "no newer version")),
            ("checked", state.checked.map(local) ?? "never (sudo vitalgate update check)"),
        ]
        if let failure = state.failure { rows.append(("failed", failure)) }
        if let last = state.last {
            let words = last.outcome == .applied ? "updated from \(last.from) to \(last.to)" : state.trouble ?? ""
            rows.append(("last", "\(local(last.time)), \(words)"))
        }
        if let store = try? context.configuration().store {
            rows += UpdateStore.retained(besides: store).map { ("kept", "\($0) has readings that only an undone update stored") }
        }
        for (name, text) in rows {
            let label = name + String(repeating: " ", count: 11 - name.count)
            try context.streams.output.write("\(label)\(TerminalText.sanitized(text))\n")
        }
        return .success
    }

    private static func check(_ context: CommandContext) throws -> ExitCode {
        let version = try updateRun(context).check()
        try context.streams.output.write(version.map { "\($0) is available\n" } ?? "there is no newer version\n")
        return .success
    }

    private static func apply(_ context: CommandContext) throws -> ExitCode {
        try continueWithRetainedProgram(context)
        let run = try updateRun(context)
        if let attempt = try run.resume() { return report(attempt, context) }
        guard let version = try run.check() else {
            context.note("vitalgate: there is no newer version")
            return .success
        }
        context.note(
            "vitalgate: this installs \(version). The hub restarts, and the old version returns if the new one fails.")
        guard try context.isConfirmed() else { return .success }
        return report(try run.apply(), context)
    }

    private static func report(_ attempt: UpdateState.Attempt?, _ context: CommandContext) -> ExitCode {
        guard let attempt else { return .success }
        guard attempt.outcome != .applied else {
            context.note("vitalgate: updated from \(attempt.from) to \(attempt.to)")
            return .success
        }
        let words = (UpdateState(in: UpdateState.folder) ?? UpdateState()).trouble ?? attempt.reason ?? ""
        context.streams.note("vitalgate: \(TerminalText.sanitized(words))", priority: .warning)
        return attempt.outcome == .failed ? .ioError : .tryAgain
    }

    // MARK: For the service manager

    private static func resume(_ context: CommandContext) throws -> ExitCode {
        try continueWithRetainedProgram(context)
        return report(try updateRun(context).resume(), context)
    }

    private static func nightly(_ context: CommandContext) throws -> ExitCode {
        if UpdateRun.isInterrupted() { return try resume(context) }
        let settings = try context.configuration().update
        guard settings.checks else { return .success }
        let run = try updateRun(context)
        guard let version = try run.check(), settings.applies else { return .success }
        // A version that failed once would fail again each night.
        if let last = UpdateState(in: UpdateState.folder)?.last, last.outcome == .returned, last.to == version {
            context.inform("\(version) was tried before and undone, it is not tried again by itself")
            return .success
        }
        return report(try run.apply(), context)
    }

    /// An update is continued by the version that began it, because the new one may not work, and may have changed the store.
    private static func continueWithRetainedProgram(_ context: CommandContext) throws {
        let retained = UpdateRun.retainedProgram()
        guard UpdateRun.isInterrupted(), ProfileFolders.executable() != retained, access(retained, X_OK) == 0 else { return }
        var words: [UnsafeMutablePointer<CChar>?] = (["vitalgate"] + CommandLine.arguments.dropFirst()).map { strdup($0) } + [nil]
        execv(retained, &words)
    }

    private static let installed = "/usr/bin/vitalgate"

    private static func updateRun(_ context: CommandContext) throws -> UpdateRun {
        UpdateSignals.watch()
        let configuration = try context.configuration()
        return UpdateRun(
            access: StoreAccess(configuration: configuration, machine: context.machine),
            program: [installed] + (configuration.file.map { ["--config", $0] } ?? []),
            isStopAsked: { UpdateSignals.isStopAsked }, report: { context.inform($0) })
    }
}

/// Signals stop an update before the installation, and are ignored after it, when stopping would leave the machine between two versions.
private enum UpdateSignals {
    // The signal handler writes this with a plain store. The only thread reads it.
    private nonisolated(unsafe) static var stop: sig_atomic_t = 0
    static var isStopAsked: Bool { stop != 0 }

    static func watch() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in UpdateSignals.stop = 1 }
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaction(number, &action, nil) }
    }
}
