import Glibc

/// A place for backups: a folder, or an address that restic knows.
package struct BackupLocation: Hashable, Sendable {
    /// The address as restic takes it: an absolute path, or `sftp:user@host:/path`, `s3:https://host/bucket`, `rest:https://host/`.
    package let address: String

    /// The prefixes of addresses that are not folders.
    package static let schemes = ["sftp:", "s3:", "rest:"]

    /// Reads an address from a command or the configuration.
    ///
    /// - Parameter folder: the folder for a relative path, or `nil` if paths must be absolute.
    package init(_ text: String, in folder: String? = nil) throws(BackupFailure) {
        guard !text.isEmpty, text.utf8.count <= 4096, !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw BackupFailure(
                .invalid, "a location is a folder, sftp:USER@HOST:/PATH, s3:https://HOST/BUCKET or rest:https://HOST/")
        }
        if let scheme = Self.schemes.first(where: text.hasPrefix) {
            guard text.utf8.count > scheme.utf8.count else { throw BackupFailure(.invalid, "\(scheme): the address is missing") }
            if scheme != "sftp:", let host = text.firstRange(of: "://").map({ text[$0.upperBound...] }),
                host.prefix(while: { $0 != "/" }).contains("@")
            {
                throw BackupFailure(
                    .invalid,
                    "an address must not contain a password: put it into a file with --credentials (see 'vitalgate backup add --help')"
                )
            }
            address = text
            return
        }
        // A scheme that restic has, and this program does not know.
        if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/"), !text.hasPrefix("/") {
            throw BackupFailure(.invalid, "unknown kind of location '\(text[...colon])': expected a folder, sftp:, s3: or rest:")
        }
        guard text.hasPrefix("/") || folder != nil else {
            throw BackupFailure(.invalid, "the path of a folder must begin with /")
        }
        var path = text.hasPrefix("/") ? text : "\(folder ?? "")/\(text)"
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        address = path
    }

    /// The folder, or `nil` if it is another place.
    package var folder: String? { address.hasPrefix("/") ? address : nil }

    /// Whether the folder has a repository. False as well if its disk is not mounted.
    package var isThere: Bool {
        guard let folder else { return true }
        return access(folder + "/config", F_OK) == 0
    }

    /// A name for the location: `usb`, `sftp`.
    package var usualName: String {
        guard let folder else { return String(address.prefix { $0 != ":" }) }
        let last = folder.split(separator: "/").last.map(String.init) ?? ""
        let name = last.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let text = String(name).drop { $0 == "-" }.prefix(32)
        return text.isEmpty ? "folder" : String(text)
    }

    /// Whether two addresses have the same disk, so that both are lost together.
    package func isOnDisk(of path: String) -> Bool {
        guard let folder else { return false }
        var (own, other) = (stat(), stat())
        var existing = folder
        while stat(existing, &own) != 0, let slash = existing.lastIndex(of: "/"), existing.count > 1 {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        return stat(path, &other) == 0 && own.st_dev == other.st_dev
    }
}

/// A reason why a backup, a drill or a restoration did not succeed.
package struct BackupFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons that callers handle differently.
    package enum Kind: String, Hashable, Sendable {
        /// restic is not installed.
        case missingProgram
        /// The folder is not there, for example because the disk is not connected. It is waited for.
        case away
        /// The server does not answer.
        case unreachable
        case noRepository
        case wrongKey
        /// Another process uses the repository.
        case locked
        case full
        /// The place, or a file of this machine, cannot be read or written by this user.
        case permission
        /// The backup is incomplete or has changed.
        case damaged
        /// The request is not valid.
        case invalid
        case stopped
        /// Any other failure.
        case failed
    }

    package var kind: Kind
    /// The failure, for the user. It contains no key.
    package var description: String

    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
