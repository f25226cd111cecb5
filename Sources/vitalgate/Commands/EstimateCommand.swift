import CommandLineKit
import HealthModel
import Ingestion
import SampleStore

/// `estimate`: computes body composition with a formula, for scales that report only an impedance.
enum EstimateCommand: Command {
    private static let formulas = ImpedanceFormula.allCases.map(\.rawValue)

    static let specification = CommandSpecification(
        name: "estimate", summary: "Estimate body composition from weight and impedance.",
        discussion: """
            Many scales report only a weight and an impedance (the electrical resistance of the body). A published formula \
            estimates body composition from these and from the person's height, age and sex. Each estimate is stored as a \
            separate sample, which is marked as estimated and names its formula. It can be wrong by several kilograms for one \
            person. To have the hub estimate each new weighing, set 'bodyComposition' in the configuration. 'vitalgate ledger \
            undo' removes the estimates.

            The formula foot-to-foot-2015 estimates fat-free mass and fat for people aged 16 to 75 (Nutr J 2015). It was made \
            for scales, which measure from foot to foot. The others were made for a measurement from wrist to ankle, so they are \
            less accurate with a scale.

            The formula sun-2003 estimates fat-free mass and fat for people aged 12 to 94 (Sun et al. 2003).

            The formula janssen-2000 estimates skeletal muscle for people aged 18 to 86 (Janssen et al. 2000).
            """,
        options: [
            Option(
                names: ["--formula"], value: "NAME", help: "Formula to use.", completion: .values(formulas)),
            SharedOptions.person,
        ] + SharedOptions.range + [SharedOptions.timeZone],
        examples: [
            Example(
                "vitalgate estimate --formula sun-2003 --from 2026-01-01",
                "Estimate all weighings of this year that have no estimate yet.")
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
            throw invocation.invalid("--to", value: invocation.string("--to") ?? "", expected: "a time after --from")
        }
        let store = try context.access().openForWriting(creating: false)
        let person = try context.person(in: store) ?? store.owner
        let account = try BodyEstimates(store: store, person: person, formula: formula, zone: zone).make(
            in: from...to, now: now)
        guard account.missing.isEmpty else {
            for missing in BodyEstimates.Missing.allCases where account.missing.contains(missing) {
                context.note("nothing was estimated. Missing " + missing.advice)
            }
            return .dataError
        }
        context.note(
            "estimates: \(Readable.count(account.stored, "sample")) new, \(Readable.count(account.known, "weighing")) already estimated"
        )
        if account.measured > 0 {
            context.note("\(Readable.count(account.measured, "weighing")) skipped: the scale reports body composition")
        }
        if account.withoutWeight > 0 {
            context.note("\(Readable.count(account.withoutWeight, "impedance")) skipped: no weight within two minutes")
        }
        if account.withoutHeight > 0 {
            context.note("\(Readable.count(account.withoutHeight, "weighing")) before age 20 skipped: no height within 90 days")
        }
        if account.outside > 0 {
            context.note("\(Readable.count(account.outside, "weighing")) skipped: outside the range of the formula")
        }
        return .success
    }
}
