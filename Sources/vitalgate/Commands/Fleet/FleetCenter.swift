import CommandLineKit
import EventLoopKit
import FleetCollector
import FleetProtocol
import Formats
import Glibc
import HealthModel
import Hub
import Ingestion
import NATSKit
import Pipeline
import PostgreSQLExport
import Profiles

struct FleetCenter {
    private let context: CommandContext
    private let settings: CollectorConfiguration

    /// The validity of a code in seconds.
    private static let validity = 3600
    private static let maximumNameLength = 64

    init(_ context: CommandContext, _ settings: CollectorConfiguration) { (self.context, self.settings) = (context, settings) }

    func database() throws -> FleetDatabase { try FleetDatabase(settings.database) }

    func report() throws -> FleetReport { FleetReport(context, try database(), opensSealed: settings.sealing != nil) }

    /// The keys for sealed requests of this configuration.
    static func opener(_ settings: CollectorConfiguration) throws -> RequestOpener {
        let files = settings.sealing.map { [$0.seedFile] + ($0.olderSeedFiles ?? []) } ?? []
        return RequestOpener(
            try files.map { try KeyFile.existingSealingKey(at: $0) }, isRequired: settings.sealing?.required ?? false,
            fleet: settings.broker.subject)
    }

    /// The hub that the command line names.
    private func hub(in database: FleetDatabase) throws -> EnrolledHub {
        let name = context.invocation.argument("HUB") ?? ""
        guard let hub = try database.hubs().first(where: { $0.name == name }) else {
            throw context.invocation.invalid("HUB", value: name, expected: "a hub from 'vitalgate fleet hubs'")
        }
        return hub
    }

    func users() throws -> BrokerUsers {
        guard let key = settings.broker.key else {
            throw ConfigurationError(
                "'collect.broker' has no 'nkey' and 'seedFile': create a key for the collector with 'vitalgate fleet key FILE'")
        }
        let keys = try database().keys()
        return BrokerUsers(collectors: [key], hubs: keys.hubs, codes: keys.codes)
    }

    /// Writes the file of the broker's users, if one is configured, and makes the broker read it.
    func writeUsers() throws {
        guard let broker = settings.brokerUsers else { return }
        let text = try users().text(settings.broker.subject)
        do throws(SystemFailure) {
            // The broker runs as another user. The file has only public keys.
            try SmallFile.replace(broker.file, with: text, mode: 0o644)
        } catch {
            throw ConfigurationError("the broker's users cannot be written: \(error)")
        }
        guard let path = broker.processFile else { return }
        let number = SmallFile.read(path, limit: 32).map { String(decoding: $0, as: UTF8.self).filter(\.isNumber) } ?? ""
        guard let process = Int32(number), FolderOwner.send(SIGHUP, to: process, namedIn: path) else {
            throw ConfigurationError("\(path) does not name a running broker that this user can signal")
        }
    }

    /// Sends a message without content to collectors or a hub.
    private func signal(_ subject: String) {
        do {
            let connection = try NATSConnection.signedIn(try settings.broker.broker(name: "vitalgate fleet"))
            try connection.publish(subject, [])
            try connection.flush(milliseconds: 5000)
        } catch {
            context.note("vitalgate: the broker was not reached, so this takes effect later: \(error)")
        }
    }

    // MARK: Enrollment

    func enroll() throws -> ExitCode {
        let name = context.invocation.string("--name") ?? ""
        guard (1...Self.maximumNameLength).contains(name.utf8.count), name.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else {
            throw context.invocation.invalid("--name", value: name, expected: "a name of at most \(Self.maximumNameLength) bytes")
        }
        return try makeCode { database, code, keys throws(DeliveryError) in
            try database.add(
                codeWith: code, name: name, seconds: Self.validity, commandKey: keys.command, sealingKey: keys.sealing)
        }
    }

    func replace() throws -> ExitCode {
        let hub = try hub(in: database())
        return try makeCode { database, code, keys throws(DeliveryError) in
            try database.add(
                codeWith: code, replacing: hub, seconds: Self.validity, commandKey: keys.command, sealingKey: keys.sealing)
        }
    }

    /// The keys that a hub gets when it joins, with their proofs.
    private typealias CodeKeys = (command: (key: String, proof: String)?, sealing: (key: String, proof: String)?)

    /// Makes a code, has it stored, and prints it.
    private func makeCode(_ add: (FleetDatabase, _ codeKey: String, CodeKeys) throws(DeliveryError) -> Void) throws -> ExitCode {
        let sealingKey = try settings.sealing.map { try KeyFile.existingSealingKey(at: $0.seedFile).publicText }
        guard let code = EnrollmentCode.random(forSealing: sealingKey != nil) else { return .software }
        let commandKey = try settings.commandSeedFile.map { try KeyFile.existing(at: $0).publicText }
        let subject = settings.broker.subject
        try add(
            try database(), code.key.publicText,
            (commandKey.map { ($0, code.proof(of: $0, subject)) }, sealingKey.map { ($0, code.proof(of: $0, subject)) }))
        signal(subject.changed)
        try context.streams.output.write(code.text + "\n")
        let server = settings.broker.servers.first ?? ""
        context.note("On the hub, within an hour: vitalgate fleet join \(server)/\(subject.fleet) \(code.text)")
        if commandKey == nil {
            context.note("vitalgate: the hub will run no commands, because 'collect.commands' is not configured")
        }
        return .success
    }

