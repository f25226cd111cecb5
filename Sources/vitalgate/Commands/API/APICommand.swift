import CommandLineKit
import EventLoopKit
import Glibc
import HTTPServerKit
import HealthAPI
import HealthPage
import HealthServing
import Hub

/// `api`: serves samples over HTTP.
enum APICommand: Command {
    static let specification = CommandSpecification(
        name: "api", summary: "Serve samples over HTTP to other programs (clients).",
        subcommands: [
            CommandSpecification(
                name: "serve", summary: "Serve the store over HTTP until stopped.",
                discussion: """
                    Listens at the address that 'api.listen' in the configuration sets. If this is set, a running hub \
                    ('vitalgate run') already serves the API, so you need this command only on a machine without a hub. Every \
                    request except /openapi.json needs the token of a client (see 'vitalgate clients'). If 'metrics.listen' is \
                    set, the command also serves the metrics of the hub for Prometheus (see docs/how-to/metrics.md). Requests \
                    are not logged. SIGINT or SIGTERM stops the server.
                    """,
                options: [
                    SharedOptions.timeZone,
                    Option(
                        names: ["--inbox"], value: "FOLDER",
                        help: "Folder for files that are uploaded on the web page (default: 'hub.inbox' in the configuration)."),
                    SharedOptions.untilEOF,
                ],
                examples: [Example("vitalgate api serve", "Serve the API until Ctrl-C.")]),
            CommandSpecification(
                name: "openapi", summary: "Print the API as an OpenAPI 3.1 document.",
                examples: [
                    Example(
                        "vitalgate api openapi > vitalgate.json",
                        "Save the description, for example to generate a client from it.")
                ]),
            CertificateCommand.specification,
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "certificate" { return try CertificateCommand(context).run() }
        guard context.invocation.path.last == "serve" else {
            try context.streams.output.write(HTTPDocument.json)
            return .success
        }
        var settings = try ServiceSettings.configured(context)
        let configuration = try context.configuration()
        guard settings != nil || configuration.metrics != nil else {
            context.note(
                "vitalgate: cannot serve: neither 'api.listen' nor 'metrics.listen' is configured (see docs/reference/http-api.md)"
            )
            return .configuration
        }
        _ = try context.openForReading()
        let loop = EventLoop(clock: MachineClock(context.machine))
        loop.onBell = { [unowned loop] in if HubSignals.isStopAsked { loop.stop() } }
        HubSignals.watch(loop.alarm)
        let isSupervised = context.invocation.flag("--until-eof")
        if isSupervised {
            // The hub has a process for it.
            settings?.checksAlerts = false
            loop.watch(STDIN_FILENO) { [unowned loop] _ in
                var bytes = [UInt8](repeating: 0, count: 64)
                if read(STDIN_FILENO, &bytes, bytes.count) <= 0 { loop.stop() }
            }
            // A hub that does not read its pipe must not block the service.
            _ = fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK)
            settings?.onWrongToken = { count in
                let line = "\(count)\n"
                _ = write(STDOUT_FILENO, line, line.utf8.count)
            }
            settings?.server.onRefusal = { counts in
                let lines = counts.map { "refused \($0.key.rawValue) \($0.value)\n" }.joined()
                _ = write(STDOUT_FILENO, lines, lines.utf8.count)
            }
        }
        let metrics = try MetricsServer.start(context)
        if let metrics { context.inform("metrics: listening at \(metrics.address)") }
        let page = try PageSettings.configured(context)
        let service = try settings.map { settings in
            try HealthService(settings) { core in (page.map { [PageSite(core, $0)] } ?? []) + [try APISite(core)] }
        }
        if let service { context.inform("api: listening at \(service.address)") }
        let now = context.machine.now()
        warn("api", configuration.api?.weaknesses(at: now), context)
        warn("metrics", configuration.metrics?.weaknesses(at: now), context)
        if !HubSignals.isStopAsked { loop.run() }
        metrics?.stop()
        service?.stop()
        return .success
    }

    private static func warn(_ server: String, _ weaknesses: [APIConfiguration.Weakness]?, _ context: CommandContext) {
        for weakness in weaknesses ?? [] {
            context.log(SourceNotice(weakness.isBroken ? .action : .warning, server, weakness.text), isVerbose: false)
        }
    }
}
