import CommandLineKit
import EventLoopKit
import Formats
import Glibc
import HealthModel
import Hub
import HubBackup
import Ingestion
import Pipeline
import SampleStore

/// The parts that all commands of `backup` use.
struct BackupContext {
    let context: CommandContext
    let configuration: Configuration
    /// The path of the store, without links. Its files are opened only as the owner of the path with the links.
    let store: String

    init(_ context: CommandContext) throws {
        self.context = context
        configuration = try context.configuration()
        store = Self.canonical(configuration.store)
    }

    /// The path without links, as far as it exists.
    static func canonical(_ path: String) -> String {
        let absolute = SmallFile.absolute(path)
        guard let found = realpath(SmallFile.folder(of: absolute), nil) else { return absolute }
        defer { free(found) }
        let name = absolute.split(separator: "/").last.map(String.init) ?? ""
        if let whole = realpath(absolute, nil) {
            defer { free(whole) }
            return String(cString: whole)
        }
        return String(cString: found) + "/" + name
    }

    /// The locations that the command names, or all.
    func locations() throws -> [BackupLocationConfiguration] {
        let names = context.invocation.arguments("NAME")
        guard !names.isEmpty else {
            guard !configuration.backup.locations.isEmpty else {
                throw ConfigurationError("there is no location for backups: add one with 'vitalgate backup add LOCATION'")
            }
            return configuration.backup.locations
        }
        return try names.map(location)
    }

    func location(_ name: String) throws -> BackupLocationConfiguration {
        if let found = configuration.backup.locations.first(where: { $0.name == name }) { return found }
        let known = configuration.backup.locations.map(\.name).joined(separator: ", ")
        throw context.invocation.invalid(
            "NAME", value: name, expected: known.isEmpty ? "a location (add one with 'vitalgate backup add')" : "one of \(known)")
    }

    /// The name of the only location, or the named one.
    func onlyLocation() throws -> BackupLocationConfiguration { try location(context.invocation.argument("NAME") ?? "") }

    /// The key in the file that `--key-file` names, or `nil` without the option.
    func givenKey() throws -> BackupKey? {
        guard let path = context.invocation.string("--key-file") else { return nil }
        guard let bytes = SmallFile.read(path, limit: 4096) else {
            throw ConfigurationError("\(path): \(String(cString: strerror(errno)))", isOfOption: true)
        }
        return try BackupKeyFile.key(String(decoding: bytes, as: UTF8.self))
    }

    // MARK: restic

    /// Whether the hub started the command, which ends with the hub. Only `backup run` has the option.
    var endsWithInput: Bool { context.invocation.path.last == "run" && context.invocation.flag("--until-eof") }

    /// Whether the hub started the command, and nobody waits for it.
    private var isBackground: Bool { context.invocation.path.last == "run" && context.invocation.flag("--due") }

    /// restic on a location of the configuration, with its key.
    func restic(_ location: BackupLocationConfiguration) throws -> Restic {
        try restic(location.location, key: BackupKeyFile(store, location.name).key(), credentials: location.credentials)
    }

    func restic(_ location: BackupLocation, key: BackupKey, credentials path: String?) throws -> Restic {
        // restic runs as root, and must not write where another user could have put links.
        let isOfOther = getuid() == 0 && FolderOwner.owner(of: configuration.store) != nil
        let cache = isOfOther ? nil : BackupState.folder(ofStore: store) + "/cache"
        return try Restic(
            location, key: key, credentials: try path.map(Self.credentials) ?? [:], cache: cache, isBackground: isBackground,
            isStopped: Self.stopCheck(untilEOF: endsWithInput))
    }

    /// Reads the variables in a file that only its owner may read.
    private static func credentials(_ path: String) throws -> [String: String] {
        var status = stat()
        guard stat(path, &status) == 0, let bytes = SmallFile.read(path, limit: 65_536) else {
            throw ConfigurationError("\(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & 0o007 == 0 else {
            throw ConfigurationError("\(path): every user of this machine can read it: run 'chmod o= \(path)'")
        }
        var values: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Restic.credentialNames.contains(String(parts[0])) else {
                throw ConfigurationError(
                    "\(path): expected lines NAME=VALUE with these names: \(Restic.credentialNames.joined(separator: ", "))")
            }
            values[String(parts[0])] = String(parts[1])
        }
        return values
    }

