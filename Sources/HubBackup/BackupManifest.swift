import FoundationEssentials
import HealthModel

/// The contents of a backup, as `manifest.json` in it. By it the backup is checked, and restored on another machine.
public struct BackupManifest: Codable, Hashable, Sendable {
    /// The form of this file.
    public var version = 1
    /// When the store was copied, as in all printed lines: `2026-11-20T06:31:00.000000Z`.
    public var time: String
    /// The name of the machine.
    public var host: String
    /// The store.
    public var store: Store
    /// All other files.
    public var files: [File]
    /// Files that the configuration names and that could not be copied, with the reason.
    public var leftOut: [String]

    /// The store's file and its contents.
    public struct Store: Codable, Hashable, Sendable {
        /// Where it was.
        public var path: String
        /// The size in bytes.
        public var bytes: Int
        /// In hexadecimal digits.
        public var sha256: String
        /// The identifier by which targets recognize the store.
        public var identifier: String
        /// The schema version.
        public var schema: Int
        /// The number of live samples.
        public var samples: Int
        /// The number of tombstones.
        public var deleted: Int
        /// The number of readings in quarantine.
        public var quarantined: Int
        /// The number of ledger entries.
        public var ledger: Int
        /// The last number of the change log.
        public var lastChange: Int64
        /// The number of persons that were erased from the store.
        public var erasures: Int64
    }

    /// A file beside the store.
    public struct File: Codable, Hashable, Sendable {
        /// The purpose of a file.
        public enum Role: String, Codable, Hashable, Sendable {
            /// The configuration.
            case configuration
            /// A file that the configuration names, such as one with a password, or one of the store's folder.
            case named
            /// Keys of paired Bluetooth devices.
            case bond
        }

        /// The purpose of the file.
        public var role: Role
        /// Where it was.
        public var path: String
        /// The size in bytes.
        public var bytes: Int
        /// Permission bits.
        public var mode: UInt32
        /// The names of its owner.
        public var user: String
        public var group: String
        public var sha256: String
    }

    /// The names in a backup.
    static let (storeName, folder, name) = ("store.db", "hub", "manifest.json")

    /// The path of a file within the backup. Paths begin with `/`.
    static func place(of path: String) -> String { "/\(folder)/files\(path)" }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
    }

    /// Reads the text of a manifest.
    init(text: [UInt8]) throws(BackupFailure) {
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: Data(text)) else {
            throw BackupFailure(.damaged, "the list of the backup's contents cannot be read")
        }
        guard manifest.version == 1 else {
            throw BackupFailure(.invalid, "the backup was made by a newer Vitalgate: update this program")
        }
        // A path decides where root writes.
        for path in manifest.files.map(\.path) {
            guard path.hasPrefix("/"), !path.split(separator: "/").contains(where: { $0 == ".." || $0 == "." }) else {
                throw BackupFailure(.damaged, "the backup has a file without a valid path")
            }
        }
        self = manifest
    }

    init(
        time: String, host: String, store: Store, files: [File], leftOut: [String]
    ) { (self.time, self.host, self.store, self.files, self.leftOut) = (time, host, store, files, leftOut) }
}
