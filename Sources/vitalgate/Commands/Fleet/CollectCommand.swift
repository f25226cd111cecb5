import CommandLineKit
import EventLoopKit
import FleetCollector
import FleetExport
import Glibc
import HealthModel
import Hub
import NATSKit
import Pipeline
import PostgreSQLExport
import Synchronization

/// `collect`: writes the changes of a fleet's hubs into one database.
enum CollectCommand: Command {
    static let specification = CommandSpecification(
        name: "collect", summary: "Store the readings of many hubs in one PostgreSQL database.",
        discussion: """
            Answers the hubs of a fleet, which send their changes over a NATS broker (a target of the kind 'fleet'). A hub gets its \
            receipt after the database has committed. The settings are in 'collect' of the configuration. You can run any number \
            of collectors, on any machines. With 'collect.page', it also serves a page with a table of the hubs. SIGINT or SIGTERM stops \
            it.
            """,
        options: [
            Option(names: ["--create"], help: "Create the tables in the database, or update them, and exit."),
            Option(names: ["--check"], help: "Check the broker and the database, and exit."),
        ],
        examples: [
            Example("vitalgate collect --create", "Create the tables."),
            Example("vitalgate collect", "Collect until Ctrl-C."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        guard let settings = try context.configuration().collect else {
            context.note("vitalgate: 'collect' is not configured (see docs/how-to/fleet.md)")
            return .configuration
        }
        if context.invocation.flag("--create") { return try create(settings, context) }
        if context.invocation.flag("--check") { return try check(settings, context) }
        return try serve(settings, context)
    }

    /// An exporter that needs no store, for the work on the database itself.
    private static func database(_ settings: CollectorConfiguration, _ context: CommandContext) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            PostgreSQLSession(settings.database, creation: Collector.creation),
            context: try ExportContext(name: "collect", store: "check", me: Origin.unassigned, now: context.machine.now))
    }

    private static func create(_ settings: CollectorConfiguration, _ context: CommandContext) throws -> ExitCode {
        var findings = try database(settings, context).create() + FleetDatabase.create(settings.database)
        findings += try (settings.readers ?? DatabaseReaders()).create(settings.database)
        return try show(findings, context)
    }

    private static func check(_ settings: CollectorConfiguration, _ context: CommandContext) throws -> ExitCode {
        _ = try FleetCenter.opener(settings)
        let findings = try database(settings, context).check()
        _ = try FleetDatabase(settings.database)
        let broker = try settings.broker.broker(name: "vitalgate check")
        do throws(NATSError) { _ = try NATSConnection.signedIn(broker) } catch { throw DeliveryError(error) }
        return try show(findings + [Finding(.good, "broker", "reached, and it accepts our credentials")], context)
    }

    private static func show(_ findings: [Finding], _ context: CommandContext) throws -> ExitCode {
        for finding in findings {
            try context.streams.output.write("\(finding.weight.rawValue)  \(finding.component): \(finding.text)\n")
        }
        return findings.contains { $0.weight == .broken } ? .configuration : .success
    }

    /// Waits until a broker is reached. nats.c would wait without an end, and not notice a signal.
    ///
    /// - Returns: `false` if the program is to stop.
    private static func reach(_ broker: NATSSettings, _ context: CommandContext) throws -> Bool {
        var isLogged = false
        while !HubSignals.isStopAsked {
            do throws(NATSError) {
                _ = try NATSConnection.signedIn(broker)
                return true
            } catch {
                guard error.kind == .unreachable || error.kind == .timeout else { throw DeliveryError(error) }
                if !isLogged { context.warn("collect: waiting for a broker: \(error)") }
                isLogged = true
                usleep(1_000_000)
            }
        }
        return false
    }

    private static func serve(_ settings: CollectorConfiguration, _ context: CommandContext) throws -> ExitCode {
        let loop = EventLoop(clock: MachineClock(context.machine))
        let failures = CollectorFailures()
        // True at first, because hubs may have changed while no collector was running.
        let hasChanged = ChangeMark(true)
        let alarm = loop.alarm
        let center = FleetCenter(context, settings)
        func writeUsers() {
            guard hasChanged.take() else { return }
            do { try center.writeUsers() } catch { context.warn("collect: \(Program.explain(error).message ?? "")") }
        }
        loop.onBell = { [unowned loop] in
            for line in failures.take() { context.warn(line) }
            writeUsers()
            if HubSignals.isStopAsked { loop.stop() }
        }
        HubSignals.watch(alarm)
        let opener = try FleetCenter.opener(settings)
        let page = try CenterPage.start(settings)
        if let page { context.inform("collect: page at http://\(page.address)/") }
        let broker = try settings.broker.broker(name: "vitalgate collector")
        // Before the connection, which waits for the broker: a new broker needs the list to start.
        writeUsers()
        guard try reach(broker, context) else { return .success }
        let service: CollectorService
        do throws(NATSError) {
            service = try CollectorService(
                broker, settings.broker.subject, opener: opener, database: settings.database, workers: settings.workers,
                now: context.machine.now,
                onFailure: { store, words in
                    failures.add(store, words)
                    alarm.ring()
                },
                onChange: {
                    hasChanged.set()
                    alarm.ring()
                })
        } catch {
            throw DeliveryError(error)
        }
        context.inform(
            "collect: fleet \(settings.broker.subject.fleet), \(Readable.count(settings.workers, "worker")), "
                + "brokers \(settings.broker.servers.joined(separator: ", "))")
        // Hubs may have joined meanwhile at another collector.
        hasChanged.set()
        writeUsers()
        if !HubSignals.isStopAsked { loop.run() }
        service.stop()
        page?.stop()
        return .success
    }
}
