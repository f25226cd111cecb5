import CommandLineKit
import FileSource
import Formats
import HealthAnswers
import HealthModel
import Ingestion
import SampleStore

/// `phones`: the phones that post health data.
enum PhonesCommand: Command {
    private static let app = Option(
        names: ["--app"], value: "APP", help: "App on the phone (default: health-auto-export).",
        completion: .values(PhoneApp.all.map(\.id)))

    static let specification = CommandSpecification(
        name: "phones", summary: "Manage phones that post health data.",
        discussion: """
            An app on the phone posts health data to the hub's HTTP API ('api.listen' in the configuration). Each phone is a client \
            ('vitalgate clients') that may write the data of one person and read nothing, unless you grant \
            it more. The apps Health Auto Export on iPhones and HC Webhook on Android phones are supported (see docs/how-to/phones.md and docs/how-to/phones-android.md).
            """,
        subcommands: [
            CommandSpecification(
                name: "add", summary: "Add a phone, and print what to enter in its app.",
                discussion: """
                    Prints the address, the header with the token, and the settings of the app. The token is shown only once. To remove \
                    the phone, use 'vitalgate clients forget'. To change its allowed types, use 'vitalgate clients grant' and \
                    'vitalgate clients withdraw'.
                    """,
                arguments: [Argument(name: "NAME", help: "Name of the phone.")], options: [SharedOptions.person, app],
                examples: [
                    Example("vitalgate phones add \"Anna's iPhone\" --person Anna", "Add the phone of a person."),
                    Example("vitalgate phones add pixel --app hc-webhook", "Add your Android phone."),
                ]),
            CommandSpecification(
                name: "list", summary: "List phones, and when each last posted.",
                discussion: """
                    The columns waiting, written, refused and unknown count the hub's samples that an app on the phone writes to the phone's \
                    own store (see docs/how-to/phones-write-back.md).
                    """,
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "add" { return try add(context) }
        try list(context)
        return .success
    }

    private static func add(_ context: CommandContext) throws -> ExitCode {
        guard let api = try context.configuration().api else {
            context.note("vitalgate: phones cannot post: 'api.listen' is not configured (see docs/how-to/phones.md)")
            return .configuration
        }
        let (now, name) = (context.machine.now(), context.invocation.argument("NAME") ?? "")
        let app = PhoneApp(id: context.invocation.string("--app")) ?? .healthAutoExport
        let store = try context.access().openForWriting(creating: true)
        let person = try context.person(in: store) ?? store.owner
        guard person != Origin.unassigned else {
            throw context.invocation.invalid("--person", value: person, expected: "the person who uses the phone")
        }
        let client = try store.clients.add(named: name, purpose: app.purpose, app: app.id, at: now)
        for type in app.types().map({ ObjectType($0) }) where !type.isReadOnly {
            try store.clients.set(
                Grant(person: person, type: type, reading: .none, mayWrite: true), accesses: [.write], of: client, at: now)
        }
        let token = try store.clients.makeToken(for: client, at: now)
        let address = "\(api.address ?? "https://ADDRESS-OF-YOUR-PROXY")/v1/intake/\(app.id)"
        try context.streams.output.write(app.settings(address: address, token: token))
        if api.listen.isLoopback { context.note("only this machine can reach \(api.listen): phones need another 'api.listen'") }
        return .success
    }

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let (times, names) = (try context.times(), try store.people.names())
        // The records are counted only here, because a phone can have many.
        let rows = try Phone.all(in: store).map { (phone: $0, writeBack: try store.writeBack.counts(of: $0.client)) }
        try context.write(
            rows,
            [
                Field("name", "phone") { $0.phone.client.name }, .json("app") { $0.phone.app.id },
                Field(
                    "subjects", "person",
                    cell: { $0.phone.people.map { names[$0] ?? store.subject($0) }.joined(separator: ", ") }
                ) { $0.phone.people.map(store.subject) },
                Field("posted", "last post", cell: { $0.phone.posted.map(times.local) ?? "never" }) { $0.phone.posted },
                .json("ingest") { $0.phone.entry?.id }, Field("read", "read that day") { $0.phone.entry?.read },
                Field("stored") { $0.phone.entry?.stored }, Field("waiting") { $0.writeBack?.waiting },
                Field("written") { $0.writeBack?.written }, Field("refusedByPhone", "refused") { $0.writeBack?.refused },
                Field("unknown") { $0.writeBack?.unknown }, .json("reasons") { $0.writeBack?.reasons },
            ])
    }

    /// Writes a note for each phone with its last post.
    static func note(_ context: CommandContext) {
        guard let store = try? context.openForReading(), let zone = try? context.zone() else { return }
        for phone in (try? Phone.all(in: store)) ?? [] {
            let name = TerminalText.sanitized(phone.client.name)
            context.note(
                "phone \(name): \(phone.posted.map { "last post \(Readable.local($0, at: zone.offset(at: $0)))" } ?? "no post yet")"
            )
        }
    }
}

extension PhoneApp {
    fileprivate func settings(address: String, token: String) -> String {
        """
        Enter this in \(name), \(entry):

          URL      \(address)
          Header   Authorization: Bearer \(token)
        \(advice)


        """
    }
}