    func revoke() throws -> ExitCode {
        let database = try database()
        let hub = try hub(in: database)
        guard try database.revoke(hub) else {
            context.note("vitalgate: '\(hub.name)' was already revoked")
            return .success
        }
        signal(settings.broker.subject.changed)
        context.note("vitalgate: '\(hub.name)' is revoked, and collectors refuse it")
        return .success
    }

    // MARK: Erasure

    func erase() throws -> ExitCode {
        let text = context.invocation.argument("PERSON") ?? ""
        // A mistyped name must not end up in a log.
        guard UUIDText.isValid(text) else {
            throw ConfigurationError("PERSON must be a UUID, because names of people stay on each hub", isOfOption: true)
        }
        // The rows of many years take longer than other statements.
        let database = try FleetDatabase(settings.database, timeout: PostgreSQLConnection.rebuildTimeout)
        let person = text.lowercased()
        if context.invocation.flag("--readmit") {
            let wasErased = try database.readmit(person: person)
            context.note("vitalgate: readings of this person are accepted" + (wasErased ? " again" : ", as before"))
            return .success
        }
        let (rows, hubs) = try database.contents(of: person)
        if context.invocation.flag("--yes") {
            try database.erase(person: person)
            context.note(
                "vitalgate: erased \(Readable.count(rows)) \(rows == 1 ? "row" : "rows") of this person, and refuses later readings "
                    + "(see --readmit)")
            for hub in hubs { context.note("the hub '\(hub)' may still have the person's readings") }
            return .success
        }
        let shown = context.format == .csv ? "\(rows)" : Readable.count(rows)
        try context.write([rows], [Field("rows", cell: { _ in shown }) { $0 }, Field("hubs") { _ in hubs }])
        context.note("all of it would be permanently erased (confirm with --yes)")
        return .success
    }

    // MARK: Orders

    func command() throws -> ExitCode {
        guard let kind = context.invocation.argument("KIND").flatMap({ FleetOrder.Kind(rawValue: $0) }) else { return .usage }
        return try command(kind, context.invocation.arguments("ARGUMENT"))
    }

    func set() throws -> ExitCode { try command(.set, context.invocation.arguments("SETTING")) }

    /// Gives a hub a profile that has passed its own tests.
    func profile() throws -> ExitCode {
        let path = context.invocation.argument("FILE") ?? ""
        let profile = try ProfileLibrary.check(file: path)
        let failures = ProfileCommand.failures(of: profile)
        for failure in failures { context.note(failure) }
        guard failures.isEmpty else { return .dataError }
        guard let bytes = SmallFile.read(path, limit: FleetOrder.maximumProfileLength) else {
            throw context.invocation.invalid(
                "FILE", value: path, expected: "a profile of at most \(Readable.count(FleetOrder.maximumProfileLength, "byte"))")
        }
        return try command(.profile, [String(decoding: bytes, as: UTF8.self)])
    }

    private func command(_ kind: FleetOrder.Kind, _ arguments: [String]) throws -> ExitCode {
        let database = try database()
        let hub = try hub(in: database)
        let number = try give(kind, arguments, to: hub, database)
        context.note("vitalgate: command \(number) waits for '\(hub.name)' (see 'vitalgate fleet status \(hub.name)')")
        return .success
    }

    private func give(
        _ kind: FleetOrder.Kind, _ arguments: [String], to hub: EnrolledHub, _ database: FleetDatabase
    ) throws -> Int64 {
        if let rejectionReason = FleetOrder(number: 0, kind: kind.rawValue, arguments: arguments).rejectionReason {
            throw context.invocation.invalid("ARGUMENT", value: kind.rawValue, expected: "other arguments: \(rejectionReason)")
        }
        guard !hub.isRevoked else { throw DeliveryError(.refused, "'\(hub.name)' is revoked") }
        guard let file = settings.commandSeedFile else {
            throw ConfigurationError(
                "'collect.commands' has no key that signs commands: create one with 'vitalgate fleet key FILE' and name it there")
        }
        let key = try KeyFile.existing(at: file).key
        let number = try database.add(kind, arguments, for: hub) {
            $0.sign(with: key, for: hub.store, of: settings.broker.subject)
        }
        signal(settings.broker.subject.nudge(of: hub.store))
        return number
    }

    func check() throws -> ExitCode {
        let seconds = try context.invocation.integer("--seconds", in: 1...86_400) ?? 60
        let database = try database()
        let hub = try hub(in: database)
        let isRepair = context.invocation.flag("--repair")
        let number = try give(.verify, isRepair ? [] : ["--dry-run", "--days"], to: hub, database)
        for _ in 0..<seconds * 5 {
            let order = try database.orders(of: hub, limit: 20).first { $0.number == number }
            guard order?.isRefused != true else {
                context.note("vitalgate: '\(hub.name)' knows another key of the center, and has refused the command")
                return .noPermission
            }
            if let order, let code = order.code {
                if let failure = FleetReport.reason(of: order.output) {
                    context.note(
                        "vitalgate: the command ended with status \(code) on '\(hub.name)': \(TerminalText.sanitized(failure))")
                } else if order.output.isEmpty {
                    context.note("vitalgate: the command ended with status \(code) on '\(hub.name)', without a reason")
                } else {
                    try FleetReport.write(comparison: order.output, context)
                }
                return ExitCode(rawValue: Int32(clamping: code)) ?? .software
            }
            usleep(200_000)
        }
        context.note(
            "vitalgate: '\(hub.name)' has not replied within \(seconds) s: 'vitalgate fleet status \(hub.name)' shows the result")
        return .tryAgain
    }
}
