import HealthModel
import SampleStore
import Synchronization

/// Says whether what a client may read is still what it was when an answer began, so that a download ends when a grant is withdrawn or a token revoked.
final class GrantWatch: Sendable {
    private struct State: @unchecked Sendable {
        var store: SampleStore?
        /// SQLite's data version for which `known` holds.
        var version: Int64?
        var known: [String: Rights] = [:]
    }

    /// What a client may at a moment.
    struct Rights: Equatable, Sendable {
        fileprivate let isLetIn: Bool
        fileprivate let grants: [Grant]

        /// Whether anything may be read: a client also reads what it wrote itself.
        var mayRead: Bool { grants.contains { $0.reading != .none || $0.mayWrite } }
    }

    private let path: String
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())
    /// Callers that are remembered between two commits.
    private static let most = 64

    init(path: String, now: @escaping @Sendable () -> Instant) { (self.path, self.now) = (path, now) }

    /// What a caller may now. It costs one look at the file unless somebody committed.
    func rights(of caller: Caller) throws -> Rights {
        try state.withLock { state in
            if let store = state.store, (try? store.checkPlace()) == nil { state = State() }
            let store = try state.store ?? SampleStore(path: path, access: .read)
            state.store = store
            let version = try store.dataVersion()
            if state.version != version || state.known.count >= Self.most { (state.version, state.known) = (version, [:]) }
            if let known = state.known[caller.token] { return known }
            let isLetIn = try store.client(bearing: caller.token, at: now())?.id == caller.client.id
            let rights = Rights(isLetIn: isLetIn, grants: isLetIn ? try store.grants(of: caller.client) : [])
            state.known[caller.token] = rights
            return rights
        }
    }
}
