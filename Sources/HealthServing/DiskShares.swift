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

    /// Takes room for the bytes that a client or a person sends. A change that frees space needs none.
    ///
    /// - Throws: ``Problem`` 507 if the share is used up, or if the disk is nearly full.
    package func take(_ bytes: Int, for payer: Payer, at now: Instant) throws(Problem) {
        guard let room = DiskRoom(of: path) else { return }
        let day = now.microseconds / 86_400_000_000
        let isTaken = used.withLock { used in
            if used.day != day { used = (day, [:]) }
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
