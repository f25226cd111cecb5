import CommandLineKit
import FileSource
import Formats
import Gateway
import Glibc
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// `replay`: processes a capture like live frames.
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

            What 'btmon -w' records, and the Bluetooth HCI snoop log of an Android bug report (btsnoop), is read too: of the devices that are adopted \
            in the store and those that --device names, by the services that they were seen to have. Local times are read in --time-zone.
            """,
        arguments: [Argument(name: "FILE", help: "The capture.", completion: .file)],
        options: [
            Option(
                names: ["--into"], value: "STORE", help: "Store the samples there; made where there is none.", completion: .file),
            Option(
                names: ["--device"], value: "ADDRESS",
                help:
                    "Of a btsnoop file: read this device as if it were adopted; ADDRESS=PROFILE,PROFILE by these profiles.",
                repeating: true),
            RadioOptions.verbose, SharedOptions.timeZone, Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate replay field.ndjson", "The samples that come of a capture."),
            Example("vitalgate replay field.ndjson --into copy.db", "Into a store of its own, to be queried."),
            Example("vitalgate replay btsnoop_hci.log --device C0:01:02:03:04:01", "What a phone heard of one device."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        Interruption.watch()
        var access = try context.access()
        guard let path = context.invocation.string("--into") else {
            return try print(recording(access, context), context)
        }
        access.configuration.store = path
        let recording = try recording(access, context)
        access.configuration.subject = access.configuration.subject ?? recording.subject
        let store = try recording.isDemo ? access.openDemo() : access.openForWriting(creating: true)
        try store.closeAbandoned()
        let (account, code) = try replayed(recording.replay, into: store, context)
        try AccountReport(context: context, zone: try context.zone()).write([account])
        try store.checkpoint()
        return code
    }

    /// Replays into a temporary store and prints the samples.
    private static func print(_ recording: Recording, _ context: CommandContext) throws -> ExitCode {
        var template = Array("/tmp/vitalgate-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(.inputOutput, "/tmp: \(String(cString: strerror(errno)))") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for name in ["store.db", "store.db-wal", "store.db-shm", "store.db-running"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        let store = try SampleStore(
            path: "\(folder)/store.db", access: .write,
            creation: .init(subject: recording.subject, time: context.machine.now().microseconds, isDemo: recording.isDemo))
        let (account, code) = try replayed(recording.replay, into: store, context)
        let line = SampleLine(me: store.subject)
        var bytes: [UInt8] = []
        let cursor = try store.samples(matching: SampleQuery())
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
            "\(Readable.count(account.read, "reading")), of which \(account.duplicate) duplicates, \(account.quarantined) held as they came and "
                + "\(account.refused) refused; \(Readable.count(printed, "sample")) in the end, and nothing is kept")
        return code
    }

    /// A capture that is ready to replay.
    private struct Recording {
        var replay: Replay
        var subject: String
        var isDemo: Bool
    }

    private static func recording(_ access: StoreAccess, _ context: CommandContext) throws -> Recording {
        let path = context.invocation.argument("FILE") ?? ""
        let library = try ProfileCommand.library(context)
        let known = try? access.openForReading()
        let adopted = try known?.adoptedDevices() ?? []
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
            let subject = known?.subject ?? access.configuration.subject ?? nobody
            let reader = try TrafficReader(file, subject: subject, zone: zone)
            try reader.choose(adopted, named, library)
            recording = Recording(replay: Replay(traffic: reader, settings: settings), subject: subject, isDemo: false)
        } else {
            let reader = try CaptureReader(path: path)
            recording = Recording(
                replay: Replay(reader: reader, settings: settings), subject: reader.head.subject, isDemo: reader.head.demo)
        }
        let isVerbose = context.invocation.flag("--verbose")
        recording.replay.onNotice = { context.log($0, isVerbose: isVerbose) }
        try recording.replay.check()
        return recording
    }

    /// The person of a store that does not exist.
    private static let nobody = "00000000-0000-4000-8000-000000000000"

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
        for refusal in try store.refusals(of: account.id).prefix(5) where refusal.placeKind != "more" {
            context.note("\(name): \(refusal.placeKind) \(refusal.place): \(refusal.reason)")
        }
        if account.quarantined > 0 {
            context.note(
                "\(name): \(Readable.count(account.quarantined, "reading")) held as they came, as on the hub that recorded them")
        }
        if account.state == "interrupted" { return (account, .tryAgain) }
        return (account, account.refused > 0 ? .dataError : .success)
    }
}