    /// Signals stop a run in order, and so does the end of the hub.
    static func stopCheck(untilEOF: Bool) -> @Sendable () -> Bool {
        {
            if HubSignals.isStopAsked { return true }
            guard untilEOF else { return false }
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 0) > 0 else { return false }
            var byte: UInt8 = 0
            return read(STDIN_FILENO, &byte, 1) <= 0
        }
    }

    // MARK: list

    func list() throws -> ExitCode {
        guard context.invocation.argument("NAME") != nil else { return try listLocations() }
        let location = try onlyLocation()
        let restic = try restic(location)
        let choices = try BackupRestore(store: store, restic: restic).choices()
        let zone = try context.zone()
        try context.write(
            choices, [Field("time", "backup", cell: { Self.local($0.time, zone) }) { $0.time }, Field("hub") { $0.hub }])
        return .success
    }

    static func local(_ time: Instant, _ zone: TimeZoneRules) -> String {
        String(Readable.local(time, at: zone.offset(at: time)).prefix(19))
    }

    private func listLocations() throws -> ExitCode {
        let state = BackupState(ofStore: store)
        let zone = try context.zone()
        func text(_ time: Int64?) -> String { time.map { Self.local(Instant(microseconds: $0), zone) } ?? "" }
        func time(_ value: Int64?) -> Instant? { value.map { Instant(microseconds: $0) } }
        let rows = configuration.backup.locations.map { ($0, state.places[$0.name] ?? BackupState.Place()) }
        try context.write(
            rows,
            [
                Field("name") { $0.0.name }, Field("location") { $0.0.location.address },
                Field("made", "last backup", cell: { text($0.1.made) }) { time($0.1.made) },
                Field("proven", "last proven", cell: { text($0.1.proven) }) { time($0.1.proven) },
                Field("samples", cell: { $0.1.samples.map { Readable.count($0) } ?? "" }) { $0.1.samples },
                .json("bytes") { $0.1.bytes }, .json("added") { $0.1.added }, .json("away") { time($0.1.away) },
                Field(
                    "failure", "problem", cell: { $0.1.drillFailure ?? $0.1.failure ?? ($0.1.away != nil ? "not connected" : "") }
                ) {
                    $0.1.failure
                }, .json("drillFailure") { $0.1.drillFailure },
            ])
        if context.format == .ndjson { return .success }
        if configuration.backup.locations.isEmpty {
            context.note("there is no location for backups: add one with 'vitalgate backup add LOCATION'")
        }
        return .success
    }
}

/// The file with a location's key, beside the store.
struct BackupKeyFile {
    let path: String
    private let store: String

    init(_ store: String, _ name: String) {
        self.store = store
        path = BackupState.folder(ofStore: store) + "/\(name).key"
    }

    func key() throws -> BackupKey {
        let text: String
        do throws(DeliveryError) {
            text = try Secret.file(path).read()
        } catch {
            throw BackupFailure(.permission, "the key of the backups cannot be read: \(error.reason)")
        }
        return try Self.key(text)
    }

    static func key(_ text: String) throws -> BackupKey {
        do throws(BackupKey.Fault) {
            return try BackupKey(typed: text)
        } catch {
            throw BackupFailure(.wrongKey, error.description)
        }
    }

    /// Writes the key. Only the owner of the store can read it.
    func write(_ key: BackupKey) throws {
        let folder = SmallFile.folder(of: path)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw BackupFailure(.permission, "\(folder): \(String(cString: strerror(errno)))")
        }
        try SmallFile.replace(path, with: key.words + "\n", mode: 0o600)
    }

    /// `backup key`.
    static func run(_ context: CommandContext) throws -> ExitCode {
        let backup = try BackupContext(context)
        let location = try backup.onlyLocation()
        let file = BackupKeyFile(backup.store, location.name)
        let invocation = context.invocation
        if invocation.flag("--enter") {
            try context.becomeStoreOwner()
            let key = try key(context.typedSecret("Key of the backups"))
            let restic = try backup.restic(location.location, key: key, credentials: location.credentials)
            if try !restic.isThere() { try restic.create() }
            try file.write(key)
            return .success
        }
        if invocation.flag("--replace") {
            try context.becomeStoreOwner()
            let key = BackupKey.random()
            // Whatever happens, one of the two files has the key that fits.
            let draft = BackupKeyFile(backup.store, location.name + ".new")
            try draft.write(key)
            try backup.restic(location).replaceKey(with: key)
            guard rename(draft.path, file.path) == 0 else {
                throw BackupFailure(.permission, "\(file.path): \(String(cString: strerror(errno)))")
            }
            try show(key, context)
            context.note("the old key does not open the backups any more")
            return .success
        }
        try show(try file.key(), context)
        return .success
    }

    /// Prints the words in four lines of three, as they are best copied.
    static func show(_ key: BackupKey, _ context: CommandContext) throws {
        let words = key.words.split(separator: " ").enumerated().map { index, word in
            let number = "\(index + 1)."
            return (number.count < 3 ? " " : "") + "\(number) " + word + String(repeating: " ", count: max(0, 10 - word.count))
        }
        var text = ""
        for line in stride(from: 0, to: words.count, by: 3) {
            let row = words[line..<min(line + 3, words.count)].joined(separator: " ")
            text += String(Substring(row).reversed().drop { $0 == " " }.reversed()) + "\n"
        }
        try context.streams.output.write(text)
        try context.streams.output.flush()
    }
}
