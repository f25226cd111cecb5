import EventLoopKit
import Glibc

/// Reads whole files up to a size limit, and replaces them as a whole.
package enum SmallFile {
    /// Returns a file's bytes, or `nil` if it cannot be read or is larger than the limit. A pipe is not a file, because its
    /// reader may wait for ever. A device such as `/dev/null` is.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { return nil }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > limit { return nil }
        }
    }

    /// Replaces a file, so that a reader sees all of the old text or all of the new one, also after a power cut.
    ///
    /// - Parameter owner: The new file's user and group, or `nil` for those of the process.
    package static func replace(
        _ path: String, with text: String, mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil
    ) throws(SystemFailure) {
        let draft = "\(path).\(getpid())~"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw SystemFailure(path, errno) }
        let bytes = Array(text.utf8)
        let isWritten =
            write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, mode) == 0
            && (owner.map { fchown(descriptor, $0.user, $0.group) } ?? 0) == 0 && fsync(descriptor) == 0
        let failure = SystemFailure(path, errno)
        close(descriptor)
        guard isWritten else {
            unlink(draft)
            throw failure
        }
        guard rename(draft, path) == 0 else {
            let failure = SystemFailure(path, errno)
            unlink(draft)
            throw failure
        }
    }

    /// A path from the root folder. It may still have links and relative parts.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    /// The last part of a path.
    package static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// The folder of a file: `.` for a name without a folder.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
