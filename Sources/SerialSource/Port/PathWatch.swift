import EventLoopKit
import Glibc

/// Reports when a missing path may exist, because its next missing part was created.
///
/// udev reports most ports. It does not report ports in a container, links that a script creates, or pseudo-terminals.
final class PathWatch {
    private var watch: FolderWatch?

    /// - Parameter handler: called whenever opening the path may succeed.
    /// - Returns: `nil` if the path exists, or if no folder on its way can be watched.
    init?(_ path: String, loop: EventLoop, handler: @escaping () -> Void) {
        guard let (folder, name) = Self.firstMissing(of: path) else { return nil }
        watch = try? FolderWatch(folder, [.created, .movedIn], loop: loop) { event in
            switch event {
            case .entry(Array(name.utf8)), .overflow, .removed: handler()
            case .entry: break
            }
        }
        if watch == nil { return nil }
    }

    /// The maximum number of symbolic links to follow, as in the kernel (path_resolution(7)).
    private static let maximumLinks = 40

    /// Returns the first missing part of the path and its parent folder, or nil if the path exists.
    static func firstMissing(of path: String) -> (folder: String, name: String)? {
        var (folder, links) = ("/", 0)
        var parts = path.split(separator: "/").reversed().map(String.init)
        while let part = parts.popLast() {
            let next = folder == "/" ? "/\(part)" : "\(folder)/\(part)"
            var status = stat()
            guard lstat(next, &status) == 0 else { return errno == ENOENT ? (folder, part) : nil }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                folder = next
                continue
            }
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(next, &buffer, buffer.count)
            links += 1
            guard count > 0, links <= maximumLinks else { return nil }
            let target = String(decoding: buffer[..<count], as: UTF8.self)
            if target.hasPrefix("/") { folder = "/" }
            parts += target.split(separator: "/").reversed().map(String.init)
        }
        return nil
    }
}
