import CommandLineKit
import EventLoopKit
import Gateway
import HTTPServerKit
import HealthAPI

/// `api`: samples over HTTP.
enum APICommand: Command {
    static let specification = CommandSpecification(
        name: "api", summary: "Give samples to other programs over HTTP.",
        subcommands: [
            CommandSpecification(
                name: "serve", summary: "Serve the store until stopped.",
                discussion: """
                    Listens where the configuration's api.listen says, and nowhere else. The hub ('vitalgate run') serves by itself where that is \
                    configured; this is for a machine without one. Nobody is answered without a client's token, but for /openapi.json. The log \
                    holds no requests. SIGINT and SIGTERM stop it.
                    """,
                options: [SharedOptions.timeZone],
                examples: [Example("vitalgate api serve", "Serve until it is stopped.")]),
            CommandSpecification(
                name: "openapi", summary: "Print what can be asked, as an OpenAPI 3.1 document.",
                examples: [Example("vitalgate api openapi > vitalgate.json", "For a program that makes clients of it.")]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        guard context.invocation.path.last == "serve" else {
            try context.streams.output.write(HTTPDocument.json)
            return .success
        }
        guard let settings = try ServiceSettings.configured(context) else {
            context.note("vitalgate: nothing is served: the configuration says nothing of api.listen (see docs/api.md)")
            return .configuration
        }
        _ = try context.openForReading()
        let loop = EventLoop(clock: MachineClock(context.machine))
        loop.onBell = { [unowned loop] in if HubSignals.isStopAsked { loop.stop() } }
        HubSignals.watch(loop.alarm)
        let service = try HealthService(settings)
        context.inform("api: listens at \(service.address)")
        if !HubSignals.isStopAsked { loop.run() }
        service.stop()
        return .success
    }
}
