import HealthModel
import SampleStore
import Synchronization

/// Detects changes to a client's access during an answer, so that a download ends when a grant is withdrawn or a token is revoked.
package final class GrantWatch: Sendable {
    private struct State: @unchecked Sendable {
        var store: SampleStore?
        /// The value of SQLite's `data_version` for which `known` is valid.
        var version: Int64?
        var known: [String: Rights] = [:]
    }

    /// The access of a client at one moment.
    package struct Rights: Equatable, Sendable {
        fileprivate let hasAccess: Bool
        fileprivate let grants: [Grant]

        /// Whether the client may read anything. A client with write access can read its own objects.
        package var mayRead: Bool { grants.contains { $0.reading != .none || $0.mayWrite } }
    }

    private let path: String
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())
    /// The maximum number of callers to cache between two commits.
    private static let maximum = 64

    package init(path: String, now: @escaping @Sendable () -> Instant) { (self.path, self.now) = (path, now) }

    /// The current access of a client with a token. Between commits this costs one check of the file.
    package func rights(of client: Client, bearing token: String) throws -> Rights {
        try state.withLock { state in
            if let store = state.store, (try? store.checkPlace()) == nil { state = State() }
            let store = try state.store ?? SampleStore(path: path, access: .read)
            state.store = store
            let version = try store.dataVersion()
            if state.version != version || state.known.count >= Self.maximum { (state.version, state.known) = (version, [:]) }
            if let known = state.known[token] { return known }
            let hasAccess = try store.clients.client(bearing: token, at: now())?.id == client.id
            let rights = Rights(hasAccess: hasAccess, grants: hasAccess ? try store.clients.grants(of: client) : [])
            state.known[token] = rights
            return rights
        }
    }
}
