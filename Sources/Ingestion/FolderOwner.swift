import EventLoopKit
import Glibc

/// The user whose folder a command writes to.
///
/// Root must not write to a folder of another user: that user can put a link into it, and then root would write to the link's target, or
/// give it away (CWE-59). A command that runs as root therefore becomes that user first. The files that it writes then belong to the
/// user, so nothing has to be given away.
///
/// The path must be as it was named, because without its links it no longer shows whose they are.
package enum FolderOwner {
    /// Becomes the owner of the first folder on a path that does not belong to root. If the process does not run as root, or if all folders
    /// belong to root, nothing changes. A process cannot become root again.
    ///
    /// - Throws: `SystemFailure` if the process cannot become that user.
    package static func become(ownerOf path: String) throws(SystemFailure) {
        guard geteuid() == 0, let owner = owner(of: path) else { return }
        guard setgroups(0, nil) == 0, setgid(owner.group) == 0, setuid(owner.user) == 0 else { throw SystemFailure(path, errno) }
    }

    /// Runs `body` as the owner of the first folder on a path that does not belong to root, or as root if all folders belong to root. If the process was
    /// not started by root, nothing changes. All threads of the process change the user.
    ///
    /// - Throws: `SystemFailure` if the process cannot become that user, and what `body` throws.
    package static func acting<Result>(asOwnerOf path: String, _ body: () throws -> Result) throws -> Result {
        guard getuid() == 0 else { return try body() }
        return try acting(as: owner(of: path) ?? (0, 0), path, body)
    }

    /// Runs `body` as root if root started the process.
    package static func actingAsRoot<Result>(_ body: () throws -> Result) throws -> Result {
        guard getuid() == 0, geteuid() != 0 else { return try body() }
        return try acting(as: (0, 0), "/", body)
    }

    private static func acting<Result>(
        as user: (user: uid_t, group: gid_t), _ path: String, _ body: () throws -> Result
    ) throws -> Result {
        let before = (user: geteuid(), group: getegid())
        guard user != before else { return try body() }
        guard change(to: user) else { throw SystemFailure(path, errno) }
        defer {
            // To go on as another user than the caller expects would be worse than to end.
            precondition(change(to: before), "cannot return to the user of the process")
        }
        return try body()
    }

    private static func change(to other: (user: uid_t, group: gid_t)) -> Bool {
        // Only root can change its groups and become another user.
        seteuid(0) == 0 && setgroups(0, nil) == 0 && setegid(other.group) == 0 && seteuid(other.user) == 0
    }

    /// Sends a signal to a process whose number is in a file. As root, it reaches only processes of the user who can change the file.
    ///
    /// - Returns: Whether it was sent.
    package static func send(_ signal: Int32, to process: pid_t, namedIn path: String) -> Bool {
        guard process > 1 else { return false }
        if geteuid() == 0, let owner = owner(of: path) {
            var status = stat()
            guard stat("/proc/\(process)", &status) == 0, status.st_uid == owner.user else { return false }
        }
        return kill(process, signal) == 0
    }

    /// The owner of the first folder or link on a path that does not belong to root, from the root folder on. Everything after it is
    /// under this user's control.
    package static func owner(of path: String) -> (user: uid_t, group: gid_t)? {
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
