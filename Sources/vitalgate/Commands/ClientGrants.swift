import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// The commands for a client's grants and requests.
enum ClientGrants {
    static let read = Option(names: ["--read"], value: "TYPES", help: "Types to read, separated by commas.")
    static let write = Option(names: ["--write"], value: "TYPES", help: "Types to write, separated by commas.")

    static let options = [
        read, write, SharedOptions.person,
        Option(names: ["--from"], value: "DATE", help: "Earliest start of the samples that the client may read."),
        Option(
            names: ["--objects"], value: "UUID", help: "UUID of a clinical record or document that the client may read.",
            repeating: true),
        Option(names: ["--future"], help: "Also allow clinical records and documents that arrive later."),
        SharedOptions.timeZone,
    ]

    static let examples = [
        Example(
            "vitalgate clients grant grafana --read bodyMass,heartRate --from 2026-01-01",
            "Read access to the samples of this year."),
        Example(
            "vitalgate clients grant scale --write bodyMass", "Write access. The client can also read the samples that it wrote."),
    ]

    /// The types of an option. Each one is named because no word selects all.
    private static func types(_ option: String, _ context: CommandContext) throws -> [ObjectType] {
        guard let names = context.invocation.string(option) else { return [] }
        return try names.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let type = ObjectType(named: String(name)) else {
                let named = SampleType.named(name)
                if named.count > 1 {
                    throw context.invocation.invalid(
                        option, value: String(name), expected: "one of \(named.map(\.id).joined(separator: ", "))")
                }
                throw context.invocation.invalid(
                    option, value: String(name),
                    expected: "a type of samples (see 'vitalgate types') or a characteristic")
            }
            return type
        }
    }

    private static func chosen(_ context: CommandContext) throws -> (read: [ObjectType], write: [ObjectType]) {
        let (read, write) = (try types("--read", context), try types("--write", context))
        guard !read.isEmpty || !write.isEmpty else {
            throw context.invocation.invalid("--read", value: "", expected: "types to read (or use --write)")
        }
        return (read, write)
    }

    static func grant(_ context: CommandContext) throws {
        let invocation = context.invocation
        let (read, write) = try chosen(context)
        let from = try context.instant(option: "--from", zone: try context.zone())
        let future = invocation.flag("--future")
        let objects = try invocation.strings("--objects").map { text in
            guard let uuid = SampleIdentity(text) else {
                throw invocation.invalid("--objects", value: text, expected: "a UUID of a clinical record or document")
            }
            return uuid
        }
        guard read.allSatisfy({ $0.isAskedByObject }) || (objects.isEmpty && !future) else {
            throw invocation.invalid("--read", value: "", expected: "only clinical types with --objects or --future")
        }
        let isByObject = read.contains { $0.isAskedByObject }
        guard !isByObject || future || !objects.isEmpty else {
            throw invocation.invalid(
                "--read", value: "", expected: "--objects or --future, because clinical types are granted one by one")
        }
        guard !isByObject || from == nil else {
            throw invocation.invalid("--from", value: "", expected: "no --from with clinical types, which are granted one by one")
        }
        let store = try context.access().openForWriting(creating: false)
        try change(context, store) { grant, client in
            if read.contains(grant.type) {
                grant.reading = isByObject ? .objects(future: future) : from.map { .from($0) } ?? .all
            }
            if write.contains(grant.type) { grant.mayWrite = true }
            try store.clients.set(
                grant, objects: read.contains(grant.type) ? objects : [], accesses: accesses(grant.type, read, write), of: client,
                at: context.machine.now())
        }
    }

    static func withdraw(_ context: CommandContext) throws {
        let (read, write) = try chosen(context)
        let store = try context.access().openForWriting(creating: false)
        try change(context, store) { grant, client in
            if read.contains(grant.type) { grant.reading = .none }
            if write.contains(grant.type) { grant.mayWrite = false }
            try store.clients.set(grant, accesses: accesses(grant.type, read, write), of: client, at: context.machine.now())
        }
    }

    /// The kinds of access that the options name for a type.
    private static func accesses(_ type: ObjectType, _ read: [ObjectType], _ write: [ObjectType]) -> Set<Grant.Access> {
        Set((read.contains(type) ? [.read] : []) + (write.contains(type) ? [.write] : []))
    }

    /// Changes the grants of each named type. Access that the options do not name is unchanged.
    private static func change(
        _ context: CommandContext, _ store: SampleStore, _ body: (inout Grant, Client) throws -> Void
    ) throws {
        let (read, write) = try chosen(context)
        let client = try ClientsCommand.client(context, store)
        let person = try context.person(in: store) ?? store.owner
        let known = try store.clients.grants(of: client).filter { $0.person == person }
        for type in Set(read + write).sorted() {
            var grant =
                known.first { $0.type == type } ?? Grant(person: person, type: type, reading: .none, mayWrite: false)
            try body(&grant, client)
        }
    }

    static func show(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let names = try store.people.names()
        try context.write(
            try store.clients.grants(of: try ClientsCommand.client(context, store)),
            [
                .person(names, store) { $0.person },
                Field("type") { $0.type.id }, Field("read") { words($0.reading) },
                Field("write", cell: { $0.mayWrite ? "yes" : "no" }) { $0.mayWrite },
            ])
    }

    private static func words(_ reading: Grant.Reading) -> String {
        switch reading {
        case .none: "no"
        case .all: "all"
        case .from(let start): "from \(start)"
        case .objects(future: false): "some"
        case .objects(future: true): "some and future"
        }
    }

    static func requests(_ context: CommandContext) throws {
        let store = try context.openForReading()
        let names = try store.people.names()
        let requests = try store.clients.all().flatMap { client in
            try store.clients.openRequests(of: client).map { (client: client, request: $0) }
        }
        func words(_ types: Set<ObjectType>) -> String { types.sorted().map(\.id).joined(separator: ",") }
        try context.write(
            requests,
            [
                Field("client") { $0.client.name }, .json("purpose") { $0.client.purpose }, .json("policy") { $0.client.policy },
                .person(names, store) { $0.request.person },
                Field("read") { words($0.request.read) }, Field("write") { words($0.request.write) },
                .column("purpose") { $0.client.purpose }, .column("policy") { $0.client.policy ?? "" },
            ])
    }
}
