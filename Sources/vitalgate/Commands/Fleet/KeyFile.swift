import EventLoopKit
import FleetProtocol
import Glibc
import Hub
import Ingestion
import Pipeline

enum KeyFile {
    /// Reads the key in a file, or creates both. Only the owner can read a new file.
    ///
    /// - Parameter store: The store whose owner gets the new file, or `nil` for the user of the process.
    static func key(at path: String, ofStore store: String? = nil) throws -> NKey {
        if access(path, F_OK) == 0 { return try existing(at: path) }
        guard let key = NKey.random() else { throw ConfigurationError("no memory for a key") }
        try ConfigurationFile.writeSecret(key.seedText, to: path, ofStore: store)
        return key
    }

    /// Reads the key for sealed requests in a file, or creates both.
    static func sealingKey(at path: String) throws -> SealingKey {
        if access(path, F_OK) == 0 { return try existingSealingKey(at: path) }
        guard let key = SealingKey.random() else { throw ConfigurationError("no memory for a key") }
        try ConfigurationFile.writeSecret(key.seedText, to: path)
        return key
    }

    /// Reads the key for sealed requests in a file.
    static func existingSealingKey(at path: String) throws -> SealingKey {
        guard let key = SealingKey(seedText: try Secret.file(path).read()) else {
            throw ConfigurationError("\(path) does not contain the seed of a key from 'vitalgate fleet key --sealing'")
        }
        return key
    }

    static func existing(at path: String) throws -> NKey {
        guard let key = NKey(seedText: try Secret.file(path).read()) else {
            throw ConfigurationError("\(path) does not contain the seed of a user's NKey")
        }
        return key
    }
}
