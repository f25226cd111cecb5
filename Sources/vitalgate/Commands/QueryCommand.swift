import CommandLineKit
import HealthAnswers
import HealthModel
import SampleStore

/// `query`: prints samples by type, time, source, device and condition.
enum QueryCommand: Command {
    static let specification = CommandSpecification(
        name: "query", summary: "Print samples.",
        discussion: """
            Samples are sorted by start time unless you use --sort. The start of a health record is the time at which it was added. \
            Its own date, such as the day of a test, is the field date, as in --sort date. If you give a UUID instead of a type, the command prints \
            that sample. If the sample no longer exists, the command reports how it was removed or which sample replaced it. \
            'vitalgate show' prints all fields of a sample.

            \(SharedOptions.conditionSyntax)
            """,
        arguments: [
            Argument(
                name: "TYPE",
                help:
                    """
                    Type such as heartRate or 'heart rate', several types separated by commas, all types (all), or the UUID of a \
                    sample (or its first digits).
                    """,
                completion: .types)
        ],
        options: SharedOptions.range + [
            SharedOptions.person,
            SharedOptions.source,
            SharedOptions.device,
            SharedOptions.kind,
            SharedOptions.unit, SharedOptions.condition,
            Option(
                names: ["--sort"], value: "ORDER",
                help: "Fields to sort by, separated by commas, such as -value,start (- for descending order, default: start).",
                completion: .suggestions(["start", "-start", "end", "-end", "value", "-value", "duration", "-duration", "type"])),
            Option(names: ["--limit"], value: "N", help: "Maximum number of samples."),
            Option(
                names: ["--explain"],
                help:
                    """
                    Print how the query reads the store, instead of samples. For a UUID, print the sample's ledger entry and its \
                    duplicates.
                    """
            ),
            SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate query bodyTemperature --from -7d --where 'value > 38 Cel'", "Fevers of the last week."),
            Example(
                "vitalgate query heartRate --where \"value > 100 and (source.name = 'My watch' or device.model ~ HR)\"",
                "High heart rates from two devices."),
            Example("vitalgate query heartRate --from -30d --sort -value --limit 10", "The ten highest heart rates of a month."),
            Example(
                "vitalgate query all --where 'fhir.resourceType = \"Immunization\" and fhir.code.cvx = 94'",
                "Vaccinations with code 94 (measles, mumps, rubella, varicella) from health records."),
            Example(
                "vitalgate query labResultRecord --where 'code.loinc = 2339-0 and value > 99 mg/dL' --sort date",
                "High glucose values of a laboratory, in the order of the tests."),
            Example("vitalgate query all --format ndjson", "All samples, for another program."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let name = invocation.argument("TYPE") ?? "all"
        let zone = try context.zone()
        let store = try context.openForReading()
        let isType = name == "all" || SampleType(name) != nil || !SampleType.named(name).isEmpty
        if !isType, SampleIdentity(name) != nil || IdentityPrefix(name) != nil {
            let uuid = try context.uuid(name, of: "TYPE", among: .all, in: store)
            guard !invocation.flag("--explain") else { return try ExplanationReport(context, store).write(uuid) }
            return try show(uuid, store, context)
        }
        var types = name == "all" ? nil : Set(try context.types(name))
        if let kind = try context.kind() {
            let known =
                try types
                ?? Set(
                    store.samples.series(matching: SampleQuery()).map(\.type) + [SampleType("bloodPressure")].compactMap { $0 })
            types = known.filter { $0.kind == kind }
        }
        let unit = try context.unit(for: nil)
        // A single type must be compatible with the unit. If there are several, the unit applies to the compatible ones.
        if let unit, let type = types?.first, types?.count == 1 {
            let measured = BloodPressure.measuredType(of: type)
            _ = try measured.canonicalUnit.conversion(to: unit, molarMass: measured.molarMass)
        }
        let range = try context.range(zone: zone)
        var query = try context.query(types, from: range.from, to: range.to, zone: zone, in: store)
        query.order = try order(invocation)
        query.limit = try invocation.integer("--limit", in: 0...Int.max)
        query.derivesCorrelations = types?.contains { $0.kind == .correlation } ?? false
        if invocation.flag("--explain") { return try PlanReport(context).write(query, store) }
        var writer = SampleWriter(context: context, unit: unit, times: try context.times(), store: store)
        let series = try store.samples.series(matching: query)
        writer.showsDates = series.contains { $0.type.kind == .clinicalRecord }
        let people = Set(series.map(\.person))
        if people.count > 1 { writer.persons = try store.people.names() }
        let cursor = try store.samples.cursor(matching: query)
        var given = 0
        while let stored = try cursor.next() {
            try writer.write(stored)
            given += 1
        }
        try writer.finish()
        if given == 0, query.limit != 0, context.format == .table { context.note("no samples") }
        return .success
    }

    /// The sort order, which is empty for sorting by start.
    private static func order(_ invocation: Invocation) throws -> [SampleOrder] {
        guard let text = invocation.string("--sort") else { return [] }
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.count <= 8 else { throw invocation.invalid("--sort", value: text, expected: "at most 8 fields") }
        return try words.map { word in
            switch word {
            case "asc": return SampleOrder(.start)
            case "desc": return SampleOrder(.start, descending: true)
            default:
                guard let order = SampleOrder(word) else {
                    throw invocation.invalid(
                        "--sort", value: word,
                        expected:
                            "a field such as start, end, value, duration, type or source.name, with - for descending order"
                    )
                }
                return order
            }
        }
    }

    private static func show(
        _ uuid: SampleIdentity, _ store: SampleStore, _ context: CommandContext
    ) throws -> ExitCode {
        guard let stored = try store.shown(uuid) else {
            return try AbsenceNote(context: context, store: store).printReason(of: uuid)
        }
        var writer = SampleWriter(
            context: context, unit: try context.unit(for: stored.sample.origin.type), times: try context.times(),
            store: store)
        try writer.write(stored)
        try writer.finish()
        return .success
    }
}
