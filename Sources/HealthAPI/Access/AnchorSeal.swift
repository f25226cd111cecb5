import Glibc
import HealthModel
import SampleStore

/// Encrypts anchors, since the numbers in them would reveal how much hidden data was written. Another client's anchor is invalid.
struct AnchorSeal: Sendable {
    private let seal: Seal

    /// Reads or creates the key.
    ///
    /// - Parameter store: The path of the store. The key is stored beside it, so that anchors remain valid after a restart.
    init(store: String) throws(StoreError) {
        let path = store + "-anchors.key"
        var key = try Self.read(path)
        if key == nil { key = try Self.make(path) }
        guard let seal = key.flatMap({ Seal(key: $0) }) else {
            throw StoreError(
                .foreign,
                "\(path) is not a valid key. Remove the file to create a new key. Clients that follow changes then start again")
        }
        self.seal = seal
    }

    func text(_ anchor: ClientAnchor, for caller: Caller) -> String { seal.sealed(anchor.text, for: caller.id) }

    /// Opens an anchor.
    ///
    /// - Parameter widening: The client's last widening of grants. A client that starts from the beginning needs no earlier ones.
    func anchor(_ text: String, for caller: Caller, widening: Int64) -> ClientAnchor? {
        text == "0"
            ? ClientAnchor(.beginning, widening: widening) : seal.opened(text, for: caller.id).flatMap { ClientAnchor($0) }
    }

    private static func read(_ path: String) throws(StoreError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure(path) }
            return nil
        }
        defer { close(descriptor) }
        var key = [UInt8](repeating: 0, count: Seal.keySize + 1)
        let count = Glibc.read(descriptor, &key, key.count)
        return Array(key.prefix(max(0, count)))
    }

    /// Creates the key file atomically. Two processes that start at the same time agree on one key.
    private static func make(_ path: String) throws(StoreError) -> [UInt8] {
        let key = Seal.randomKey()
        let draft = "\(path).\(getpid())"
        unlink(draft)
        let descriptor = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(draft) }
        defer { unlink(draft) }
        let count = write(descriptor, key, key.count)
        guard fsync(descriptor) == 0, close(descriptor) == 0, count == key.count else { throw failure(draft) }
        guard link(draft, path) == 0 || errno == EEXIST else { throw failure(path) }
        guard let stored = try read(path) else { return key }
        return stored
    }

    private static func failure(_ path: String) -> StoreError {
        StoreError(errno == EACCES ? .permission : .inputOutput, "\(path): \(String(cString: strerror(errno)))")
    }
}
