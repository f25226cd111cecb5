import CommandLineKit
import Gateway
import HealthModel
import Ingestion
import SampleStore

/// `estimate`: computes body composition with a formula, for scales that report only an impedance.
enum EstimateCommand: Command {
    private static let formulas = ImpedanceFormula.allCases.map(\.rawValue)

    static let specification = CommandSpecification(
        name: "estimate", summary: "Estimate fat and muscle of weighings that have an impedance.",
        discussion: """
            Many scales tell a weight and an impedance, and leave the rest to their maker's app. A published formula makes an estimate of it, with the \
            person's height, age and sex: a sample of its own, which says that it is estimated, by which formula and of what. Of one person it may be off by \
            several kilograms. Nothing is estimated unless you ask for it, here or with 'bodyComposition' of the configuration for what the hub hears. \
            'ledger undo' takes it back.

              foot-to-foot-2015   fat-free mass and fat, standing, of 16 to 75 years (Nutr J 2015)
              sun-2003            fat-free mass and fat, of 12 to 94 years (Sun et al. 2003)
              janssen-2000        skeletal muscle, of 18 to 86 years (Janssen et al. 2000)
            """,
        options: [
            Option(
                names: ["--formula"], value: "NAME", help: formulas.joined(separator: ", ") + ".", completion: .values(formulas)),
            SharedOptions.subject,
        ] + SharedOptions.range + [SharedOptions.timeZone],
        examples: [
            Example(
                "vitalgate estimate --formula sun-2003 --from 2026-01-01",
                "Of all weighings of this year that have no estimate yet.")
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        guard let name = invocation.string("--formula") else {
            throw UsageError(.missingOption("--formula"), command: "vitalgate estimate")
        }
        guard let formula = ImpedanceFormula(rawValue: name) else {
            throw invocation.invalid("--formula", value: name, expected: "one of " + formulas.joined(separator: ", "))
        }
        let zone = try context.zone()
        let now = context.machine.now()
        let from = try context.instant(option: "--from", zone: zone) ?? Instant(microseconds: 0)
        let to = try context.instant(option: "--to", zone: zone).map { Instant(microseconds: $0.microseconds - 1) } ?? now
        guard from <= to else {
            throw invocation.invalid("--to", value: invocation.string("--to") ?? "", expected: "a time behind --from")
        }
        let store = try context.access().openForWriting(creating: false)
        let subject = try invocation.string("--person").map { try StoreAccess.subject($0, in: store) } ?? store.subject
        let account = try BodyEstimates(store: store, subject: subject, formula: formula, zone: zone).make(
            in: from...to, now: now)
        guard account.missing.isEmpty else {
            for missing in BodyEstimates.Missing.allCases where account.missing.contains(missing) {
                context.note("nothing is estimated: it is not known " + missing.advice)
            }
            return .dataError
        }
        context.note("estimates: \(account.stored) samples are new, \(account.known) weighings have theirs")
        if account.measured > 0 { context.note("\(account.measured) weighings need none: their scale tells it") }
        if account.withoutWeight > 0 { context.note("\(account.withoutWeight) impedances have no weight within two minutes") }
        if account.withoutHeight > 0 {
            context.note("\(account.withoutHeight) weighings of under 20 years have no height within 90 days")
        }
        if account.outside > 0 { context.note("\(account.outside) weighings are of a body that the formula was not made for") }
        return .success
    }
}
