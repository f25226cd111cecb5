import CommandLineKit
import FleetCollector
import Formats
import HealthModel
import Hub
import Pipeline

/// `fleet study`: manages the studies whose readings analysts may read.
struct StudyCommand {
    private let context: CommandContext
    private let database: FleetDatabase

    private static let study = Argument(name: "STUDY", help: "Name of a study.")
    private static let person = Argument(name: "PERSON", help: "Person: a UUID.")
    private static let remove = Option(names: ["--remove"], help: "Remove instead of adding.")

    static let specification = CommandSpecification(
        name: "study", summary: "Manage the studies whose readings analysts may read.",
        discussion: """
            A study consists of people who have given their consent, or of all people of some hubs. Analysts read only the readings of their \
            studies (key 'collect.readers' of the configuration).
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the studies, or the consents in one.",
                arguments: [Argument(name: "STUDY", help: "Name of a study.", arity: .optional)],
                options: [Format.option, Format.safe]),
            CommandSpecification(name: "add", summary: "Add a study.", arguments: [study]),
            CommandSpecification(
                name: "remove", summary: "Remove a study with its consents and its copy.",
                discussion: "All readings stay at the center.", arguments: [study]),
            CommandSpecification(
                name: "consent", summary: "Record that a person takes part in a study.",
                discussion: """
                    The readings of the person from all hubs are visible to the study's readers, if their local date lies between --from and \
                    --until. Both dates are included. Another consent of the same person from the same date is replaced.

                    To end a consent and keep the readings until then visible, record it again with --until.
                    """,
                arguments: [study, person],
                options: [
                    Option(names: ["--version"], value: "TEXT", help: "Version of the consent form.", required: true),
                    Option(names: ["--from"], value: "DATE", help: "First date (default: today in UTC)."),
                    Option(names: ["--until"], value: "DATE", help: "Last date (default: no end)."),
                ],
                examples: [
                    Example(
                        "vitalgate fleet study consent sleep 7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57 --version 2 --from 2026-03-01",
                        "Let a person take part.")
                ]),
            CommandSpecification(
                name: "withdraw", summary: "Record that a person has withdrawn from a study.",
                discussion: """
                    None of the person's readings is visible to the study's readers any more, also if a hub of the person belongs to the study. \
                    The readings are removed from the copy of the study. They stay at the center, because other studies may have them. To \
                    erase them, use 'vitalgate fleet erase'.
                    """,
                arguments: [study, person],
                examples: [
                    Example("vitalgate fleet study withdraw sleep 7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57", "End a participation.")
                ]),
            CommandSpecification(
                name: "hub", summary: "Let all people of a hub take part in a study.",
                discussion: "People with a consent in the study are an exception: only the consent decides.",
                arguments: [study, Argument(name: "HUB", help: "Names of hubs.", arity: .oneOrMore)], options: [remove]),
            CommandSpecification(
                name: "reader", summary: "Let roles of the database read a study.",
                discussion: """
                    The role must also be a member of the role 'collect.readers.analyst', except to read the copy of the study.
                    """,
                arguments: [study, Argument(name: "ROLE", help: "Roles of the database.", arity: .oneOrMore)], options: [remove]),
            CommandSpecification(
                name: "copy", summary: "Copy the readings of a study into a schema of its own.",
                discussion: """
                    Policies on rows hide the readings of other studies, but a reader who measures the work of a query can learn roughly how \
                    many there are. A copy contains only the study's readings. The readers of the study may read it. It has the readings of \
                    the moment, so run the command again for newer ones. People who withdraw or are erased are removed from it at once.
                    """,
                arguments: [study],
                options: [
                    Option(names: ["--schema"], value: "NAME", help: "Schema of the copy (default: study_STUDY)."),
                    Option(names: ["--remove"], help: "Remove the copy."),
                ],
                examples: [Example("vitalgate fleet study copy sleep", "Make or renew the schema 'study_sleep'.")]),
        ])

    init(_ context: CommandContext, _ database: FleetDatabase) { (self.context, self.database) = (context, database) }

    func run() throws -> ExitCode {
        let study = context.invocation.argument("STUDY") ?? ""
        switch context.invocation.path.last {
        case "add": try add(study)
        case "remove": try database.remove(study: study)
        case "consent": try consent(to: study)
        case "withdraw": try database.withdraw(try person(), from: study)
        case "hub": try hubs(study)
        case "reader":
            for role in context.invocation.arguments("ROLE") {
                try database.set(reader: role, of: study, mayRead: !context.invocation.flag("--remove"))
            }
        case "copy": try copy(study)
        default: try list()
        }
        return .success
    }

    private func add(_ study: String) throws {
        guard (1...63).contains(study.utf8.count), study.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else {
            throw context.invocation.invalid("STUDY", value: study, expected: "a name of at most 63 bytes")
        }
        try database.add(study: study)
    }

    /// The person of the command line. A mistyped name must not end up in a log.
    private func person() throws -> String {
        let text = context.invocation.argument("PERSON") ?? ""
        guard UUIDText.isValid(text) else {
            throw ConfigurationError("PERSON must be a UUID, because names of people stay on each hub", isOfOption: true)
        }
        return text.lowercased()
    }

    private func consent(to study: String) throws {
        let consent = StudyConsent(
            person: try person(), version: context.invocation.string("--version") ?? "", from: try date("--from"),
            until: try date("--until"))
        try database.add(consent, to: study)
    }

    private func date(_ option: String) throws -> String? {
        guard let text = context.invocation.string(option) else { return nil }
        guard text.utf8.count == 10, PartialDate(text) != nil else {
            throw context.invocation.invalid(option, value: text, expected: "a date such as 2026-03-01")
        }
        return text
    }

    private func hubs(_ study: String) throws {
        let stores = try database.stores()
        for name in context.invocation.arguments("HUB") {
            guard let store = stores[name] else {
                throw context.invocation.invalid("HUB", value: name, expected: "a hub from 'vitalgate fleet hubs'")
            }
            try database.set(hubWith: store, in: study, takesPart: !context.invocation.flag("--remove"))
        }
    }

    private func copy(_ study: String) throws {
        guard !context.invocation.flag("--remove") else { return try database.removeCopy(of: study) }
        let known = try database.studies().first { $0.name == study }?.place
        let place = context.invocation.string("--schema") ?? known ?? "study_\(study)"
        let count = try database.copy(study, to: place)
        context.note("vitalgate: copied \(Readable.count(count, "row")) into the schema '\(place)'")
    }

    private func list() throws {
        if let study = context.invocation.argument("STUDY") { return try list(study) }
        let studies = try database.studies()
        try context.write(
            studies,
            [
                Field("study") { $0.name }, Field("participants") { $0.participants }, Field("withdrawn") { $0.withdrawn },
                Field("hubs") { $0.hubs }, Field("readers") { $0.readers }, Field("copy") { $0.place },
            ])
    }

    private func list(_ study: String) throws {
        guard try database.studies().contains(where: { $0.name == study }) else {
            throw context.invocation.invalid("STUDY", value: study, expected: "a study from 'vitalgate fleet study list'")
        }
        try context.write(
            try database.consents(in: study),
            [
                Field("person") { $0.person }, Field("version") { $0.version }, Field("from") { $0.from },
                Field("until") { $0.until }, Field("withdrawn") { $0.withdrawn },
            ])
    }
}
