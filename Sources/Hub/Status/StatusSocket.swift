import EventLoopKit
import Glibc
import Pipeline

/// The path of a hub's status socket.
///
/// A hub with a runtime directory from systemd listens on `hub.sock` in it. Any other hub listens beside its store, on
/// `store.db.sock`. A client tries its own `RUNTIME_DIRECTORY`, the store's folder and `/run/vitalgate`, and accepts an answer
/// only from a hub of the right store.
enum StatusSocket {
    static let systemDirectory = "/run/vitalgate"

    /// Returns the path on which a hub listens.
    static func path(store: String, machine: Machine) -> String {
        runtimeDirectory(machine).map { "\($0)/hub.sock" } ?? "\(store).sock"
    }

    /// Returns the paths on which the store's hub may listen.
    static func candidates(store: String, machine: Machine) -> [String] {
        var paths = ["\(store).sock"]
        if let runtime = runtimeDirectory(machine) { paths.insert("\(runtime)/hub.sock", at: 0) }
        let system = "\(systemDirectory)/hub.sock"
        return paths.contains(system) ? paths : paths + [system]
    }

    /// systemd.exec(5): several directories are joined by colons.
    private static func runtimeDirectory(_ machine: Machine) -> String? {
        machine.folder("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init)
    }

    /// Returns the store's absolute path, with symbolic links of its folder resolved as far as this user may follow them.
    static func canonical(_ path: String) -> String {
        var folder = "."
        var name = path[...]
        if let slash = path.lastIndex(of: "/") {
            folder = slash == path.startIndex ? "/" : String(path[..<slash])
            name = path[path.index(after: slash)...]
        }
        guard let text = Folder.resolved(folder) else { return path }
        return text == "/" ? "/\(name)" : "\(text)/\(name)"
    }

    // MARK: Both ends

    /// Listens with mode 0660, so that members of the group may connect.
    ///
    /// A socket left by a killed hub is replaced.
    static func listen(_ path: String) throws(SystemFailure) -> Int32 {
        try removeStale(path)
        let descriptor = try open()
        do throws(SystemFailure) {
            // bind(2) makes the file with the socket's mode less the mask, so it is never wider than this, and then made as wide.
            guard fchmod(descriptor, 0o660) == 0 else { throw SystemFailure(path, errno) }
            guard try withAddress(path, { bind(descriptor, $0, $1) }) == 0 else { throw SystemFailure(path, errno) }
            guard chmod(path, 0o660) == 0, Glibc.listen(descriptor, 16) == 0 else { throw SystemFailure(path, errno) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func removeStale(_ path: String) throws(SystemFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemFailure(path, EEXIST) }
        let probe = try open()
        defer { close(probe) }
        let answer = try withAddress(path) { connect(probe, $0, $1) }
        // A busy listener is a listener too.
        guard answer != 0, errno == ECONNREFUSED else { throw SystemFailure(path, EADDRINUSE) }
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemFailure(path, errno) }
    }

    /// Connects. Reads and writes time out after this many seconds.
    static func connected(to path: String, timeout: Int) throws(SystemFailure) -> Int32 {
        let descriptor = try open()
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        _ = fcntl(descriptor, F_SETFL, 0)
        do throws(SystemFailure) {
            guard try withAddress(path, { connect(descriptor, $0, $1) }) == 0 else { throw SystemFailure(path, errno) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func open() throws(SystemFailure) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw SystemFailure("socket", errno) }
        return descriptor
    }

    /// unix(7): an address has space for 107 bytes. A longer path is reached through a descriptor of its folder in proc(5).
    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemFailure) -> Int32 {
        guard path.utf8.count > 107 else { return try withShortAddress(path, body) }
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = Glibc.open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemFailure(path, errno) }
        defer { close(folder) }
        return try withShortAddress("/proc/self/fd/\(folder)\(path[slash...])", named: path, body)
    }

    private static func withShortAddress(
        _ path: String, named name: String? = nil, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemFailure) -> Int32 {
        guard path.utf8.count <= 107 else { throw SystemFailure(name ?? path, ENAMETOOLONG) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
