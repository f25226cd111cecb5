import CommandLineKit
import Gateway
import HealthModel
import SampleStore

/// `query`: samples by type, time, source, device and condition.
enum QueryCommand: Command {
    static let specification = CommandSpecification(
        name: "query", summary: "Print samples.",
        discussion: """
            Samples come by start time. A UUID in place of a type prints that sample, or what became of it.

            \(SharedOptions.conditionSyntax)
            """,
        arguments: [
            Argument(
                name: "TYPE",
                help: "A type such as heartRate or sleepAnalysis, several joined by commas, all, or a sample's UUID.",
                completion: .command("vitalgate types --ids"))
        ],
        options: SharedOptions.range + [
            SharedOptions.subject,
            Option(names: ["--source"], value: "SOURCE", help: "A source's id or name."),
            Option(names: ["--device"], value: "DEVICE", help: "A device's key, name, model or serial number."),
            Option(
                names: ["--kind"], value: "KIND", help: "Of all types only quantities, or categories.",
                completion: .values(SampleKind.allCases.map(\.name))),
            SharedOptions.unit, SharedOptions.condition,
            Option(
                names: ["--sort"], value: "ORDER", help: "start (oldest first, the default) or -start (newest first).",
                completion: .values(["start", "-start", "asc", "desc"])),
            Option(names: ["--limit"], value: "N", help: "At most so many samples."),
            Option(
                names: ["--explain"],
                help: "Of a UUID: what it is, by which rule other paths' readings were taken for it, and its witnesses."),
            SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate query bodyTemperature --from -7d --where 'value > 38 Cel'", "Fevers of the last week."),
            Example(
                "vitalgate query heartRate --where \"value > 100 and (source.name = 'My watch' or device.model ~ HR)\"",
                "Fast hearts, as two devices saw them."),
            Example("vitalgate query sleepAnalysis --from -7d --where 'case = asleepDeep'", "Deep sleep of the last week."),
            Example("vitalgate query all --format ndjson", "Everything, for a program."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let name = invocation.argument("TYPE") ?? "all"
        let zone = try context.zone()
        let store = try context.openForReading()
        if let uuid = SampleIdentity(name) {
            guard !invocation.flag("--explain") else { return try ExplanationReport(context, store).write(uuid) }
            return try show(uuid, store, context)
        }
        if invocation.flag("--explain") { throw invocation.invalid("TYPE", value: name, expected: "a sample's UUID to explain") }
        var types = name == "all" ? nil : Set(try context.types(name))
        if let kind = try context.kind() {
            types = Set(try types ?? Set(store.series(matching: SampleQuery()).map(\.type))).filter { $0.kind == kind }
        }
        let unit = try context.unit(for: nil)
        // Of several types each is shown in the unit as far as it has a conversion; a single one must have it.
        if let unit, let type = types?.first, types?.count == 1 {
            _ = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
        }
        let range = try context.range(zone: zone)
        var query = SampleQuery(
            types: types, from: range.from, to: range.to,
            subject: try invocation.string("--subject").map { try StoreAccess.subject($0, in: store) },
            source: invocation.string("--source"), device: invocation.string("--device"),
            where: try context.condition(for: types, zone: zone, in: store))
        query.descending = invocation.string("--sort") == "-start" || invocation.string("--sort") == "desc"
        query.limit = try invocation.integer("--limit", in: 0...Int.max)
        var writer = SampleWriter(context: context, unit: unit, times: try context.times(), me: store.subject)
        let subjects = Set(try store.series(matching: query).map(\.subject))
        if subjects.count > 1 { writer.persons = try store.personNames() }
        let cursor = try store.samples(matching: query)
        var given = 0
        while let stored = try cursor.next() {
            try writer.write(stored)
            given += 1
        }
        try writer.finish()
        if given == 0, query.limit != 0, context.format == .table { context.note("no samples") }
        return .success
    }

    private static func show(
        _ uuid: SampleIdentity, _ store: SampleStore, _ context: CommandContext
    ) throws -> ExitCode {
        switch try store.lookup(uuid) {
        case .live(let stored):
            var writer = SampleWriter(
                context: context, unit: try context.unit(for: stored.sample.origin.type), times: try context.times(),
                me: store.subject)
            try writer.write(stored)
            try writer.finish()
            return .success
        case .deleted, nil:
            return try tellAbsence(of: uuid, store, context)
        }
    }

    /// Why there is no such sample.
    private static func tellAbsence(
        of uuid: SampleIdentity, _ store: SampleStore, _ context: CommandContext
    ) throws -> ExitCode {
        if let first = try store.explain(uuid)?.first {
            context.note("vitalgate: \(uuid) is a duplicate of \(first.other.uuid) by rule \(first.rule.rawValue)")
            return .dataError
        }
        switch try store.lookup(uuid) {
        case .live: return .success
        case .deleted(_, let replacement?):
            context.note("vitalgate: " + (try explain(uuid, replacedBy: replacement, store)))
            return .dataError
        case .deleted(_, nil):
            context.note("vitalgate: \(uuid) is deleted; 'vitalgate restore \(uuid)' brings it back")
            return .dataError
        case nil:
            context.note("vitalgate: there is no sample \(uuid)")
            return .dataError
        }
    }

    /// What replaced a sample, and that again, up to the one that is there now.
    private static func explain(_ uuid: SampleIdentity, replacedBy replacement: String, _ store: SampleStore) throws -> String {
        var text = "\(uuid) was replaced by \(replacement)"
        var next = SampleIdentity(replacement)
        var seen: Set<SampleIdentity> = [uuid]
        while let uuid = next, seen.insert(uuid).inserted {
            if let repair = try store.repair(thatMade: uuid) {
                text += " (migration \(repair.id): \(Repair.words(of: repair.repair)))"
            }
            next = nil
            switch try store.lookup(uuid) {
            case .deleted(_, let replacement?):
                text += ", that by \(replacement)"
                next = SampleIdentity(replacement)
            case .deleted(_, nil): text += ", which is deleted"
            default: break
            }
        }
        return text
    }
}
