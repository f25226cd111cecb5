import Glibc
import Pipeline

/// A file that is opened once and can be read several times. So all readers see the same file, even if its name is reused.
///
/// Inputs that cannot be read twice (a pipe, a FIFO) are first copied to a file without a name.
///
///     let file = try InputFile(path: "weight.csv")
///     let head = try TextFileHead.read(file)
package final class InputFile: Sendable {
    /// Used only for reads with an explicit offset, because several readers share it.
    let descriptor: Int32
    /// The size in bytes.
    package let size: Int64
    /// The folders for copies of this file. The first that works is used.
    let spoolFolders: [String]

    /// The name of standard input on a command line.
    package static let standardInput = "-"
    /// The folders for temporary copies. The first that works is used.
    package static let spoolFolders = ["/var/tmp", "/tmp"]

    /// Opens a file. `-` is standard input.
    ///
    /// - Parameters:
    ///   - bytes: the path as bytes, if it is not UTF-8.
    ///   - onlyFile: whether to reject a link at the path's end and anything that is not a regular file.
    ///   - spoolFolders: folders for the copy of a pipe. The first that works is used.
    ///   - isCancelled: called while waiting for a pipe.
    /// - Throws: ``SourceError`` if nothing can be read.
    package init(
        path: String, bytes: [UInt8]? = nil, onlyFile: Bool = false, spoolFolders: [String] = InputFile.spoolFolders,
        isCancelled: () -> Bool = { false }
    ) throws(SourceError) {
        self.spoolFolders = spoolFolders
        descriptor = try Self.open(path, bytes ?? Array(path.utf8), onlyFile, spoolFolders, isCancelled)
        var status = stat()
        size = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Creates a file without a name that contains everything that `write` passes on. It is deleted when it is closed.
    ///
    /// - Parameter folders: folders for the file. The first that works is used.
    init(
        in folders: [String], _ write: ((UnsafeRawBufferPointer) throws(SourceError) -> Void) throws(SourceError) -> Void
    ) throws(SourceError) {
        let file = try Spool.make(in: folders)
        do throws(SourceError) {
            try write { piece throws(SourceError) in try Spool.append(piece, to: file) }
        } catch {
            close(file)
            throw error
        }
        spoolFolders = folders
        descriptor = file
        var status = stat()
        size = fstat(file, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The path of the file at present, or `nil` if it has no name.
    var currentPath: String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { return nil }
        var room = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/fd/\(descriptor)", &room, room.count - 1)
        guard count > 0, room[0] == CChar(UInt8(ascii: "/")) else { return nil }
        return String(validating: room[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Creates a private temporary folder for copies of this file.
    func makeFolder() throws(SourceError) -> String {
        var code = ENOENT
        for folder in spoolFolders {
            if let made = Folder.temporary(in: folder) { return made }
            code = errno
        }
        throw SourceError(.inputOutput, FileInput.message("there is no folder for a temporary copy of it: set TMPDIR", code))
    }

    /// Copies the file to a new file that only the user can read.
    func copy(to path: String) throws(SourceError) {
        let target = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else {
            throw SourceError(.inputOutput, FileInput.message("cannot store a temporary copy of it", errno))
        }
        defer { close(target) }
        let input = FileInput(self)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try input.read(into: buffer)
            guard count > 0 else { return }
            try Spool.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: target)
        }
    }

    /// Returns a descriptor for a library that seeks in the file and closes it. It has its own position if the system supports that.
    func duplicateDescriptor() throws(SourceError) -> Int32 {
        let again = Glibc.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        let descriptor = again < 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : again
        guard descriptor >= 0 else { throw SourceError(.inputOutput, FileInput.message("cannot read it", errno)) }
        return descriptor
    }

    /// Opens a file in a folder. Links on the way are not followed, and only regular files are opened.
    ///
    /// - Parameters:
    ///   - folder: the path of the folder, as given by the user.
    ///   - components: the names of folders and of the file. None is `..`.
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
            // For a link to a folder, the error is ENOTDIR.
            let isLink = errno == ELOOP || errno == ENOTDIR
            throw SourceError(
                .noInput, isLink ? "it is a link, which is not followed" : FileInput.message("cannot open it", errno))
        }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw SourceError(.noInput, "it is not a file")
        }
        descriptor = opened
        spoolFolders = Self.spoolFolders
        size = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    private static func open(
        _ path: String, _ bytes: [UInt8], _ onlyFile: Bool, _ spoolFolders: [String], _ isCancelled: () -> Bool
    ) throws(SourceError) -> Int32 {
        // A FIFO without a writer opens at once. Waiting for it happens later and can be interrupted.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (onlyFile ? O_NOFOLLOW : 0)
        let opened =
            path == standardInput
            ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : Glibc.open(bytes.map { CChar(bitPattern: $0) } + [0], flags)
        guard opened >= 0 else {
            let isLink = onlyFile && errno == ELOOP
            throw SourceError(
                .noInput, isLink ? "it is a link, which is not followed" : FileInput.message("cannot open it", errno))
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
            // A directory can be opened, but not read.
            throw SourceError(.noInput, FileInput.message("cannot read it", EISDIR) + ": name the files in it")
        case _ where onlyFile:
            close(opened)
            throw SourceError(.noInput, "it is not a file")
        default:
            defer { close(opened) }
            return try Spool.copy(opened, into: spoolFolders, isCancelled)
        }
    }
}

/// Copies the data of a pipe to a file.
private enum Spool {
    /// - Returns: an open file without a name. It is deleted when it is closed.
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
                var failure: SourceError?
                buffer.withUnsafeBytes { bytes in
                    do throws(SourceError) {
                        try append(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: file)
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
            }
        } catch {
            close(file)
            throw error
        }
    }

    static func append(_ piece: UnsafeRawBufferPointer, to file: Int32) throws(SourceError) {
        var written = 0
        while written < piece.count {
            let part = write(file, piece.baseAddress.map { $0 + written }, piece.count - written)
            guard part > 0 || errno == EINTR else {
                throw SourceError(.inputOutput, FileInput.message("cannot store a temporary copy of it", errno))
            }
            written += max(part, 0)
        }
    }

    /// Waits for data. A FIFO that never had a writer reports nothing, not even its end.
    private static func wait(for pipe: Int32, _ isCancelled: () -> Bool) throws(SourceError) {
        var state = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        while true {
            guard !isCancelled() else {
                throw SourceError(.inputOutput, "interrupted before it was complete (nothing was imported)")
            }
            // Polls repeatedly, because a signal may arrive just before the call.
            if poll(&state, 1, 200) > 0 { return }
        }
    }

    static func make(in folders: [String]) throws(SourceError) -> Int32 {
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
        throw SourceError(.inputOutput, FileInput.message("there is no folder for a temporary copy of it: set TMPDIR", code))
    }
}
