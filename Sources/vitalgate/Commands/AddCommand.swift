import CommandLineKit
import HealthAnswers
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// `add`: stores a reading that a person types.
enum AddCommand: Command {
    static let specification = CommandSpecification(
        name: "add", summary: "Add a reading by hand.",
        discussion: """
            Without UNIT, the value is in the unit that 'units' in the configuration sets for the type, or else in the type's \
            own unit. The command prints the stored reading, so that you can check the unit. An impossible value is quarantined \
            (see 'vitalgate quarantine'). If the reading is already stored, it is a duplicate and is not stored again.
            """,
        arguments: [
            Argument(name: "TYPE", help: "Type of the reading.", completion: .types),
            Argument(name: "VALUE", help: "A number, or two such as 124/79 for bloodPressure."),
            Argument(name: "UNIT", help: "Unit of the value, a UCUM code such as kg, mm[Hg] or [degF].", arity: .optional),
        ],
        options: [
            Option(names: ["--at"], value: "T", help: "Time of the reading (default: now)."),
            SharedOptions.person, SharedOptions.timeZone,
        ],
        examples: [
            Example("vitalgate add bodyMass 71.5 kg", "Your weight now."),
            Example("vitalgate add bloodPressure 124/79 --at 2026-11-20T07:30", "A blood pressure of this morning."),
            Example("vitalgate add bodyTemperature 99.5 '[degF]' --person Anna", "Anna's temperature in degrees Fahrenheit."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let parts = try parts(context)
        let zone = try context.zone()
        let received = context.machine.now()
        let time = try context.instant(option: "--at", zone: zone) ?? received
        guard time <= received else {
            throw context.invocation.invalid(
                "--at", value: context.invocation.string("--at") ?? "", expected: "a time in the past")
        }
        let store = try context.access().openForWriting(creating: true)
        try store.ledger.closeAbandoned()
        let person = try context.person(in: store) ?? store.owner
        let result = try store.samples.add(
            HandEntry(person: person, amounts: parts, time: time, zone: zone), received: received,
            owner: ProcessIdentity.current())
        try store.checkpoint()
        let times = try context.times()
        for (sample, outcome) in zip(result.samples, result.outcomes) {
            report(sample, outcome, result.account.id, times, context)
        }
        return result.account.refused + result.account.quarantined > 0 ? .dataError : .success
    }

    /// The amounts to store: one, or the two pressures of a blood pressure.
    private static func parts(_ context: CommandContext) throws -> [HandEntry.Amount] {
        let invocation = context.invocation
        let text = invocation.argument("VALUE") ?? ""
        let type = try context.type(invocation.argument("TYPE") ?? "")
        if type.id == BloodPressure.type {
            let halves = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard halves.count == 2 else {
                throw invocation.invalid("VALUE", value: text, expected: "a systolic and a diastolic pressure, such as 124/79")
            }
            return [
                try part(of: .bloodPressureSystolic, halves[0], context),
                try part(of: .bloodPressureDiastolic, halves[1], context),
            ]
        }
        guard type.kind == .quantity else {
            throw invocation.invalid(
                "TYPE", value: type.id,
                expected: "a quantity or bloodPressure; import other kinds from a file ('vitalgate import --help')")
        }
        return [try part(of: type, text, context)]
    }

    private static func part(of type: SampleType, _ text: String, _ context: CommandContext) throws -> HandEntry.Amount {
        guard let numeral = try? Numeral(text) else {
            throw context.invocation.invalid("VALUE", value: text, expected: "a number such as 71.5")
        }
        var unit = try context.configuration().unit(of: type) ?? type.canonicalUnit
        if let code = context.invocation.argument("UNIT") {
            unit = try HealthModel.Unit(written: code)
            _ = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
        }
        return HandEntry.Amount(type: type, numeral: numeral, unit: unit)
    }

    private static func report(
        _ sample: Sample, _ outcome: SampleOutcome, _ entry: Int64, _ times: ShownTimes, _ context: CommandContext
    ) {
        let reading =
            "\(sample.origin.type.id) \(sample.numeral.text) \(Readable.unit(sample.unit)) at \(times.start(of: sample))"
        switch outcome {
        case .stored: context.note("stored: \(reading) (ledger entry \(entry); 'vitalgate ledger undo \(entry)' removes it)")
        case .duplicate: context.note("a duplicate, not stored again: \(reading)")
        case .quarantined: context.note("quarantined: \(reading); 'vitalgate quarantine list' shows why")
        case .refused: context.note("refused: \(reading); 'vitalgate ledger show \(entry)' shows why")
        }
    }
}
