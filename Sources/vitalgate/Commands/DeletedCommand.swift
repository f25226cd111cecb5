import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `deleted`: shows what was deleted, and by which ledger entry.
enum DeletedCommand: Command {
    static let specification = CommandSpecification(
        name: "deleted", summary: "Show deleted samples.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List deleted samples, the latest deletion last.",
                discussion: """
                    Shows when each sample was deleted and the number of the ledger entry that deleted it. 'vitalgate restore \
                    UUID' restores one sample. 'vitalgate ledger undo N' restores everything that entry N deleted. Samples that \
                    a repair replaced are listed with their replacement. Samples that were removed by 'vitalgate store prune' or \
                    'vitalgate people erase' are not listed, because nothing is left of them.
                    """,
                options: [
                    Option(names: ["--type"], value: "TYPE", help: "Only these types (separated by commas).", completion: .types),
                    Option(
                        names: ["--from"], value: "T",
                        help: "Earliest start: a date, a time, today, yesterday, monday or -7d (7 days ago)."),
                    Option(
                        names: ["--to", "--until"], value: "T",
                        help: "Only samples that start before this time (written as for --from)."),
                    SharedOptions.person,
                    Option(names: ["--limit"], value: "N", help: "Show only the last N deletions (default: \(defaultLimit))."),
                    SharedOptions.timeZone, Format.option, Format.safe,
                ],
                examples: [
                    Example("vitalgate deleted list --type weight", "All deleted weights."),
                    Example(
                        "vitalgate deleted list --from -7d --format ndjson",
                        "Deleted samples of the last week, with all their fields."),
                ])
        ])

    private static let defaultLimit = 1000
    private static let greatestLimit = 1_000_000

    static func run(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let limit = try invocation.integer("--limit", in: 0...greatestLimit) ?? defaultLimit
        var types: Set<SampleType>?
        if let names = invocation.string("--type"), names != "all" { types = Set(try context.types(names)) }
        let store = try context.openForReading()
        let range = try context.range(zone: try context.zone())
        let deleted = try store.samples.deleted(
            types: types, from: range.from, to: range.to,
            person: try context.person(in: store), limit: limit)
        var entries: [Int64: IngestAccount] = [:]
        for ingest in Set(deleted.map(\.ingest)) { entries[ingest] = try store.ledger.account(of: ingest) }
        let (line, times) = (SampleLine(me: store.owner), try context.times())
        func received(_ one: DeletedSample) -> Instant? { entries[one.ingest].map { Instant(microseconds: $0.received) } }
        func unit(_ sample: Sample) -> String { sample.origin.kind == .quantity ? sample.origin.type.canonicalUnit.code : "" }
        try context.write(
            deleted,
            [
                Field("deleted") { received($0) }, Field("ingest", "ledger") { $0.ingest },
                Field("kind", "by") { entries[$0.ingest]?.kind.rawValue },
                .column("start") { times.start(of: $0.stored.sample) }, .column("type") { $0.stored.sample.origin.type.id },
                .column("value") { $0.stored.sample.shown ?? Readable.number($0.stored.sample.value) },
                .column("unit") { unit($0.stored.sample) }, .column("uuid") { $0.stored.sample.identity.description },
                Field("replacedBy", "replaced by") { $0.replacedBy },
                .json("sample") { line.field($0.stored.sample, ingest: $0.stored.ingest) },
            ])
        if deleted.isEmpty, limit > 0, context.format == .table { context.note("no deleted samples") }
        return .success
    }
}
