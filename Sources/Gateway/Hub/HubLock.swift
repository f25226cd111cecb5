import Glibc
import SampleStore

/// Keeps a second hub off a store: two would read the same devices, and take each other's records.
///
/// flock(2) on a file beside the store; the kernel gives it up with the process, however that ends.
public final class HubLock {
    private let descriptor: Int32

    /// - Throws: ``StoreError`` of the kind `busy` where another hub holds it.
    public init(store: String) throws(StoreError) {
        let path = store + "-hub"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let kind: StoreError.Kind = errno == EACCES ? .permission : errno == EROFS ? .readOnly : .missing
            throw StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.process(in: descriptor).map { " (process \($0))" } ?? ""
            throw StoreError(.busy, "another hub runs on \(store)\(holder): stop it first, or give this one another --store")
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }

    deinit { close(descriptor) }

    private static func process(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
