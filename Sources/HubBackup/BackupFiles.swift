import FoundationEssentials
import Glibc
import HealthModel
import Ingestion

/// The small files of a hub beside its store: the configuration and all files that it names, device profiles, and the keys of paired
/// devices.
package struct BackupFiles: Sendable {
    package struct Item: Hashable, Sendable {
        package var role: BackupManifest.File.Role
        package var path: String
        /// Where it is read: a copy, if only root can read the original.
        package var source: String
    }

    package private(set) var items: [Item] = []
    /// Paths of files that cannot be copied, each with the reason.
    package private(set) var leftOut: [String] = []

    /// The largest file, and the number of files.
    static let (maximumLength, maximum) = (1 << 20, 500)
    /// The folder of bluetoothd, which only root can read.
    package static let bonds = "/var/lib/bluetooth"

    /// - Parameters:
    ///   - configuration: the path of the configuration, or `nil` if there is none.
    ///   - home: replaces `~` in paths.
    ///   - folders: folders whose files belong to the hub, such as those of profiles.
    ///   - keys: files with keys of locations, so that the restored hub continues to make backups.
    ///   - bonds: the folder with the keys of paired devices, or with a copy of it.
    ///   - excluded: the store and folders with readings, which are not copied again.
    package init(
        configuration: String?, home: String?, folders: [String], keys: [String], bonds: String?, excluded: [String]
    ) {
        if let configuration {
            add(.configuration, configuration)
            // Whatever the configuration names is needed to read it on another machine: passwords, keys, certificates, programs.
            for path in Self.paths(in: configuration, home: home)
            where !excluded.contains(where: { Self.contains($0, Self.resolved(path)) }) {
                add(.named, path)
            }
        }
        for path in keys { add(.named, path) }
        for folder in folders { for path in Self.files(in: folder, depth: 2) { add(.named, path) } }
        if let bonds {
            for path in Self.files(in: bonds, depth: 3) where !path.hasSuffix("/cache") && !path.contains("/cache/") {
                add(.bond, Self.bonds + path.dropFirst(bonds.count), from: path)
            }
        }
    }

    private mutating func add(_ role: BackupManifest.File.Role, _ path: String, from copy: String? = nil) {
        let source = copy ?? path
        guard !items.contains(where: { $0.path == path }) else { return }
        var status = stat()
        guard stat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if access(source, R_OK) != 0 {
            leftOut.append("\(path): \(String(cString: strerror(errno)))")
        } else if Int(status.st_size) > Self.maximumLength {
            leftOut.append("\(path): larger than 1 MiB")
        } else if items.count >= Self.maximum {
            leftOut.append("\(path): more than \(Self.maximum) files")
        } else {
            items.append(Item(role: role, path: path, source: source))
        }
    }

    /// The path without links, so that a link to the store is recognized.
    private static func resolved(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// Whether a path is another one or is in it.
    private static func contains(_ folder: String, _ path: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// Any value of JSON5.
    private enum Value: Decodable {
        case text(String)
        case list([Value])
        case object([String: Value])
        case other

        init(from decoder: any Decoder) throws {
            if let list = try? [Value](from: decoder) {
                self = .list(list)
            } else if let object = try? [String: Value](from: decoder) {
                self = .object(object)
            } else if let text = try? String(from: decoder) {
                self = .text(text)
            } else {
                self = .other
            }
        }

        var texts: [String] {
            switch self {
            case .text(let text): [text]
            case .list(let values): values.flatMap(\.texts)
            case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.texts)
            case .other: []
            }
        }
    }

    /// The texts of a configuration that are paths of files.
    private static func paths(in configuration: String, home: String?) -> [String] {
        guard let bytes = SmallFile.read(configuration, limit: maximumLength) else { return [] }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        guard let value = try? decoder.decode(Value.self, from: Data(bytes)) else { return [] }
        return value.texts.compactMap { text in
            if text.hasPrefix("~/"), let home { return home + text.dropFirst() }
            return text.hasPrefix("/") ? text : nil
        }
    }

    static func files(in folder: String, depth: Int) -> [String] {
        guard depth > 0, let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory), names.count < maximum {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        var found: [String] = []
        for path in names.sorted().map({ "\(folder)/\($0)" }) {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { found += files(in: path, depth: depth - 1) }
            if status.st_mode & S_IFMT == S_IFREG { found.append(path) }
        }
        return found
    }

    /// The contents of the files, read before anything is written, with their entries of the manifest.
    func read() -> (files: [BackupManifest.File], contents: [[UInt8]], leftOut: [String]) {
        var files: [BackupManifest.File] = []
        var (contents, leftOut): ([[UInt8]], [String]) = ([], leftOut)
        for item in items {
            var status = stat()
            guard stat(item.source, &status) == 0, let bytes = SmallFile.read(item.source, limit: Self.maximumLength) else {
                leftOut.append("\(item.path): it cannot be read")
                continue
            }
            files.append(
                BackupManifest.File(
                    role: item.role, path: item.path, bytes: bytes.count, mode: status.st_mode & 0o777,
                    user: item.role == .bond ? "root" : Self.user(status.st_uid),
                    group: item.role == .bond ? "root" : Self.group(status.st_gid), sha256: Self.digest(bytes)))
            contents.append(bytes)
        }
        return (files, contents, leftOut)
    }

    static func digest(_ bytes: [UInt8]) -> String {
        Digest.sha256(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Owners

    private static func user(_ id: uid_t) -> String { getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? "\(id)" }
    private static func group(_ id: gid_t) -> String { getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? "\(id)" }

    /// The owner of a file on this machine, or `nil` if it has no such user or group.
    static func owner(_ file: BackupManifest.File) -> (user: uid_t, group: gid_t)? {
        guard let user = getpwnam(file.user)?.pointee.pw_uid, let group = getgrnam(file.group)?.pointee.gr_gid else { return nil }
        return (user, group)
    }
}
