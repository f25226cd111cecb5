import EventLoopKit
import FleetProtocol
import Glibc
import Hub
import Ingestion
import Pipeline

/// The file with the secret part of an NKey.
enum KeyFile {
    /// Reads the key in a file, or creates both. Only the owner can read a new file.
    ///
    /// - Parameter owner: The new file's user and group, or `nil` for those of the process.
    static func key(at path: String, owner: (user: uid_t, group: gid_t)? = nil) throws -> NKey {
        if access(path, F_OK) == 0 { return try existing(at: path) }
        guard let key = NKey.random() else { throw ConfigurationError("no memory for a key") }
        try ConfigurationFile.createFolder(SmallFile.folder(of: path))
        do throws(SystemFailure) {
            try SmallFile.replace(path, with: key.seedText + "\n", mode: 0o600, owner: owner)
        } catch {
            throw ConfigurationError("the key cannot be written: \(error)")
        }
        return key
    }

    /// Reads the key in a file.
    static func existing(at path: String) throws -> NKey {
        guard let key = NKey(seedText: try Secret.file(path).read()) else {
            throw ConfigurationError("\(path) does not contain the seed of a user's NKey")
        }
        return key
    }
}
