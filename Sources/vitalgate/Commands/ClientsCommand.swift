import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `clients`: the programs that can request health data, and their grants.
enum ClientsCommand: Command {
    static let client = Argument(name: "NAME", help: "Name of the client.")
    static let expires = Option(
        names: ["--expires"], value: "DATE", help: "Date on which the token stops working (default: never).")
    static let purpose = Option(
        names: ["--purpose"], value: "TEXT", help: "Purpose of the access, which is shown to the person who grants it.")

    static let requires = Option(
        names: ["--requires"], value: "TYPES",
        help: "Types of clinical records without which the client cannot work (three or more, separated by commas).")

    static let specification = CommandSpecification(
        name: "clients", summary: "Manage programs (clients) and their access to health data.",
        discussion: """
            A client is a program that uses the HTTP API ('vitalgate api') with a token. A new client has no access. You grant \
            access for each person and type, separately for reading and writing. For the client, data without a grant does not \
            exist.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List clients and the purpose of each.", options: [Format.option, Format.safe]),
            CommandSpecification(
                name: "add", summary: "Add a client and print its token.", arguments: [client],
                options: [
                    purpose, Option(names: ["--policy"], value: "URL", help: "URL of the client's privacy policy."), requires,
                    expires,
                    SharedOptions.timeZone,
                ],
                examples: [Example("vitalgate clients add grafana --purpose 'Charts of my weight'", "Add a client for Grafana.")]),
            CommandSpecification(
                name: "token", summary: "Print a new token for a client.", arguments: [client],
                options: [
                    Option(names: ["--revoke"], help: "Revoke the client's earlier tokens."), expires,
                    SharedOptions.timeZone,
                ]),
            CommandSpecification(
                name: "requires", summary: "Set the clinical types without which a client cannot work.",
                discussion: """
                    A client can require three or more types of clinical records. When you have decided about all of them and \
                    denied at least one, the client is told that a required type was denied, but not which one. The client names \
                    these types in its first request, or you name them with 'vitalgate clients add'. After that, only this \
                    command can change them, so that the client cannot find out by trial which type was denied.
                    """, arguments: [client], options: [requires, Option(names: ["--none"], help: "Remove all required types.")]),
            CommandSpecification(
                name: "revoke", summary: "Revoke all tokens of a client.", arguments: [client]),
            CommandSpecification(
                name: "forget", summary: "Remove a client with its tokens and grants.",
                discussion: """
                    Samples that the client wrote are kept. With --delete they are deleted in the same way as by 'vitalgate \
                    delete', and its quarantined readings are rejected. Targets and clients that follow changes receive the \
                    deletions. 'vitalgate ledger undo' restores the samples.
                    """, arguments: [client],
                options: [Option(names: ["--delete"], help: "Also delete the samples that the client wrote.")],
                examples: [Example("vitalgate clients forget scale --delete", "Remove a client and its samples.")]),
            CommandSpecification(
                name: "grants", summary: "Show a client's access.", arguments: [client], options: [Format.option, Format.safe]),
            CommandSpecification(
                name: "grant", summary: "Grant a client read or write access to types.",
                discussion: """
                    For clinical records and documents, a type alone grants nothing. Name each record with --objects, or allow \
                    records that arrive later with --future. You can use both.
                    """,
                arguments: [client], options: ClientGrants.options, examples: ClientGrants.examples),
            CommandSpecification(
                name: "withdraw", summary: "Withdraw a client's access to types.", arguments: [client],
                options: [ClientGrants.read, ClientGrants.write, SharedOptions.person]),
            CommandSpecification(
                name: "requests", summary: "Show open requests for access.",
                options: [Format.option, Format.safe]),
            CommandSpecification(
                name: "log", formerNames: ["ledger"], summary: "Show how many samples a client has read, by type and day.",
                arguments: [client],
                options: [Format.option, Format.safe]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "add": try add(context)
        case "token": try token(context)
        case "revoke":
            let store = try context.access().openForWriting(creating: false)
            let count = try store.clients.revokeTokens(of: try client(context, store), at: context.machine.now())
            context.note("\(Readable.count(count, "token")) revoked")
        case "requires": try setRequired(context)
        case "forget": try forget(context)
        case "grants": try ClientGrants.show(context)
        case "grant": try ClientGrants.grant(context)
        case "withdraw": try ClientGrants.withdraw(context)
        case "requests": try ClientGrants.requests(context)
        case "log": try log(context)
        default: try list(context)
        }
        return .success
    }

    static func client(_ context: CommandContext, _ store: SampleStore) throws -> Client {
        guard let client = try store.clients.client(named: context.invocation.argument("NAME") ?? "") else {
            throw StoreError(
                .invalid, "there is no client '\(context.invocation.argument("NAME") ?? "")' (see 'vitalgate clients list')")
        }
        return client
    }

    private static func add(_ context: CommandContext) throws {
        let invocation = context.invocation
        guard let purpose = invocation.string("--purpose") else {
            throw invocation.invalid("--purpose", value: "", expected: "the purpose of the access")
        }
        let expires = try context.instant(option: "--expires", zone: try context.zone())
        let now = context.machine.now()
        let required = try requiredTypes(invocation)
        let store = try context.access().openForWriting(creating: true)
        let client = try store.clients.add(
            named: invocation.argument("NAME") ?? "", purpose: purpose, policy: invocation.string("--policy"), expires: expires,
            at: now)
        if let required { try store.clients.setRequiredTypes(required, of: client) }
        try context.streams.output.write("\(try store.clients.makeToken(for: client, at: now))\n")
    }

    /// The types of `--requires`, or `nil` without the option.
    private static func requiredTypes(_ invocation: Invocation) throws -> Set<ObjectType>? {
        guard let text = invocation.string("--requires") else { return nil }
        let types = Set(
            try text.split(separator: ",").map { name in
                guard let type = ObjectType(named: String(name)), type.isAskedByObject else {
                    throw invocation.invalid("--requires", value: text, expected: "clinical types, such as labResultRecord")
                }
                return type
            })
        guard types.count >= 3 else {
            throw invocation.invalid("--requires", value: text, expected: "three or more clinical types")
        }
        return types
    }

    private static func setRequired(_ context: CommandContext) throws {
        let invocation = context.invocation
        guard let types = invocation.flag("--none") ? [] : try requiredTypes(invocation) else {
            throw invocation.invalid("--requires", value: "", expected: "clinical types, or --none")
        }
        let store = try context.access().openForWriting(creating: false)
        try store.clients.setRequiredTypes(types, of: try client(context, store))
    }

    private static func token(_ context: CommandContext) throws {
        let expires = try context.instant(option: "--expires", zone: try context.zone())
        let store = try context.access().openForWriting(creating: false)
        let token = try store.clients.makeToken(
            for: try client(context, store), expires: expires, revokingOthers: context.invocation.flag("--revoke"),
            at: context.machine.now())
        try context.streams.output.write("\(token)\n")
    }

    private static func forget(_ context: CommandContext) throws {
        let store = try context.access().openForWriting(creating: false)
        let client = try client(context, store)
        guard context.invocation.flag("--delete") else {
            try store.clients.remove(client)
            return
        }
        let description = IngestDescription(
            kind: .delete, name: client.ledgerName, received: context.machine.now().microseconds)
        let (ingest, count) = try store.clients.remove(client, deletingSamples: description)
        context.note(
            ingest == 0
                ? "no samples of the client are left to delete"
                : "\(Readable.count(count, "sample")) of the client deleted (this is ledger entry \(ingest))"
        )
    }

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let now = context.machine.now()
        let clients = try store.clients.all().map { (client: $0, tokens: try store.clients.validTokens(of: $0, at: now)) }
        try context.write(
            clients,
            [
                Field("name") { $0.client.name }, Field("purpose") { $0.client.purpose }, Field("policy") { $0.client.policy },
                .json("source") { $0.client.source }, .column("tokens") { "\($0.tokens)" }, .json("added") { $0.client.added },
                Field("expires") { $0.client.expires?.description }, .json("tokens") { $0.tokens },
            ])
    }

    private static func log(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let names = try store.people.names()
        try context.write(
            try store.clients.readLedger(of: try client(context, store)),
            [
                Field("day") { $0.day },
                .person(names, store) { $0.person },
                Field("type") { $0.type }, Field("count") { $0.count },
            ])
    }
}
