import FoundationEssentials
import HealthModel

/// The contents of a backup, as `manifest.json` in it. By it the backup is checked, and restored on another machine.
package struct BackupManifest: Codable, Hashable, Sendable {
    /// The form of this file.
    package var version = 1
    /// When the store was copied, as in all printed lines: `2026-11-20T06:31:00.000000Z`.
    package var time: String
    /// The name of the machine.
    package var host: String
    package var store: Store
    package var files: [File]
    /// Files that the configuration names and that could not be copied, with the reason.
    package var leftOut: [String]

    /// The store's file and its contents.
    package struct Store: Codable, Hashable, Sendable {
        package var path: String
        /// The size in bytes.
        package var bytes: Int
        /// In hexadecimal digits.
        package var sha256: String
        /// The identifier by which targets recognize the store.
        package var identifier: String
        package var schema: Int
        package var samples: Int
        package var deleted: Int
        package var quarantined: Int
        package var ledger: Int
        /// The last number of the change log.
        package var lastChange: Int64
        /// The number of persons that were erased from the store.
        package var erasures: Int64
    }

    package struct File: Codable, Hashable, Sendable {
        package enum Role: String, Codable, Hashable, Sendable {
            case configuration
            /// A file that the configuration names, such as one with a password, or one of the store's folder.
            case named
            /// Keys of paired Bluetooth devices.
            case bond
        }

        package var role: Role
        package var path: String
        /// The size in bytes.
        package var bytes: Int
        /// Permission bits.
        package var mode: UInt32
        /// The names of its owner.
        package var user: String
        package var group: String
        package var sha256: String
    }

    static let (storeName, folder, name) = ("store.db", "hub", "manifest.json")

    /// The sizes of all files of the backup in bytes, by their paths in it, except that of the manifest.
    var sizes: [String: Int] {
        files.reduce(into: ["/\(Self.storeName)": store.bytes]) { $0[Self.place(of: $1.path)] = $1.bytes }
    }

    /// The path of a file within the backup. Paths begin with `/`.
    static func place(of path: String) -> String { "/\(folder)/files\(path)" }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
    }

    init(text: [UInt8]) throws(BackupFailure) {
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: Data(text)) else {
            throw BackupFailure(.damaged, "the list of the backup's contents cannot be read")
        }
        guard manifest.version == 1 else {
            throw BackupFailure(.invalid, "the backup was made by a newer Vitalgate: update this program")
        }
        guard manifest.files.count <= Self.maximumFiles else {
            throw BackupFailure(.damaged, "the backup has more than \(Self.maximumFiles) files")
        }
        for file in manifest.files {
            // A path decides where root writes.
            guard Self.isValid(file.path) else {
                throw BackupFailure(.damaged, "the backup has a file without a valid path")
            }
            guard 0...BackupFiles.maximumLength ~= file.bytes else {
                throw BackupFailure(.damaged, "the backup has a file that is larger than 1 MiB")
            }
            // A program with such a permission would run as the file's owner, who may be root.
            guard file.mode & ~0o777 == 0 else {
                throw BackupFailure(.damaged, "the backup has a file with special permissions")
            }
        }
        guard 0...Self.maximumStore ~= manifest.store.bytes else {
            throw BackupFailure(.damaged, "the backup has a store without a valid size")
        }
        self = manifest
    }

    /// The largest size of a store in bytes, which is far more than a hub fills.
    private static let maximumStore = 1 << 50

    /// More than a backup contains. Its own bounds are lower, and the keys of its locations come on top.
    private static let maximumFiles = 2 * BackupFiles.maximum
    private static let maximumPathLength = 4095

    private static func isValid(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count <= maximumPathLength && !path.unicodeScalars.contains { $0.value < 0x20 }
            && !path.split(separator: "/").contains { $0 == ".." || $0 == "." }
    }

    init(
        time: String, host: String, store: Store, files: [File], leftOut: [String]
    ) { (self.time, self.host, self.store, self.files, self.leftOut) = (time, host, store, files, leftOut) }
}
