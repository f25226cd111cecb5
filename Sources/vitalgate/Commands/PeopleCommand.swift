import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `people`: the people whose readings are in the store.
enum PeopleCommand: Command {
    private static let person = Argument(name: "NAME", help: "Name, me or a UUID.")

    static let specification = CommandSpecification(
        name: "people", formerNames: ["subjects"],
        summary: "List, add, rename, remove and erase people.",
        discussion: """
            Samples identify a person by a UUID. You can give the person a name, which you can use with --person. The name is \
            kept only in the store, and never appears in logs, samples or exports. The owner of the store is called me.
            """,
        subcommands: [
            CommandSpecification(name: "list", summary: "List people.", options: [Format.option, Format.safe]),
            CommandSpecification(
                name: "add", summary: "Add a person.", arguments: [Argument(name: "NAME", help: "Name of the person.")],
                options: [
                    Option(
                        names: ["--id"], value: "UUID",
                        help: "UUID that this person has on another hub (default: a new UUID).")
                ], examples: [Example("vitalgate people add Anna", "Add another person in the household.")]),
            CommandSpecification(
                name: "rename", summary: "Rename a person.",
                arguments: [person, Argument(name: "NEW", help: "New name.")],
                examples: [Example("vitalgate people rename me Ben", "Name the owner of the store.")]),
            CommandSpecification(
                name: "remove", summary: "Remove a person's name and keep the samples.",
                discussion: """
                    The person's samples are kept, and from then on show the UUID instead of the name. The person's sessions of the \
                    web page end, and login codes become invalid.
                    """,
                arguments: [person]), ErasureReport.specification,
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "add": try add(context)
        case "rename": try rename(context)
        case "erase": return try ErasureReport(context).run()
        case "remove":
            let store = try context.access().openForWriting(creating: false)
            try store.people.forget(person: try StoreAccess.person(context.invocation.argument("NAME") ?? "", in: store))
        default: try list(context)
        }
        return .success
    }

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        var persons = try store.people.all()
        if !persons.contains(where: { $0.id == store.owner }) {
            persons.insert(Person(id: store.owner, name: "me"), at: 0)
        }
        try context.write(
            persons,
            [
                .json("subject") { $0.id }, Field("name") { $0.name },
                Field("me", "", cell: { $0.id == store.owner ? "me" : "" }) { $0.id == store.owner },
                .column("subject") { $0.id },
            ])
    }

    private static func add(_ context: CommandContext) throws {
        let name = try name("NAME", context.invocation)
        let id = context.invocation.string("--id")
        if let id, !UUIDText.isValid(id) { throw context.invocation.invalid("--id", value: id, expected: "a UUID") }
        let store = try context.access().openForWriting(creating: true)
        let persons = try store.people.all()
        let person = id?.lowercased() ?? UUIDText.random()
        guard !persons.contains(where: { $0.name == name || $0.id == person }) else {
            throw StoreError(.invalid, "this person already exists (see 'vitalgate people list')")
        }
        try store.people.save(Person(id: person, name: name))
        try context.streams.output.write("\(person)\n")
    }

    private static func rename(_ context: CommandContext) throws {
        let name = try name("NEW", context.invocation)
        let store = try context.access().openForWriting(creating: false)
        let person = try StoreAccess.person(context.invocation.argument("NAME") ?? "", in: store)
        guard try person == store.owner || store.people.all().contains(where: { $0.id == person }) else {
            throw StoreError(.invalid, "there is no such person (see 'vitalgate people list')")
        }
        try store.people.save(Person(id: person, name: name))
    }

    /// A valid name, which cannot be mistaken for an option, a UUID or a reserved word.
    private static func name(_ argument: String, _ invocation: Invocation) throws -> String {
        let name = invocation.argument(argument) ?? ""
        guard Person.isName(name) else {
            throw invocation.invalid(
                argument, value: "…", expected: "a name in one line, other than me, unassigned or a UUID")
        }
        return name
    }
}
