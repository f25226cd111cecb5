import Glibc

/// The body of a request in a file without a name. It is deleted with this object, and by the system if the process is killed.
package final class SpooledBody: Sendable {
    private let descriptor: Int32

    /// The path under which this process can open the file.
    package var path: String { "/proc/self/fd/\(descriptor)" }

    /// Creates an empty file that only this user can read.
    ///
    /// - Throws: ``Problem`` 507 if the disk is full.
    init(in folder: String) throws(Problem) {
        var template = Array("\(folder)/.vitalgate-post-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.noRoom }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    ///
    /// - Throws: ``Problem`` 507 if the disk is full.
    func append(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            guard count > 0 || errno == EINTR else { throw Self.noRoom }
            written += max(count, 0)
        }
    }

    private static let noRoom = Problem(507, "The body cannot be stored. Nothing was saved.", headers: ["Retry-After": "600"])
}
