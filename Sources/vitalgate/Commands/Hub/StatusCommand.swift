import CommandLineKit
import HealthModel
import Hub
import SampleStore

/// `status`: the state of the hub.
enum StatusCommand: Command {
    static let specification = CommandSpecification(
        name: "status", summary: "Show the state of the hub, its devices and today's readings.",
        discussion: """
            Asks the running hub. For each source (Bluetooth, serial ports, inbox), the command shows the state. For each \
            device, it shows the last reading, the rate, the time since the last message, and the battery. Below, it shows how \
            many readings were stored since midnight. It never shows measured values. A note on standard error names each \
            receiver of alerts that cannot be reached, and each phone with the time of its last post.

            If no hub is running, the command shows the data in the store, and the exit status is 69. The exit status is 75 if \
            the hub does not answer, and 77 if you do not belong to the group that may ask the hub.
            """,
        options: [
            Option(
                names: ["--follow"],
                help: "Keep running and show each change (as NDJSON if the output is not a terminal)."),
            SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate status", "Show the current state."),
            Example("vitalgate status --follow", "Watch readings arrive."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let follows = context.invocation.flag("--follow")
        if follows, context.format == .csv {
            throw context.invocation.invalid("--format", value: "csv", expected: "table or ndjson with --follow")
        }
        let report = StatusReport(context: context, zone: try context.zone())
        let path = try context.configuration().store
        do {
            let (client, status) = try StatusClient.ask(store: path, machine: context.machine, follows: follows)
            guard follows else {
                try report.write(status)
                AlertReceiverReport(context: context).noteFailing()
                PhonesCommand.note(context)
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
            context.note("vitalgate: no hub runs on \(path) (start one with 'vitalgate run')")
            let store = try context.openForReading()
            try report.write(try HubStatus(of: store, zone: report.zone, at: context.machine.now()))
            AlertReceiverReport(context: context).noteFailing()
            PhonesCommand.note(context)
            return .unavailable
        case .notPermitted(let socket):
            context.note("vitalgate: no permission to ask the hub: \(socket) is open to its user and group only")
            return .noPermission
        case .noAnswer(let reason):
            // The reason may contain text from the other process.
            context.note("vitalgate: the hub does not answer: \(TerminalText.sanitized(reason))")
            return .tryAgain
        case .ended:
            context.note("vitalgate: the hub has stopped")
            return .unavailable
        }
    }
}
