import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `characteristics`: personal data that no sensor measures, such as the date of birth.
enum CharacteristicsCommand: Command {
    private static let types = CharacteristicType.allCases.map(\.rawValue)

    static let specification = CommandSpecification(
        name: "characteristics", summary: "Show and set a person's birth date, sex, blood type and more.",
        discussion: """
            Characteristics are facts about a person that no sensor measures. Each has one value at a time. A new value applies \
            from a certain day on, and the earlier value still applies to the days before. If you import an export of Apple's \
            Health app, its values are set as of the date of the export. They override values that you set before that date, and \
            values that you set later override them. 'vitalgate ledger undo' reverts the values that an import set.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "Show today's values and the day from which each applies.",
                options: [
                    SharedOptions.person,
                    Option(names: ["--history"], help: "Show all values that were ever set, including reverted ones."),
                    SharedOptions.timeZone, Format.option, Format.safe,
                ]),
            CommandSpecification(
                name: "set", summary: "Set a characteristic.",
                arguments: [
                    Argument(name: "TYPE", help: "Characteristic to set.", completion: .values(types)),
                    Argument(
                        name: "VALUE",
                        help: "New value, such as 1980-05-17, A+, female, 'type II' or yes (omit with --clear).",
                        arity: .optional),
                ],
                options: [
                    SharedOptions.person,
                    Option(names: ["--from"], value: "DATE", help: "First day on which the value applies (default: today)."),
                    Option(names: ["--clear"], help: "Set the value to unknown."), SharedOptions.timeZone,
                ],
                examples: [
                    Example("vitalgate characteristics set bloodType A+", "Set the blood type, from today on."),
                    Example(
                        "vitalgate characteristics set wheelchairUse yes --from 2026-03-01",
                        "From that day on, show wheelchair pushes instead of steps in the activity rings."),
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "set" { try set(context) } else { try list(context) }
        return .success
    }

    // MARK: Set

    private static func set(_ context: CommandContext) throws {
        let invocation = context.invocation
        let name = invocation.argument("TYPE") ?? ""
        guard let type = CharacteristicType(written: name) else {
            throw invocation.invalid("TYPE", value: name, expected: "one of \(types.joined(separator: ", "))")
        }
        let zone = try context.zone()
        let now = context.machine.now()
        let value = try value(of: type, today: zone.date(of: now), invocation)
        let from = try context.instant(option: "--from", zone: zone).map { zone.date(of: $0) } ?? zone.date(of: now)
        let store = try context.access().openForWriting(creating: true)
        let person = try context.person(in: store) ?? store.owner
        try store.people.set(type, to: value, of: person, from: from, recorded: now)
        context.note("\(type.rawValue) is \(value?.isSet == true ? "set" : "cleared") from \(from) on")
    }

    /// Parses the value. Error messages never contain it, since it is personal.
    private static func value(
        of type: CharacteristicType, today: String, _ invocation: Invocation
    ) throws -> Characteristic? {
        let text = invocation.argument("VALUE")
        if invocation.flag("--clear") {
            guard text == nil else { throw invocation.invalid("VALUE", value: "…", expected: "no value with --clear") }
            return nil
        }
        guard let text else { throw invocation.invalid("VALUE", value: "", expected: type.expectation + ", or --clear") }
        guard let value = Characteristic(type, written: text), type != .dateOfBirth || value.value <= today else {
            throw invocation.invalid("VALUE", value: "…", expected: type.expectation)
        }
        return value
    }

    // MARK: List

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let zone = try context.zone()
        let asked = try context.person(in: store)
        let people = try store.people.peopleWithCharacteristics().filter { asked == nil || $0 == asked }
        let isHistory = context.invocation.flag("--history")
        let today = zone.date(of: context.machine.now())
        var entries: [CharacteristicEntry] = []
        for person in people {
            let history = try store.people.characteristics(of: person)
            entries +=
                isHistory
                ? CharacteristicType.allCases.flatMap { type in history.entries.filter { $0.type == type } }
                : CharacteristicType.allCases.compactMap { history.entry(of: $0, on: today) }
        }
        if context.format == .table {
            guard !entries.isEmpty else { return context.note("no characteristics are set") }
            return try table(entries, isHistory, store, context)
        }
        var fields: [Field<CharacteristicEntry>] = [
            Field("subject") { store.subject($0.person) }, Field("type") { $0.type.rawValue },
            Field("value") { $0.value?.value }, Field("from") { $0.from }, Field("said") { $0.recorded?.description },
            Field("ingest") { $0.ingest },
        ]
        if isHistory { fields.append(Field("withdrawn", cell: { "\($0.isWithdrawn)" }) { $0.isWithdrawn }) }
        try context.write(entries, fields)
    }

    private static func table(
        _ entries: [CharacteristicEntry], _ isHistory: Bool, _ store: SampleStore, _ context: CommandContext
    ) throws {
        let times = try context.times()
        let names = try store.people.names()
        let isSeveral = Set(entries.map(\.person)).count > 1 || entries.contains { $0.person != store.owner }
        let header =
            (isSeveral ? ["person"] : []) + ["characteristic", "value", "from", "by"] + (isHistory ? ["set at", ""] : [])
        let rows = entries.map { entry in
            var row = isSeveral ? [names[entry.person] ?? entry.person] : []
            row += [
                entry.type.rawValue, entry.value?.shown ?? "-", entry.from ?? "-",
                entry.ingest.map { "ledger entry \($0)" } ?? "you",
            ]
            if isHistory {
                row += [entry.recorded.map { times.local($0) } ?? "-", entry.isWithdrawn ? "reverted" : ""]
            }
            return row
        }
        try TableOutput(context: context).write(header: header, rows: rows)
    }
}
