import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// `sources`: lists sources and sets their priority.
enum SourcesCommand: Command {
    static let specification = CommandSpecification(
        name: "sources", summary: "List sources, set their priority, and add receivers.",
        discussion: """
            A source is the app or device that reported a sample. If several sources report data for the same time, such as \
            steps from a phone and a watch, statistics count only the source with the highest priority. The radios of Home \
            Assistant are a source that you add.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the sources of samples.",
                discussion: "With TYPE, the sources are sorted by their priority in statistics, the highest first.",
                arguments: [
                    Argument(name: "TYPE", help: "Quantity or category type.", arity: .optional, completion: .types)
                ],
                options: [SharedOptions.person, SharedOptions.timeZone, Format.option, Format.safe],
                examples: [Example("vitalgate sources list stepCount", "Compare the priority of watch and phone.")]),
            CommandSpecification(
                name: "priority", summary: "Set or show the priority of sources.",
                discussion: """
                    If several sources have data for the same time, statistics count only the first one in the order that you \
                    set. An order for one type overrides an order for all types, and an order for one person overrides an order \
                    for all people. Sources that are not in an order come last, worn devices before phones. The order does not \
                    change any sample. Without TYPE, the command shows the current orders.
                    """,
                arguments: [
                    Argument(
                        name: "TYPE", help: "Quantity or category type, or all for all types.",
                        arity: .optional, completion: .types),
                    Argument(
                        name: "SOURCE",
                        help: "Names or ids of sources or devices, the highest priority first (omit to show the order).",
                        arity: .any),
                ],
                options: [
                    SharedOptions.person, Option(names: ["--clear"], help: "Remove the order of the type."),
                    Format.option, Format.safe,
                ],
                examples: [
                    Example("vitalgate sources priority stepCount Watch iPhone", "Prefer the watch's steps to the phone's."),
                    Example("vitalgate sources priority all Ring --person Anna", "Prefer Anna's ring for all types."),
                ]), SourceEditing.addition, SourceEditing.removal,
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "priority": return try priority(context)
        case "add": return try SourceEditing(context).add()
        case "remove": return try SourceEditing(context).remove()
        default: try list(context)
        }
        guard context.format == .table else { return .success }
        for source in try context.configuration().sources {
            context.note(
                "'\(source.name)': radios of Home Assistant at \(source.settings.address.text) ('vitalgate status' shows them)")
        }
        return .success
    }

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let person = try context.person(in: store)
        let type = try context.invocation.argument("TYPE").map(context.type)
        let sources = try store.sources.counting(
            matching: SampleQuery(types: type.map { [$0] }, person: person), try context.configuration().priority)
        let rows = type == nil ? together(sources) : sources.map { SourceRow($0) }
        let names = try store.people.names()
        let isTable = context.format == .table
        let rank: [Field<(offset: Int, element: SourceRow)>] = [Field("place", "") { $0.offset + 1 }]
        let fields: [Field<(offset: Int, element: SourceRow)>] = [
            .json("subject") { store.subject($0.element.series.person) }, .json("source") { $0.element.sourceObject },
            .column("source") { isTable ? $0.element.displayName : $0.element.source.sourceName },
            .column("id") { $0.element.series.source },
            .column("device") { $0.element.source.deviceName ?? $0.element.source.model ?? "" },
            .column("person") { names[$0.element.series.person] ?? $0.element.series.person },
            .json("device") { $0.element.deviceObject },
            Field("types", cell: { $0.element.words }, value: { $0.element.types.sorted() }),
            Field("first") { $0.element.first }, Field("last") { $0.element.last },
        ]
        try context.write(Array(rows.enumerated()), (type == nil ? [] : rank) + fields, empty: "no samples")
    }

    /// One row for each person, source and device.
    private static func together(_ sources: [CountingSource]) -> [SourceRow] {
        var rows: [SourceRow] = []
        for source in sources.sorted(by: { $0.series.id < $1.series.id }) {
            let key = (source.series.person, source.series.source, source.series.device)
            if let index = rows.firstIndex(where: {
                ($0.source.series.person, $0.source.series.source, $0.source.series.device) == key
            }) {
                rows[index].take(source)
            } else {
                rows.append(SourceRow(source))
            }
        }
        return rows
    }

    private static func priority(_ context: CommandContext) throws -> ExitCode {
        let invocation = context.invocation
        let names = invocation.arguments("SOURCE")
        guard let name = invocation.argument("TYPE"), invocation.flag("--clear") || !names.isEmpty else {
            try show(context)
            return .success
        }
        let type = name == "all" ? nil : try context.type(name)
        if invocation.flag("--clear"), let first = names.first {
            throw invocation.invalid("SOURCE", value: first, expected: "no source with --clear")
        }
        let store = try context.access().openForWriting(creating: false)
        let person = try context.person(in: store)
        let known = try store.sources.counting(matching: SampleQuery(types: type.map { [$0] }, person: person), [])
        for name in names where !known.contains(where: { $0.isNamed(by: name) }) {
            context.note("note: no samples from a source or device named '\(name)' yet")
        }
        try store.sources.set(SourceOrder(person: person, type: type, names: names))
        return .success
    }

    private static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let person = try context.person(in: store)
        let name = context.invocation.argument("TYPE")
        let type = name == "all" ? nil : try name.map(context.type)
        let orders = try store.sources.orders().filter { order in
            (person == nil || order.person == nil || order.person == person)
                && (name == nil || order.type == nil || order.type == type)
        }
        let names = try store.people.names()
        try context.write(
            orders,
            [
                Field("type", cell: { $0.type?.id ?? "all" }, value: { $0.type?.id }),
                Field("subject", "person", cell: { $0.person.map { names[$0] ?? $0 } ?? "everybody" }) {
                    $0.person.map(store.subject)
                },
                Field("sources") { $0.names },
            ], empty: "no order is set. 'vitalgate sources list TYPE' shows the default order")
    }
}

/// A source, or the union of several series.
private struct SourceRow {
    var source: CountingSource
    var types: Set<String>
    var first: Instant
    var last: Instant

    init(_ source: CountingSource) {
        self.source = source
        (types, first, last) = ([source.series.type.id], source.first, source.last)
    }

    mutating func take(_ other: CountingSource) {
        types.insert(other.series.type.id)
        (first, last) = (min(first, other.first), max(last, other.last))
    }

    var series: SeriesDescription { source.series }
    var displayName: String { SourceRevision.displayName(ofID: series.source, name: source.sourceName) }
    var sourceObject: JSONObject { ["id": series.source, "name": source.sourceName] }
    var deviceObject: JSONObject {
        ["key": series.device.isEmpty ? nil : series.device, "name": source.deviceName, "model": source.model]
    }

    /// The types, or their number if there are many.
    var words: String { types.count > 3 ? "\(types.count)" : types.sorted().joined(separator: ", ") }
}

extension CountingSource {
    /// Whether a name given by the user matches the source or its device.
    fileprivate func isNamed(by name: String) -> Bool {
        [series.source, series.device, sourceName, deviceName ?? "", model ?? ""].contains {
            $0.lowercased() == name.lowercased()
        }
    }
}
