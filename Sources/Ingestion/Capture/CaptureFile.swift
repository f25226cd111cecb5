import Glibc
import HealthModel
import Pipeline

/// The file that a capture is written to, and its predecessor: `FILE` and `FILE.1`. Together they never exceed the requested
/// size.
///
/// Both have mode 0600. Links are not followed, and an existing file that is not a capture is not touched.
final class CaptureFile {
    let path: String
    /// The maximum size of one part in bytes.
    let limit: Int
    private(set) var size = 0
    private(set) var descriptor: Int32 = -1

    init(path: String, limit: Int) throws(SourceError) {
        self.path = path
        self.limit = limit
        try begin()
    }

    deinit { finish() }

    /// Closes the part and starts the next one.
    func rotate() throws(SourceError) {
        finish()
        try begin()
    }

    func finish() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Appends the whole line, or nothing if that fails.
    func append(_ line: [UInt8]) throws(SourceError) {
        var written = 0
        while written < line.count {
            let count = line[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                _ = ftruncate(descriptor, off_t(size))
                throw Self.error(path, code)
            }
            written += count
        }
        size += written
    }

    // MARK: Parts

    private func begin() throws(SourceError) {
        try makeRoom()
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.error(path, errno) }
        // The kernel releases the lock when the process ends.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        size = 0
    }

    /// Renames an earlier capture to the older file.
    private func makeRoom() throws(SourceError) {
        let older = path + ".1"
        guard try isCapture(path) else { return }
        _ = try isCapture(older)
        guard rename(path, older) == 0 else { throw Self.error(path, errno) }
    }

    /// Whether a capture exists at the path. Throws if something else is there.
    private func isCapture(_ path: String) throws(SourceError) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return false }
            throw errno == ELOOP
                ? SourceError(.inputOutput, "\(path): links are not followed") : Self.error(path, errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SourceError(.inputOutput, "\(path): not a regular file")
        }
        var head = [UInt8](repeating: 0, count: CaptureText.mark.count)
        let count = pread(file, &head, head.count, 0)
        guard count == 0 || head == CaptureText.mark else {
            throw SourceError(.inputOutput, "\(path): exists and is not a capture: use another name")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw SourceError(.inputOutput, "\(path): another hub is writing to it: use another name")
        }
        return true
    }

    private static func error(_ path: String, _ code: Int32) -> SourceError {
        SourceError(.inputOutput, "\(path): \(String(cString: strerror(code)))")
    }
}
