import HTTPServerKit
import HealthModel
import SampleStore
import Synchronization

/// The shares of the disk that clients and people use in a day. Each may fill half of the room that is left, and all together leave the part
/// that is reserved for the readings of devices (``DiskRoom``).
package final class DiskShares: Sendable {
    private let path: String
    private let used = Mutex<(day: Int64, bytes: [Payer: Int])>((0, [:]))

    /// - Parameter path: The path of the store.
    init(path: String) { self.path = path }

    /// Adds the bytes that the store has grown by for a client or a person, such as those of an import. They are known only afterward.
    package func add(_ bytes: Int, for payer: Payer, at now: Instant) {
        used.withLock { used in
            Self.begin(now, &used)
            used.bytes[payer, default: 0] += max(0, bytes)
        }
    }

    private static func begin(_ now: Instant, _ used: inout (day: Int64, bytes: [Payer: Int])) {
        let day = now.microseconds / 86_400_000_000
        if used.day != day { used = (day, [:]) }
    }

    /// Takes room for the bytes that a client or a person sends. A change that frees space needs none.
    ///
    /// - Throws: ``Problem`` 507 if the share is used up, or if the disk is nearly full.
    package func take(_ bytes: Int, for payer: Payer, at now: Instant) throws(Problem) {
        guard let room = DiskRoom(of: path) else { return }
        let isTaken = used.withLock { used in
            Self.begin(now, &used)
            let own = used.bytes[payer, default: 0]
            guard room.isEnough(for: bytes, having: own) else { return false }
            used.bytes[payer] = own + bytes
            return true
        }
        guard !isTaken else { return }
        var problem = Problem(
            507, "The disk is nearly full, or too much was saved today. Nothing was saved.", headers: ["Retry-After": "600"])
        problem.bound = .disk
        throw problem
    }
}
