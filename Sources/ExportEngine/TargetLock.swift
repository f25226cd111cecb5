import Glibc
import SampleStore

/// Lets one process at a time deliver to a target: whoever compares it and whoever carries it on would tell it two things at once.
///
/// flock(2) on a file beside the store; the kernel gives it up with the process, however that ends.
public final class TargetLock {
    private let descriptor: Int32

    /// - Throws: ``StoreError`` where the file beside the store cannot be made.
    public init(store: String, target: String) throws(StoreError) {
        let path = "\(store)-target-\(target)"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let kind: StoreError.Kind = errno == EACCES ? .permission : errno == EROFS ? .readOnly : .missing
            throw StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Waits until nobody else delivers, and keeps others off meanwhile.
    public func holding<Result>(_ body: () throws -> Result) throws -> Result {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw StoreError(.inputOutput, "the target's lock: \(String(cString: strerror(errno)))")
            }
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
