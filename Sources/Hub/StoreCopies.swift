import Glibc
import Pipeline

/// Copies of a store beside it, such as manual backups. They have to be considered when data is erased.
package enum StoreCopies {
    /// The maximum number of names read in a folder.
    private static let maximum = 10_000

    /// Returns the paths of all our databases in the store's folder except the store, sorted by name.
    ///
    /// The application id of a database is at byte 68 of its header (<https://www.sqlite.org/fileformat.html>, application id).
    package static func companions(_ store: String) -> [String] {
        let folder = store.lastIndex(of: "/").map { $0 == store.startIndex ? "/" : String(store[..<$0]) } ?? "."
        var own = stat()
        guard stat(store, &own) == 0 else { return [] }
        var found: [String] = []
        for name in Folder.names(folder, maximum: maximum) ?? [] {
            let path = folder == "." ? name : folder == "/" ? "/" + name : "\(folder)/\(name)"
            var status = stat()
            // The store itself is not opened: to close it would drop the locks that this process holds on it.
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                (status.st_dev, status.st_ino) != (own.st_dev, own.st_ino), isStore(path)
            else { continue }
            found.append(path)
        }
        return found.sorted()
    }

    private static let magic = Array("SQLite format 3\0".utf8)
    private static let application = Array("VGAT".utf8)

    private static func isStore(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 72)
        guard pread(descriptor, &header, header.count, 0) == header.count else { return false }
        return header.starts(with: magic) && Array(header[68...]) == application
    }
}
