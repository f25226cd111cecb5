import EventLoopKit
import Glibc
import Hub
import Ingestion

/// The user whose folder a command writes to.
///
/// Root must not write to a folder of another user: that user can put a link into it, and then root would write to the link's target, or
/// give it away (CWE-59). A command that runs as root therefore becomes that user first. The files that it writes then belong to the
/// user, so nothing has to be given away.
enum FolderOwner {
    /// Becomes the owner of the first folder on a path that does not belong to root. If the process does not run as root, or if all folders
    /// belong to root, nothing changes. A process cannot become root again.
    ///
    /// - Throws: ``ConfigurationError`` if the process cannot become that user.
    static func become(ownerOf path: String) throws {
        guard geteuid() == 0, let owner = owner(of: path) else { return }
        guard setgroups(0, nil) == 0, setgid(owner.group) == 0, setuid(owner.user) == 0 else {
            throw ConfigurationError("\(path): cannot become the owner of the folder: \(String(cString: strerror(errno)))")
        }
    }

    /// The owner of the first folder or link on a path that does not belong to root, from the root folder on. Everything after it is
    /// under this user's control.
    static func owner(of path: String) -> (user: uid_t, group: gid_t)? {
        var prefix = ""
        for part in SmallFile.absolute(path).split(separator: "/") {
            prefix += "/" + part
            var status = stat()
            guard lstat(prefix, &status) == 0 else { return nil }
            if status.st_uid != 0 { return (status.st_uid, status.st_gid) }
        }
        return nil
    }
}
