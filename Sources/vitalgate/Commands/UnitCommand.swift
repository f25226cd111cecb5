import CommandLineKit
import Formats
import HealthModel

/// `unit convert`: converts a value to another unit.
enum UnitCommand: Command {
    static let specification = CommandSpecification(
        name: "unit", summary: "Convert values between units.",
        subcommands: [
            CommandSpecification(
                name: "convert", summary: "Convert a value.",
                discussion:
                    """
                    Units are codes of the standard UCUM, such as '[degF]', 'mg/dL', 'mm[Hg]' or '/min'. With --dialect \
                    healthkit they are the unit strings of Apple's HealthKit, such as 'count/min'.
                    """,
                arguments: [
                    Argument(name: "VALUE", help: "Number to convert."), Argument(name: "FROM", help: "Unit of the number."),
                    Argument(name: "TO", help: "Unit to convert to."),
                ],
                options: [
                    Option(
                        names: ["--molar-mass"], value: "G/MOL",
                        help: "Molar mass in g/mol, to convert between units of mass and of amount (mg/dL and mmol/L)."),
                    Option(
                        names: ["--type"], value: "TYPE",
                        help: "Quantity type whose substance has a known molar mass, such as bloodGlucose.",
                        completion: .types),
                    Option(
                        names: ["--dialect"], value: "DIALECT", help: "Notation of the units (default: ucum).",
                        completion: .values(["ucum", "healthkit"])),
                    Format.option,
                ],
                examples: [
                    Example("vitalgate unit convert 98.6 '[degF]' Cel", "37 Cel"),
                    Example("vitalgate unit convert 5.5 mmol/L mg/dL --type bloodGlucose", "99.08573400002975 mg/dL"),
                ])
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let text = invocation.argument("VALUE") ?? ""
        guard let numeral = try? Numeral(text) else { throw invocation.invalid("VALUE", value: text, expected: "a number") }
        var molarMass = try invocation.string("--type").map { try context.type($0) }?.molarMass
        if let text = invocation.string("--molar-mass") {
            guard let mass = (try? Numeral(text))?.doubleValue, mass > 0 else {
                throw invocation.invalid("--molar-mass", value: text, expected: "grams per mole")
            }
            molarMass = mass
        }
        func unit(_ name: String) throws -> HealthModel.Unit {
            let code = invocation.argument(name) ?? ""
            return invocation.string("--dialect") == "healthkit"
                ? try HealthModel.Unit(healthKit: code) : try HealthModel.Unit(written: code)
        }
        let (from, to) = (try unit("FROM"), try unit("TO"))
        if let kelvin = try? from.conversion(to: HealthModel.Unit(ucum: "K")).convert(numeral), kelvin < -1e-9 {
            context.note("vitalgate: \(text) \(from.code) is below absolute zero, -273.15 Cel")
            return .dataError
        }
        let value = try from.conversion(to: to, molarMass: molarMass).convert(numeral)
        guard value.isFinite else {
            throw invocation.invalid("VALUE", value: text, expected: "a number whose result fits a Double")
        }
        let code = invocation.string("--dialect") == "healthkit" ? invocation.argument("TO") ?? to.code : to.code
        switch context.format {
        case .ndjson:
            try context.streams.output.write(JSONObject(["value": RawJSON(Readable.plain(value)), "unit": code]).line)
        case .csv: try context.streams.output.write("value,unit\n\(Readable.plain(value)),\(code)\n")
        case .table: try context.streams.output.write("\(Readable.plain(value)) \(code)\n")
        }
        return .success
    }
}

extension Readable {
    /// The shortest digits that identify this Double, without a fraction of zero.
    static func plain(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// `types`: the catalogue of sample types.
enum TypesCommand: Command {
    static let specification = CommandSpecification(
        name: "types", summary: "List the types of samples.",
        discussion: """
            Most types are defined by Apple's HealthKit. Types marked 'own' are Vitalgate's, for measurements for which \
            HealthKit has no type. The kind of a type determines its value. A quantity is a number with a unit. A category is \
            one of the listed cases, and a workout is one of the listed activities. All other kinds are objects with several \
            fields.
            """,
        options: [
            Option(names: ["--ids"], help: "Print only the ids, one per line."),
            SharedOptions.kind,
            Format.option, Format.safe,
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let output = context.streams.output
        let kind = try context.kind()
        let types = SampleType.all.filter { kind == nil || $0.kind == kind }
        if context.invocation.flag("--ids") {
            for type in types { try output.write("\(type.id)\n") }
            return .success
        }
        try context.write(
            types,
            [
                Field("id") { $0.id }, .column("name") { $0.displayName }, Field("kind") { $0.kind.name },
                .json("healthKitIdentifier") { $0.healthKitIdentifier }, .json("name") { $0.displayName },
                .json("own") { $0.isVitalgates }, .json("dimension") { $0.dimensionName },
                Field("unit") { $0.kind == .quantity ? $0.canonicalUnit.code : nil },
                .json("cases") { ifPresent($0.categoryValues.map(cases)) }, .json("plausible") { $0.plausible.map(bounds) },
                Field("aggregation") { $0.kind == .quantity ? $0.aggregation.rawValue : nil }, Field("loinc") { $0.loinc },
                .json("duplicates") { DuplicateRule.of($0, lasting: true).rawValue }, Field("mdc") { $0.mdc?.code },
                .column("own") { $0.isVitalgates ? "own" : "" },
                .column("cases") { $0.categoryValues?.cases.map(\.name).joined(separator: " ") ?? "" },
            ])
        return .success
    }

    private static func bounds(_ range: ClosedRange<Double>) -> JSONObject {
        [
            "low": range.lowerBound.isFinite ? range.lowerBound : nil,
            "high": range.upperBound.isFinite ? range.upperBound : nil,
        ]
    }

    /// The cases as JSON with HealthKit's numbers, such as `{"asleepCore":3}`.
    private static func cases(_ values: CategoryValues) -> JSONObject {
        var object = JSONObject()
        for each in values.cases { object.set(each.name, each.value) }
        return object
    }
}
