import Glibc
import Pipeline

/// A folder for files of this process alone, removed with this object. After a kill, the next process removes it.
///
/// The folder is locked with flock(2), which the kernel releases when the process ends for any reason. So an unlocked folder is a remnant.
final class LockedFolder {
    /// Its path.
    let path: String
    private let descriptor: Int32

    /// Creates a folder, and removes those that processes of this user have left in the same place.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of its name.
    ///   - key: The folder for it. By default the one that systemd gives to a service (`STATE_DIRECTORY`), else `TMPDIR` or /tmp.
    init(_ prefix: String, in key: String? = nil) throws(StoreError) {
        let key = key ?? Self.key()
        Self.removeRemnants(prefix, in: key)
        while true {
            var template = Array("\(key)/\(prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw Self.failure(key) }
            let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            guard let locked = Self.locked(path) else { continue }
            (self.path, descriptor) = (path, locked)
            return
        }
    }

    deinit {
        Self.remove(path)
        close(descriptor)
    }

    private static func key() -> String {
        for name in ["STATE_DIRECTORY", "TMPDIR"] {
            // systemd separates several folders by colons.
            guard let value = getenv(name).map({ String(cString: $0) })?.split(separator: ":").first else { continue }
            if value.hasPrefix("/") { return String(value) }
        }
        return "/tmp"
    }

    private static func failure(_ path: String) -> StoreError {
        StoreError(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
    }

    /// Locks a folder of this user.
    ///
    /// - Returns: Its descriptor, or `nil` if another process has locked or removed it.
    private static func locked(_ path: String) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0, status.st_uid == geteuid(),
            status.st_nlink > 0
        {
            return descriptor
        }
        close(descriptor)
        return nil
    }

    private static func removeRemnants(_ prefix: String, in key: String) {
        for name in Folder.names(key) ?? [] where name.hasPrefix(prefix) {
            guard let descriptor = locked("\(key)/\(name)") else { continue }
            remove("\(key)/\(name)")
            close(descriptor)
        }
    }

    /// Removes a folder with its files.
    private static func remove(_ path: String) {
        for name in Folder.names(path) ?? [] { unlink("\(path)/\(name)") }
        rmdir(path)
    }
}
