import EventLoopKit
import Glibc
import Hub
import Ingestion
import Pipeline

struct ConfigurationFile {
    /// The path without symbolic links, so that a link to the file stays a link.
    let path: String
    /// The path with its links, which decide as which user the file is written.
    private let namedPath: String
    /// The text when the command began, or nothing if there is no file yet.
    let bytes: [UInt8]
    /// Whether systemd runs the hub of this configuration.
    let isOfService: Bool

    /// Finds the file that the program reads, or else the user's, which does not exist yet.
    ///
    /// - Throws: ``ConfigurationError`` if the file is not valid or cannot be changed by this user.
    init(_ context: CommandContext) throws {
        let found = try context.configuration().file
        guard let path = found ?? Configuration.userPath(context.machine) else {
            throw ConfigurationError("there is no home folder: name the configuration with --config")
        }
        isOfService = path == Configuration.systemPath && access("/run/systemd/system", F_OK) == 0
        (self.path, namedPath) = (Folder.resolved(path) ?? path, path)
        bytes = Array(try Self.text(of: path).utf8)
        guard found == nil || access(SmallFile.folder(of: self.path), W_OK) == 0 else {
            throw ConfigurationError("\(path) cannot be changed: \(String(cString: strerror(errno))) (use sudo?)")
        }
    }

    /// Replaces the file's text. The old text stays if it fails, or if another program has changed it meanwhile.
    func replace(with bytes: [UInt8]) throws {
        try FolderOwner.acting(asOwnerOf: namedPath) { try replaceAsOwner(with: bytes) }
    }

