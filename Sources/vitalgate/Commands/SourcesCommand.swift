import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// `sources`: lists sources and sets their priority.
enum SourcesCommand: Command {
    static let specification = CommandSpecification(
        name: "sources", summary: "List sources and set their priority.",
        discussion: """
            A source is the app or device that reported a sample. If several sources report data for the same time, such as \
            steps from a phone and a watch, statistics count only the source with the highest priority.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the sources of samples.",
                discussion: "With TYPE, the sources are sorted by their priority in statistics, the highest first.",
                arguments: [
                    Argument(
                        name: "TYPE", help: "Quantity or category type.", arity: .optional,
                        completion: .command("vitalgate types --ids"))
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
                        arity: .optional, completion: .command("vitalgate types --ids")),
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
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        if context.invocation.path.last == "priority" { return try priority(context) }
        try list(context)
        return .success
    }

    private static func list(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let person = try context.invocation.string("--person").map { try StoreAccess.person($0, in: store) }
        let type = try context.invocation.argument("TYPE").map(context.type)
        let sources = try store.sources.counting(
            matching: SampleQuery(types: type.map { [$0] }, person: person), try context.configuration().priority)
        let rows = type == nil ? together(sources) : sources.map { SourceRow($0) }
        if context.format == .ndjson {
            for (index, row) in rows.enumerated() {
                let line = row.object(place: type == nil ? nil : index + 1, me: store.owner).line
                try context.streams.output.write(line)
            }
            return
        }
        let names = try store.people.names()
        let times = try context.times()
        var header = ["source", "id", "device", "person", "types", "first", "last"]
        if type != nil { header.insert("", at: 0) }
        let cells = rows.enumerated().map { index, row in
            var cells = [
                context.format == .table
                    ? SourceRevision.displayName(ofID: row.source.series.source, name: row.source.sourceName)
                    : row.source.sourceName, row.source.series.source, row.source.deviceName ?? row.source.model ?? "",
                names[row.source.series.person] ?? row.source.series.person,
                row.types.count > 3 ? "\(row.types.count)" : row.types.sorted().joined(separator: ", "),
                times.local(row.first), times.local(row.last),
            ]
            if type != nil { cells.insert("\(index + 1)", at: 0) }
            return cells
        }
        if rows.isEmpty, context.format == .table { context.note("no samples") }
        if !rows.isEmpty || context.format == .csv { try TableOutput(context: context).write(header: header, rows: cells) }
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
        let person = try invocation.string("--person").map { try StoreAccess.person($0, in: store) }
        let known = try store.sources.counting(matching: SampleQuery(types: type.map { [$0] }, person: person), [])
        for name in names where !known.contains(where: { $0.isNamed(by: name) }) {
            context.note("note: no samples from a source or device named '\(name)' yet")
        }
        try store.sources.set(SourceOrder(person: person, type: type, names: names))
        return .success
    }

    private static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let person = try context.invocation.string("--person").map { try StoreAccess.person($0, in: store) }
        let name = context.invocation.argument("TYPE")
        let type = name == "all" ? nil : try name.map(context.type)
        let orders = try store.sources.orders().filter { order in
            (person == nil || order.person == nil || order.person == person)
                && (name == nil || order.type == nil || order.type == type)
        }
        if context.format == .ndjson {
            for order in orders {
                var object = JSONObject()
                object.set("type", order.type?.id)
                object.set("subject", order.person.map { $0 == store.owner ? "me" : $0 })
                object.set("sources", order.names)
                try context.streams.output.write(object.line)
            }
            return
        }
        if orders.isEmpty, context.format == .table {
            context.note("no order is set. 'vitalgate sources list TYPE' shows the default order")
        }
        let persons = try store.people.names()
        let rows = orders.map { order in
            [
                order.type?.id ?? "all", order.person.map { persons[$0] ?? $0 } ?? "everybody",
                order.names.joined(separator: ", "),
            ]
        }
        if !rows.isEmpty || context.format == .csv {
            try TableOutput(context: context).write(header: ["type", "person", "sources"], rows: rows)
        }
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

    func object(place: Int?, me: String) -> JSONObject {
        var object = JSONObject()
        if let place { object.set("place", place) }
        object.set("subject", source.series.person == me ? "me" : source.series.person)
        var reported = JSONObject()
        reported.set("id", source.series.source)
        reported.set("name", source.sourceName)
        object.set("source", reported)
        var device = JSONObject()
        device.set("key", source.series.device.isEmpty ? nil : source.series.device)
        device.set("name", source.deviceName)
        device.set("model", source.model)
        object.set("device", device)
        object.set("types", types.sorted())
        object.set("first", first.description)
        object.set("last", last.description)
        return object
    }
}

extension CountingSource {
    /// Whether a name given by the user matches the source or its device.
    fileprivate func isNamed(by name: String) -> Bool {
        [series.source, series.device, sourceName, deviceName ?? "", model ?? ""].contains {
            $0.lowercased() == name.lowercased()
        }
    }
}
