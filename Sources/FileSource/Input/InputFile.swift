import Glibc
import Pipeline

/// A file that is opened once and read as often as needed, so that all who look at it look at the same one, whatever its name stands for
/// meanwhile.
///
/// What cannot be read twice (a pipe, a FIFO) is copied first into a file without a name.
///
///     let file = try InputFile(path: "weight.csv")
///     let head = try TextFileHead.read(file)
public final class InputFile: Sendable {
    /// Only for reads that say where: others may use it at the same time.
    let descriptor: Int32
    /// In octets.
    public let size: Int64

    /// Standard input's name on a command line.
    public static let standardInput = "-"

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - bytes: the path as the system has it, where it is not UTF-8.
    ///   - onlyFile: neither follows a link at the path's end nor reads what is no file.
    ///   - spoolFolders: where a pipe may be copied to; the first that takes it.
    ///   - isCancelled: asked while a pipe is waited for.
    /// - Throws: ``SourceError`` where there is nothing to read.
    public init(
        path: String, bytes: [UInt8]? = nil, onlyFile: Bool = false, spoolFolders: [String] = ["/var/tmp", "/tmp"],
        isCancelled: () -> Bool = { false }
    ) throws(SourceError) {
        descriptor = try Self.open(path, bytes ?? Array(path.utf8), onlyFile, spoolFolders, isCancelled)
        var status = stat()
        size = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The same file with a position of its own, for whoever reads it by position; `nil` where the system does not give one.
    func openedAgain() -> InputFile? {
        let again = Glibc.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        return again < 0 ? nil : InputFile(opened: again, size: size)
    }

    /// A descriptor for a library that moves about in the file and closes it; with a position of its own where the system gives one.
    func descriptorOfItsOwn() throws(SourceError) -> Int32 {
        let again = Glibc.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        let descriptor = again < 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : again
        guard descriptor >= 0 else { throw SourceError(.inputOutput, FileInput.message("cannot read it", errno)) }
        return descriptor
    }

    private init(opened descriptor: Int32, size: Int64) { (self.descriptor, self.size) = (descriptor, size) }

    /// Opens a file in a folder. No link is followed on the way to it, and nothing is opened that is no file.
    ///
    /// - Parameters:
    ///   - folder: the path of the folder, which the person named.
    ///   - components: the names of folders and of the file; none is `..`.
    init(in folder: String, components: [[UInt8]]) throws(SourceError) {
        var opened = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for (index, component) in components.enumerated() where opened >= 0 {
            let isLast = index == components.count - 1
            let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isLast ? 0 : O_DIRECTORY)
            let next = openat(opened, component.map { CChar(bitPattern: $0) } + [0], flags)
            let code = errno
            close(opened)
            opened = next
            errno = code
        }
        guard opened >= 0 else {
            // A folder that is a link is said to be none.
            let isLink = errno == ELOOP || errno == ENOTDIR
            throw SourceError(.noInput, isLink ? "it is a link, and is not followed" : FileInput.message("cannot open it", errno))
        }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw SourceError(.noInput, "it is no file")
        }
        descriptor = opened
        size = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    private static func open(
        _ path: String, _ bytes: [UInt8], _ onlyFile: Bool, _ spoolFolders: [String], _ isCancelled: () -> Bool
    ) throws(SourceError) -> Int32 {
        // A FIFO that nobody writes to opens at once, and is waited for where that can be interrupted.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (onlyFile ? O_NOFOLLOW : 0)
        let opened =
            path == standardInput
            ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : Glibc.open(bytes.map { CChar(bitPattern: $0) } + [0], flags)
        guard opened >= 0 else {
            let isLink = onlyFile && errno == ELOOP
            throw SourceError(.noInput, isLink ? "it is a link, and is not followed" : FileInput.message("cannot open it", errno))
        }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            defer { close(opened) }
            throw SourceError(.inputOutput, FileInput.message("cannot read it", errno))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG where lseek(opened, 0, SEEK_CUR) == 0: return opened
        case S_IFDIR:
            close(opened)
            // A directory opens, but does not read.
            throw SourceError(.noInput, FileInput.message("cannot read it", EISDIR) + "; give the files in it")
        case _ where onlyFile:
            close(opened)
            throw SourceError(.noInput, "it is no file")
        default:
            defer { close(opened) }
            return try Spool.copy(opened, into: spoolFolders, isCancelled)
        }
    }
}

/// Keeps what a pipe says until it is read.
private enum Spool {
    /// - Returns: an open file without a name, which goes with its last user.
    static func copy(_ pipe: Int32, into folders: [String], _ isCancelled: () -> Bool) throws(SourceError) -> Int32 {
        let file = try make(in: folders)
        do throws(SourceError) {
            var buffer = [UInt8](repeating: 0, count: 128 << 10)
            while true {
                try wait(for: pipe, isCancelled)
                let count = read(pipe, &buffer, buffer.count)
                if count == 0 { return file }
                guard count > 0 else {
                    if errno == EINTR || errno == EAGAIN { continue }
                    throw SourceError(.inputOutput, FileInput.message("cannot read it", errno))
                }
                var written = 0
                while written < count {
                    let part = buffer[written..<count].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                    guard part > 0 || errno == EINTR else {
                        throw SourceError(.inputOutput, FileInput.message("cannot keep a copy of it while it is read", errno))
                    }
                    written += max(part, 0)
                }
            }
        } catch {
            close(file)
            throw error
        }
    }

    /// A FIFO that was never written to says nothing at all, not even that it ended.
    private static func wait(for pipe: Int32, _ isCancelled: () -> Bool) throws(SourceError) {
        var state = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        while true {
            guard !isCancelled() else {
                throw SourceError(.inputOutput, "interrupted before all of it was there; nothing was taken")
            }
            // Again and again, since a signal may come right in front of the call.
            if poll(&state, 1, 200) > 0 { return }
        }
    }

    private static func make(in folders: [String]) throws(SourceError) -> Int32 {
        var code = ENOENT
        for folder in folders {
            var template = Array("\(folder)/vitalgate-XXXXXX".utf8CString)
            let file = mkstemp(&template)
            if file >= 0 {
                unlink(template)
                _ = fcntl(file, F_SETFD, FD_CLOEXEC)
                return file
            }
            code = errno
        }
        throw SourceError(.inputOutput, FileInput.message("there is no folder for a copy of it (TMPDIR names one)", code))
    }
}