    private func replaceAsOwner(with bytes: [UInt8]) throws {
        let folder = SmallFile.folder(of: path)
        try Self.createFolder(folder)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw ConfigurationError("\(folder): \(String(cString: strerror(errno)))")
        }
        guard Array(try Self.text(of: path).utf8) == self.bytes else {
            throw ConfigurationError("\(path) was changed by another program in the meantime: run the command again")
        }
        try Self.write(String(decoding: bytes, as: UTF8.self), to: path)
    }

    // MARK: Entries

    /// Reads a new text as the hub will, and returns its only new entry.
    ///
    /// - Parameters:
    ///   - hint: What to do if the text is not valid.
    ///   - find: The entry, or `nil` if the configuration differs in others, too.
    func adding<Entry>(
        _ text: [UInt8], _ noun: String, hint: String = "", _ context: CommandContext, _ find: (Configuration) -> Entry?
    ) throws -> Entry {
        let configuration: Configuration
        do {
            configuration = try Configuration(text: text, of: path, machine: context.machine)
        } catch {
            throw ConfigurationError("\(error.description) (the file was not changed\(hint))", isOfOption: true)
        }
        guard let entry = find(configuration) else { throw unusual("add the \(noun)") }
        return entry
    }

    /// The text without an entry, and the configuration that it is.
    ///
    /// - Parameters:
    ///   - path: The keys of the object with all entries.
    ///   - names: The names of all entries.
    func removing(
        _ name: String, under path: [String], _ noun: String, _ context: CommandContext, names: (Configuration) -> [String]
    ) throws -> (text: [UInt8], configuration: Configuration) {
        let rest = names(try context.configuration()).filter { $0 != name }
        guard let text = try TargetText.removing(name, from: bytes, under: path) else { throw unusual("remove the \(noun)") }
        let configuration = try Configuration(text: text, of: self.path, machine: context.machine)
        guard names(configuration) == rest else { throw unusual("remove the \(noun)") }
        return (text, configuration)
    }

    func unusual(_ action: String) -> ConfigurationError {
        ConfigurationError("\(path) has an unusual form and was not changed: \(action) in an editor")
    }

    // MARK: Secrets

    /// The file of a secret of a target or source, beside the configuration.
    func secretPath(_ name: String, _ key: String) -> String { "\(SmallFile.folder(of: path))/\(name).\(key)" }

    /// Asks for a secret and stores it in a new file, which only the owner of the store can read.
    ///
    /// - Parameter option: the option that names an existing file.
    /// - Returns: the path of the file.
    func storeSecret(_ name: String, _ key: String, option: String, _ context: CommandContext) throws -> String {
        let path = secretPath(name, key)
        guard access(path, F_OK) != 0 else {
            throw ConfigurationError("\(path) exists already: use it with \(option)\(path), or delete it", isOfOption: true)
        }
        let secret = context.typedSecret(key)
        guard !secret.isEmpty, secret.utf8.count <= 4096 else {
            throw ConfigurationError("'\(key)': expected a line of at most 4096 bytes on standard input", isOfOption: true)
        }
        try Self.writeSecret(secret, to: path, ofStore: context.configuration().store)
        return path
    }

    /// Prints that the file of a secret stays.
    func noteSecret(_ name: String, _ key: String, _ context: CommandContext) {
        let path = secretPath(name, key)
        guard access(path, F_OK) == 0 else { return }
        context.note("vitalgate: its \(key) is still in \(path): delete it if nothing uses it")
    }

    /// Prints how the hub applies a change.
    func noteNext(_ configuration: Configuration, _ context: CommandContext, otherwise: String?) {
        if isOfService {
            context.note("vitalgate: run 'sudo systemctl reload vitalgate' to apply it")
        } else if let hub = try? StatusClient.ask(store: configuration.store, machine: context.machine).status.hub {
            context.note("vitalgate: run 'kill -HUP \(hub.process)' so that the running hub applies it")
        } else if let otherwise {
            context.note("vitalgate: \(otherwise)")
        }
    }

    // MARK: Any file

    /// A file's text, or nothing if it does not exist.
    static func text(of path: String) throws(ConfigurationError) -> String {
        guard access(path, F_OK) == 0 else { return "" }
        guard let bytes = SmallFile.read(path, limit: 1 << 20) else {
            throw ConfigurationError("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Creates a folder and those above it, as far as they do not exist, as the owner of the first one on the path.
    static func createFolder(_ path: String) throws {
        try FolderOwner.acting(asOwnerOf: path) { try createFolders(path) }
    }

    private static func createFolders(_ path: String) throws(ConfigurationError) {
        guard mkdir(path, 0o755) != 0, errno != EEXIST else { return }
        if errno == ENOENT, let end = path.lastIndex(of: "/"), end > path.startIndex {
            try createFolders(String(path[..<end]))
            if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        }
        throw ConfigurationError("\(path) cannot be created: \(String(cString: strerror(errno)))")
    }

    /// Whether a text contains a password or token itself, and not the name of a file with it.
    static func containsSecret(_ text: String) -> Bool {
        ["password", "token", "secret"].contains { key in
            var rest = text[...]
            while let found = rest.firstRange(of: key) {
                rest = rest[found.upperBound...]
                let value = rest.drop { "\"' \t".contains($0) }
                guard value.first == ":" else { continue }
                if let first = value.dropFirst().first(where: { $0 != " " && $0 != "\t" }), "\"'".contains(first) { return true }
            }
            return false
        }
    }

    /// Writes a secret to a file that only one user can read, as the owner of the file's folder.
    ///
    /// - Parameter store: the store whose owner gets the file if its folder belongs to root, or `nil` for root.
    static func writeSecret(_ secret: String, to path: String, ofStore store: String? = nil) throws {
        try FolderOwner.acting(asOwnerOf: path) {
            try createFolder(SmallFile.folder(of: path))
            try SmallFile.replace(
                path, with: secret + "\n", mode: 0o600, owner: geteuid() == 0 ? store.flatMap(FolderOwner.owner) : nil)
        }
    }

    /// Replaces a file as a whole, as the owner of its folder. Its mode and owner stay. If it contains a secret, only its owner can read it afterwards. The system's
    /// configuration keeps its mode, because the service reads it as another user than root.
    static func replace(_ path: String, with text: String) throws {
        try FolderOwner.acting(asOwnerOf: path) { try write(text, to: path) }
    }

    private static func write(_ text: String, to path: String) throws(ConfigurationError) {
        var status = stat()
        let isThere = stat(path, &status) == 0
        var mode = isThere ? status.st_mode & 0o777 : 0o644
        if path != Configuration.systemPath, containsSecret(text) { mode &= 0o600 }
        do throws(SystemFailure) {
            try SmallFile.replace(
                path, with: text, mode: mode,
                owner: isThere && geteuid() == 0 ? (status.st_uid, status.st_gid) : nil)
        } catch {
            throw ConfigurationError("the file cannot be written: \(error)")
        }
    }
}
