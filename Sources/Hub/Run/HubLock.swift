import Glibc
import SampleStore

/// A lock that prevents a second hub on a store. Two hubs would read the same devices and take each other's records.
///
/// It is an flock(2) lock on a file beside the store. The kernel releases it when the process ends for any reason.
package final class HubLock {
    private let descriptor: Int32

    /// The number of attempts, 20 ms each.
    private static let maximumAttempts = 250

    /// - Throws: ``StoreError`` of the kind `busy` if another hub holds the lock.
    package init(store: String) throws(StoreError) {
        let path = store + "-hub"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let kind: StoreError.Kind = errno == EACCES ? .permission : errno == EROFS ? .readOnly : .missing
            throw StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
        var attempts = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let holder = Self.process(in: descriptor)
            // If a hub was killed while it started an import, the new process holds the lock for a moment.
            guard let holder, attempts < Self.maximumAttempts, kill(holder, 0) != 0, errno == ESRCH else {
                let holderText = holder.map { " (process \($0))" } ?? ""
                throw StoreError(.busy, "another hub is running on \(store)\(holderText): stop it first, or use another --store")
            }
            attempts += 1
            usleep(20_000)
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }

    // Closing alone would leave the lock to a program that is just being started, which has the descriptor until it runs.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func process(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
