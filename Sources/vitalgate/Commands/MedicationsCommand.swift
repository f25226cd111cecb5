import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `medications`: a person's medications and notes on them.
enum MedicationsCommand: Command {
    private static let forms = MedicationGeneralForm.allCases.map(\.rawValue)
    private static let name = Argument(name: "NAME", help: "Name, as in the samples of its doses, such as 'Ibuprofen 400 mg'.")
    private static let notes = [
        SharedOptions.person,
        Option(names: ["--nickname"], value: "TEXT", help: "Nickname ('' removes it)."),
        Option(names: ["--form"], value: "FORM", help: "Form of the medication.", completion: .values(forms)),
        Option(
            names: ["--code"], value: "SYSTEM:CODE",
            help: "Code in a terminology, such as rxnorm:310965 (replaces all earlier codes).",
            repeating: true),
        Option(names: ["--scheduled"], help: "Mark as taken on a schedule."),
        Option(names: ["--as-needed"], help: "Mark as taken as needed."),
    ]

    static let specification = CommandSpecification(
        name: "medications", summary: "List, add and change a person's medications.",
        discussion: """
            A medication has a name, a nickname, a form (such as tablet) and codes. It also records whether the medication is \
            taken on a schedule, and whether it is still taken. A medication is not a sample, but its doses are, of the type \
            medicationDoseEvent. To print them, use: vitalgate query medicationDoseEvent --where "medication = 'NAME'"
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List medications.",
                options: [
                    SharedOptions.person, Option(names: ["--all"], help: "Include medications that are no longer taken."),
                    Format.option, Format.safe,
                ]),
            CommandSpecification(
                name: "set", summary: "Add or change a medication.",
                discussion: "If the medication exists, only what you give as options is changed.",
                arguments: [name],
                options: notes + [
                    Option(names: ["--archived"], help: "Mark as no longer taken."),
                    Option(names: ["--taken"], help: "Mark as taken again."),
                ],
                examples: [
                    Example(
                        "vitalgate medications set 'Ibuprofen 400 mg' --form tablet --code rxnorm:310965 --as-needed",
                        "Add a tablet that is taken as needed."),
                    Example("vitalgate medications set 'Ibuprofen 400 mg' --archived", "Mark as no longer taken."),
                ]),
            CommandSpecification(
                name: "remove", summary: "Remove a medication and keep its doses.", arguments: [name],
                options: [SharedOptions.person]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "set": try set(context)
        case "remove": try remove(context)
        default: try list(context)
        }
        return .success
    }

    // MARK: Change

    private static func set(_ context: CommandContext) throws {
        let invocation = context.invocation
        let name = invocation.argument("NAME") ?? ""
        let isScheduled = try choice("--scheduled", "--as-needed", invocation)
        let isArchived = try choice("--archived", "--taken", invocation)
        let codes = try invocation.strings("--code").map { try code($0, invocation) }
        let form = try invocation.string("--form").map { text in
            guard let form = MedicationGeneralForm(rawValue: text) else {
                throw invocation.invalid("--form", value: text, expected: "one of \(forms.joined(separator: ", "))")
            }
            return form
        }
        let store = try context.access().openForWriting(creating: true)
        let person = try context.person(in: store) ?? store.owner
        var medication = try store.people.medication(name, of: person) ?? UserAnnotatedMedication(name: name)
        if let isScheduled { medication.hasSchedule = isScheduled }
        if let isArchived { medication.isArchived = isArchived }
        if let form { medication.generalForm = form }
        if !codes.isEmpty { medication.codes = codes }
        if let nickname = invocation.string("--nickname") { medication.nickname = nickname.isEmpty ? nil : nickname }
        try store.people.save(medication, of: person)
    }

    /// Returns true for the first flag, false for the second one, and `nil` for neither.
    private static func choice(_ one: String, _ other: String, _ invocation: Invocation) throws -> Bool? {
        switch (invocation.flag(one), invocation.flag(other)) {
        case (true, true): throw invocation.invalid(other, value: "", expected: "either \(one) or \(other), not both")
        case (true, false): true
        case (false, true): false
        case (false, false): nil
        }
    }

    /// Parses a system and a code. The system is a short name or a URI, which may contain colons. The code contains none.
    private static func code(_ text: String, _ invocation: Invocation) throws -> Coding {
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex, text.index(after: colon) != text.endIndex else {
            throw invocation.invalid("--code", value: text, expected: "a system and a code, such as rxnorm:310965")
        }
        let system = String(text[..<colon])
        let code = String(text[text.index(after: colon)...])
        if let known = CodeSystems.systems(named: system)?.first { return Coding(system: known, code: code) }
        guard system.contains(":") else {
            let names = CodeSystems.all.map(\.name).joined(separator: ", ")
            throw invocation.invalid("--code", value: text, expected: "a system's URI, or one of \(names)")
        }
        return Coding(system: system, code: code)
    }

    private static func remove(_ context: CommandContext) throws {
        let store = try context.access().openForWriting(creating: false)
        let person = try context.person(in: store) ?? store.owner
        guard try store.people.removeMedication(context.invocation.argument("NAME") ?? "", of: person) else {
            throw StoreError(.invalid, "the person has no such medication (see 'vitalgate medications list --all')")
        }
    }

    // MARK: List

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let isAll = context.invocation.flag("--all")
        let person = try context.person(in: store) ?? store.owner
        let medications = try store.people.medications(of: person).filter { isAll || !$0.isArchived }
        try context.write(
            medications,
            [
                Field("medication") { $0.name }, Field("nickname") { $0.nickname },
                Field("generalForm", "form") { $0.generalForm.rawValue },
                Field("codes", cell: { $0.codes.map(written).joined(separator: " ") }) { $0.codes.map { JSONObject($0) } },
                Field("hasSchedule", "taken", cell: { $0.hasSchedule ? "scheduled" : "as needed" }) { $0.hasSchedule },
                Field("isArchived", "", cell: { $0.isArchived ? "archived" : "" }) { $0.isArchived },
            ], empty: "no medications")
    }

    private static func written(_ coding: Coding) -> String {
        let system = coding.system ?? ""
        return "\(CodeSystems.name(of: system) ?? system):\(coding.code ?? "")"
    }
}
