import CommandLineKit
import FileSource
import Formats
import Glibc
import HealthModel
import Hub
import Ingestion
import Pipeline
import SampleStore

/// `replay`: processes a capture like live frames.
enum ReplayCommand: Command {
    static let specification = CommandSpecification(
        name: "replay", summary: "Process the device messages that 'capture' recorded.",
        discussion: """
            Reads a capture, which is the file that 'vitalgate capture' wrote, and processes each frame (one message from a \
            device) as the hub does, with the recorded time as the clock. The samples, with their UUIDs, times and metadata, are \
            therefore the same on every machine. By default they are printed as NDJSON, sorted by start time. With --into they \
            are stored as one entry of the ledger. Samples that the store already has are counted as duplicates.

            FILE.1, the older part of a capture, is read, too. A damaged capture is refused. To read encrypted advertisements, \
            first adopt the device in the store with 'vitalgate devices adopt --bind-key'.

            FILE can also be a btsnoop file: a recording of 'btmon -w', or the Bluetooth HCI snoop log of an Android bug report. \
            It is read only for devices that are adopted in the store or named with --device. Its local times are in the time \
            zone of --time-zone.
            """,
        arguments: [Argument(name: "FILE", help: "Capture or btsnoop file.", completion: .file)],
        options: [
            Option(
                names: ["--into"], value: "STORE", help: "Store the samples in this store (created if missing).",
                completion: .file),
            Option(
                names: ["--device"], value: "ADDRESS",
                help:
                    "Device to read from a btsnoop file (or ADDRESS=PROFILE,PROFILE to choose its profiles).",
                repeating: true),
            RadioOptions.verbose, SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate replay field.ndjson", "Print the samples of a capture."),
            Example("vitalgate replay field.ndjson --into copy.db", "Import a capture into a separate store."),
            Example(
                "vitalgate replay btsnoop_hci.log --device C0:01:02:03:04:01", "Read one device from a phone's Bluetooth log."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        Interruption.watch()
        var access = try context.access()
        guard let path = context.invocation.string("--into") else {
            return try print(recording(access, context), context)
        }
        access.configuration.store = path
        let recording = try recording(access, context)
        access.configuration.person = access.configuration.person ?? recording.person
        let store = try recording.isDemo ? access.openDemo() : access.openForWriting(creating: true)
        try store.ledger.closeAbandoned()
        let (account, code) = try replayed(recording.replay, into: store, context)
        try AccountReport(context: context, zone: try context.zone()).write([account])
        try store.checkpoint()
        return code
    }

    /// Replays into a temporary store and prints the samples.
    private static func print(_ recording: Recording, _ context: CommandContext) throws -> ExitCode {
        let temporary = try TemporaryStore()
        defer { temporary.remove() }
        let store = try SampleStore(
            path: temporary.path, access: .write,
            creation: .init(person: recording.person, time: context.machine.now().microseconds, isDemo: recording.isDemo))
        let (account, code) = try replayed(recording.replay, into: store, context)
        let line = SampleLine(me: store.owner)
        var bytes: [UInt8] = []
        let cursor = try store.samples.cursor(matching: SampleQuery())
        var printed = 0
        while let stored = try cursor.next() {
            printed += 1
            line.append(stored.sample, ingest: nil, seq: nil, to: &bytes)
            if bytes.count > 1 << 16 {
                try context.streams.output.write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        try context.streams.output.write(bytes)
        context.note(
            "\(Readable.count(account.read, "reading")) (\(Readable.count(account.duplicate, "duplicate")), "
                + "\(account.quarantined) quarantined, \(account.refused) refused): \(Readable.count(printed, "sample")) printed, nothing was stored"
        )
        return code
    }

    private struct Recording {
        var replay: Replay
        var person: String
        var isDemo: Bool
    }

    private static func recording(_ access: StoreAccess, _ context: CommandContext) throws -> Recording {
        let path = context.invocation.argument("FILE") ?? ""
        let library = try ProfileCommand.library(context)
        let known = try? access.openForReading()
        let adopted = try known?.devices.adopted() ?? []
        let machine = context.machine
        let zone = try context.zone()
        let keys = adopted.compactMap { device in device.bindKey.map { (device.address, $0) } }
        let settings = Replay.Settings(
            library: library, keys: Dictionary(keys, uniquingKeysWith: { first, _ in first }), now: machine.now,
            zone: { $0 == zone.identifier ? zone : try? machine.zone(ZoneName($0, from: .option)) },
            isCancelled: { Interruption.isAsked })
        var recording: Recording
        if let file = try traffic(path) {
            let named = try context.invocation.strings("--device").map { text in
                guard let device = TrafficReader.Named(text) else {
                    throw context.invocation.invalid("--device", value: text, expected: "ADDRESS or ADDRESS=PROFILE,…")
                }
                return device
            }
            let person = known?.owner ?? access.configuration.person ?? placeholderPerson
            let reader = try TrafficReader(file, person: person, zone: zone)
            try reader.choose(adopted, named, library)
            recording = Recording(replay: Replay(traffic: reader, settings: settings), person: person, isDemo: false)
        } else {
            let reader = try CaptureReader(path: path)
            recording = Recording(
                replay: Replay(reader: reader, settings: settings), person: reader.head.person, isDemo: reader.head.demo)
        }
        let isVerbose = context.invocation.flag("--verbose")
        recording.replay.onNotice = { context.log($0, isVerbose: isVerbose) }
        try recording.replay.check()
        return recording
    }

    /// The person of a store that does not exist.
    private static let placeholderPerson = "00000000-0000-4000-8000-000000000000"

    /// The file if it contains Bluetooth controller traffic (btsnoop), otherwise `nil`.
    private static func traffic(_ path: String) throws -> BTSnoopFile? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let file = try InputFile(path: path)
        return BTSnoopFile.isOne(file) ? try BTSnoopFile(file, path: path) : nil
    }

    private static func replayed(
        _ replay: Replay, into store: SampleStore, _ context: CommandContext
    ) throws -> (IngestAccount, ExitCode) {
        let name = FileArgument.all([context.invocation.argument("FILE") ?? ""]).first?.name ?? ""
        for note in replay.notes { context.note("\(name): \(note)") }
        let account = try replay.run(into: store, name: name)
        for refusal in try store.ledger.refusals(of: account.id).prefix(5) where refusal.placeKind != "more" {
            context.note("\(name): \(refusal.placeKind) \(refusal.place): \(refusal.reason)")
        }
        if account.quarantined > 0 {
            context.note(
                "\(name): \(Readable.count(account.quarantined, "reading")) quarantined, as on the hub that recorded the capture")
        }
        if account.state == "interrupted" { return (account, .tryAgain) }
        return (account, account.refused > 0 ? .dataError : .success)
    }
}
