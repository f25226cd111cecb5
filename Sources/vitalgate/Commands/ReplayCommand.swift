import CommandLineKit
import FileSource
import Gateway
import Glibc
import HealthModel
import Pipeline
import SampleStore

/// `replay`: a capture, down the way of all live frames.
enum ReplayCommand: Command {
    static let specification = CommandSpecification(
        name: "replay", summary: "Send a capture through the hub's whole way again.",
        discussion: """
            Reads what 'vitalgate capture' wrote, and takes each frame as the hub did, by the clock that the hub had: the same samples with the same \
            UUIDs, times and metadata, on any machine and however often. Without --into the samples are printed, one line of NDJSON each, by start \
            time, and nothing is kept. With --into they are stored, as one entry of the ledger; what the store has already is a duplicate. \
            Of FILE's older half, FILE.1, nothing need be said. A line that is damaged refuses the file as a whole, before anything is stored; a last line that \
            is cut is refused alone. A capture holds no keys: sealed advertisements are opened with the key of the device that is adopted in \
            the store.
            """,
        arguments: [Argument(name: "FILE", help: "The capture.", completion: .file)],
        options: [
            Option(
                names: ["--into"], value: "STORE", help: "Store the samples there; made where there is none.", completion: .file),
            RadioOptions.verbose, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate replay field.ndjson", "The samples that come of a capture."),
            Example("vitalgate replay field.ndjson --into copy.db", "Into a store of its own, to be queried."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let reader = try CaptureReader(path: context.invocation.argument("FILE") ?? "")
        Interruption.watch()
        guard let path = context.invocation.string("--into") else { return try print(reader, context) }
        var access = try context.access()
        access.configuration.store = path
        access.configuration.subject = access.configuration.subject ?? reader.head.subject
        let replay = try checked(reader, context, keys(access))
        let store = try reader.head.demo ? access.openDemo() : access.openForWriting(creating: true)
        try store.closeAbandoned(where: ProcessIdentity.isGone)
        let (account, code) = try replayed(replay, into: store, context)
        try AccountReport(context: context, zone: try context.machine.zone(context.configuration().timeZone)).write([account])
        try store.checkpoint()
        return code
    }

    /// Into a store that goes away again.
    private static func print(_ reader: CaptureReader, _ context: CommandContext) throws -> ExitCode {
        let replay = try checked(reader, context, keys(try context.access()))
        var template = Array("/tmp/vitalgate-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(.inputOutput, "/tmp: \(String(cString: strerror(errno)))") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for name in ["store.db", "store.db-wal", "store.db-shm"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        let store = try SampleStore(
            path: "\(folder)/store.db", access: .write,
            creation: .init(subject: reader.head.subject, time: context.machine.now().microseconds, isDemo: reader.head.demo))
        let (account, code) = try replayed(replay, into: store, context)
        let line = SampleLine(me: store.subject)
        var bytes: [UInt8] = []
        let cursor = try store.samples(matching: SampleQuery())
        while let stored = try cursor.next() {
            line.append(stored.sample, ingest: nil, seq: nil, to: &bytes)
            if bytes.count > 1 << 16 {
                try context.streams.output.write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        try context.streams.output.write(bytes)
        context.note(
            "read \(account.read): \(account.stored) stored, \(account.duplicate) duplicates, \(account.quarantined) held, "
                + "\(account.refused) refused; nothing is kept")
        return code
    }

    private static func checked(
        _ reader: CaptureReader, _ context: CommandContext, _ keys: [String: String]
    ) throws -> Replay {
        let machine = context.machine
        let replay = Replay(
            reader: reader,
            settings: Replay.Settings(
                library: try ProfileCommand.library(context), keys: keys, machine: machine,
                zone: { try? machine.zone(ZoneName($0, from: .option)) }, isCancelled: { Interruption.isAsked }))
        let isVerbose = context.invocation.flag("--verbose")
        replay.onNotice = { context.log($0, isVerbose: isVerbose) }
        try replay.check()
        return replay
    }

    private static func replayed(
        _ replay: Replay, into store: SampleStore, _ context: CommandContext
    ) throws -> (IngestAccount, ExitCode) {
        let name = FileArgument.all([context.invocation.argument("FILE") ?? ""]).first?.name ?? ""
        for note in replay.notes { context.note("\(name): \(note)") }
        let account = try replay.run(into: store, name: name)
        for refusal in try store.refusals(of: account.id).prefix(5) where refusal.placeKind != "more" {
            context.note("\(name): \(refusal.placeKind) \(refusal.place): \(refusal.reason)")
        }
        if account.quarantined > 0 {
            context.note("\(name): \(Readable.count(account.quarantined, "reading")) held, as on the hub that recorded it")
        }
        if account.state == "interrupted" { return (account, .tryAgain) }
        return (account, account.refused > 0 ? .dataError : .success)
    }

    /// Keys of encrypted advertisements, where the store has them.
    private static func keys(_ access: StoreAccess) throws -> [String: String] {
        guard let store = try? access.openForReading() else { return [:] }
        return Dictionary(
            try store.adoptedDevices().compactMap { device in device.bindKey.map { (device.address, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}
