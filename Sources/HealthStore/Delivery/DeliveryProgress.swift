import FoundationEssentials
import Glibc
import HealthModel
import SampleStore

struct DeliveryProgress: Hashable, Codable {
    /// The last anchor that the receiver acknowledged.
    var anchor: QueryAnchor
    /// The time of the last acknowledgement, in microseconds since 1970.
    var delivered: Int64?
    /// The number of failed deliveries in a row.
    var failures = 0

    init(anchor: QueryAnchor) { self.anchor = anchor }

    private static let first = Duration.seconds(1)
    private static let maximumDelay = Duration.seconds(3600)

    mutating func succeed(with anchor: QueryAnchor, at now: Instant) {
        (self.anchor, delivered, failures) = (anchor, now.microseconds, 0)
    }

    /// Records a failed delivery.
    ///
    /// - Returns: The time until the next attempt. It doubles with each failure, up to an hour.
    mutating func fail() -> Duration {
        let pause = min(Self.maximumDelay, Self.first * (1 << min(failures, 16)))
        failures += 1
        return pause
    }

    /// The time until the next delivery is due.
    func pause(for frequency: BackgroundDelivery.Frequency, now: Instant) -> Duration {
        let period: Int64
        switch frequency {
        case .immediate: return .zero
        case .hourly: period = 3_600_000_000
        case .daily: period = Calendar.day
        }
        guard let delivered else { return .zero }
        // A clock that was set back extends the wait to one period at most.
        return .microseconds(min(max(delivered &+ period &- now.microseconds, 0), period))
    }
}

/// The file beside the store with a delivery's progress. Only one process can have it open.
///
/// A write replaces the file atomically and syncs it to the medium.
final class ProgressFile {
    private let path: String
    private let lock: Int32
    private static let maximumBytes = 4096

    /// Opens and locks the progress file.
    ///
    /// - Throws: `StoreError`, of the kind `busy` if another process holds the lock.
    init(store: String, name: String) throws(StoreError) {
        path = "\(store)-observer-\(name)"
        // A delivery's name cannot contain `~`, so the lock file cannot be another delivery's progress file.
        let file = path + "~lock"
        lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Self.failure(file) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK
                ? StoreError(.busy, "another process already delivers to '\(name)'") : Self.failure(file)
        }
    }

    // This also runs if the initializer throws. Closing alone would leave the lock to a program that is just being started, which has the
    // descriptor until it runs.
    deinit {
        guard lock >= 0 else { return }
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// Reads the progress.
    ///
    /// - Returns: The stored progress, or `nil` if nothing was ever delivered.
    func read() throws(StoreError) -> DeliveryProgress? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Self.failure(path) }
            return nil
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw Self.failure(path) }
        guard let progress = try? JSONDecoder().decode(DeliveryProgress.self, from: Data(bytes[..<count])) else {
            throw StoreError(
                .corrupt, "\(path) does not contain the receiver's position: remove it to continue with new changes only")
        }
        return progress
    }

    func write(_ progress: DeliveryProgress) throws {
        let bytes = Array(try JSONEncoder().encode(progress))
        let new = path + "~new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(new) }
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let failure = Self.failure(new)
        close(descriptor)
        guard isWritten else { throw failure }
        guard rename(new, path) == 0 else { throw Self.failure(path) }
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { throw Self.failure(folder) }
        defer { close(place) }
        guard fsync(place) == 0 else { throw Self.failure(folder) }
    }

    private static func failure(_ path: String) -> StoreError {
        let kind: StoreError.Kind =
            switch errno {
            case EACCES: .permission
            case EROFS: .readOnly
            case ENOSPC: .full
            case ENOENT: .missing
            default: .inputOutput
            }
        return StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
    }
}
