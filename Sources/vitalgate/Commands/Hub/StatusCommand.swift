import CommandLineKit
import Gateway
import HealthModel
import SampleStore

/// `status`: the state of the hub.
enum StatusCommand: Command {
    static let specification = CommandSpecification(
        name: "status", summary: "Show how the hub is doing: sources, devices, what came in today.",
        discussion: """
            Asks the hub of the store over its local socket: which sources run, or wait until when and why; when each device delivered \
            last, how often, since when it is silent, its battery; what the ledger counts since midnight. Values of readings are not \
            shown. Where no hub runs, it says so, shows what the store knows, and ends with status 69; with 75 where the hub does not \
            answer, and with 77 where you may not ask it (the socket is open to its group).
            """,
        options: [
            Option(
                names: ["--follow"],
                help: "Stay, and show each change: drawn anew on a terminal, else a line of NDJSON. Ctrl-C ends it."),
            SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate status", "Is everything there?"),
            Example("vitalgate status --follow", "Watch readings come in."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let follows = context.invocation.flag("--follow")
        if follows, context.format == .csv {
            throw context.invocation.invalid("--format", value: "csv", expected: "table or ndjson together with --follow")
        }
        let report = StatusReport(context: context, zone: try context.zone())
        let path = try context.configuration().store
        do {
            let (client, status) = try StatusClient.ask(store: path, machine: context.machine, follows: follows)
            guard follows else {
                try report.write(status)
                return .success
            }
            let view = StatusView(context: context, report: report, client: client)
            return try withExtendedLifetime(view) { try view.run(from: status) }
        } catch let failure as StatusClient.Failure {
            return try explain(failure, path, report, context)
        }
    }

    private static func explain(
        _ failure: StatusClient.Failure, _ path: String, _ report: StatusReport, _ context: CommandContext
    ) throws -> ExitCode {
        switch failure {
        case .noHub:
            context.note("vitalgate: no hub runs on \(path): 'vitalgate run' starts one")
            let store = try context.openForReading()
            try report.write(try HubStatus(of: store, zone: report.zone, at: context.machine.now()))
            return .unavailable
        case .notPermitted(let socket):
            context.note("vitalgate: you may not ask the hub: \(socket) is open to its user and group only")
            return .noPermission
        case .noAnswer(let reason):
            // The reason may contain text from the other process.
            context.note("vitalgate: the hub gives no answer: \(TerminalText.sanitized(reason))")
            return .tryAgain
        case .ended:
            context.note("vitalgate: the hub has ended")
            return .unavailable
        }
    }
}
