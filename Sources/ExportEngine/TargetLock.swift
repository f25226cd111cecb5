import Glibc
import SampleStore

/// A lock that lets only one process at a time deliver to a target. A comparison and a running export would otherwise send
/// contradictory changes.
///
/// It is an flock(2) lock on a file beside the store. The kernel releases it when the process ends for any reason.
package final class TargetLock {
    private let descriptor: Int32

    /// - Throws: ``StoreError`` if the lock file cannot be created.
    package init(store: String, target: String) throws(StoreError) {
        let path = "\(store)-target-\(target)"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let kind: StoreError.Kind = errno == EACCES ? .permission : errno == EROFS ? .readOnly : .missing
            throw StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Waits for the lock, and holds it during `body`.
    package func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw StoreError(.inputOutput, "the target's lock: \(String(cString: strerror(errno)))")
            }
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
