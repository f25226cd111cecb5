import Synchronization

/// Idle connections that stay open for their next user.
public final class IdlePool<Connection: Sendable>: Sendable {
    private let idle = Mutex<[Connection]>([])
    /// The maximum number of idle connections. Others are closed, the one used longest ago first.
    private static var maximum: Int { 4 }

    /// Creates an empty pool.
    public init() {}

    /// The number of idle connections.
    public var count: Int { idle.withLock { $0.count } }

    /// Returns the matching connection that was used last, for exclusive use.
    public func take(where isFit: @Sendable (Connection) -> Bool = { _ in true }) -> Connection? {
        idle.withLock { idle in idle.lastIndex(where: isFit).map { idle.remove(at: $0) } }
    }

    /// Takes back a connection.
    public func giveBack(_ connection: Connection) {
        // The dropped connection is closed outside of the lock.
        _ = idle.withLock { idle in
            idle.append(connection)
            return idle.count > Self.maximum ? idle.removeFirst() : nil
        }
    }
}
