import CommandLineKit
import Formats
import HealthModel
import Hub
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
                    Option(
                        names: ["--type"], value: "TYPE", help: "Only these types (separated by commas).",
                        completion: .command("vitalgate types --ids")),
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
            person: try invocation.string("--person").map { try StoreAccess.person($0, in: store) }, limit: limit)
        var entries: [Int64: IngestAccount] = [:]
        for ingest in Set(deleted.map(\.ingest)) { entries[ingest] = try store.ledger.account(of: ingest) }
        if context.format == .ndjson {
            try writeLines(deleted, entries, store, context)
        } else {
            try writeTable(deleted, entries, context)
            if deleted.isEmpty, limit > 0, context.format == .table { context.note("no deleted samples") }
        }
        return .success
    }

    private static func writeLines(
        _ deleted: [DeletedSample], _ entries: [Int64: IngestAccount], _ store: SampleStore, _ context: CommandContext
    ) throws {
        let line = SampleLine(me: store.owner)
        for one in deleted {
            var sample: [UInt8] = []
            line.append(one.stored.sample, ingest: one.stored.ingest, seq: nil, to: &sample)
            var object = JSONObject()
            object.set("deleted", entries[one.ingest].map { Instant(microseconds: $0.received).description })
            object.set("ingest", Int(one.ingest))
            object.set("kind", entries[one.ingest]?.kind.rawValue)
            object.set("replacedBy", one.replacedBy)
            object.set("sample", raw: Array(sample.dropLast()))
            try context.streams.output.write(object.line)
        }
    }

    private static func writeTable(_ deleted: [DeletedSample], _ entries: [Int64: IngestAccount], _ context: CommandContext)
        throws
    {
        let times = try context.times()
        let rows = deleted.map { one in
            let (sample, entry) = (one.stored.sample, entries[one.ingest])
            let isQuantity = sample.origin.kind == .quantity
            return [
                entry.map { times.local(Instant(microseconds: $0.received)) } ?? "", "\(one.ingest)",
                entry?.kind.rawValue ?? "",
                times.start(of: sample), sample.origin.type.id, sample.shown ?? Readable.number(sample.value),
                isQuantity ? sample.origin.type.canonicalUnit.code : "", sample.identity.description, one.replacedBy ?? "",
            ]
        }
        let header = ["deleted", "ledger", "by", "start", "type", "value", "unit", "uuid", "replaced by"]
        try TableOutput(context: context).write(header: header, rows: rows)
    }
}
