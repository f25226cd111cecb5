import Synchronization

/// Whether something has changed since it was last looked at. Any thread may set it.
final class ChangeMark: Sendable {
    private let isSet: Atomic<Bool>

    init(_ isSet: Bool) { self.isSet = Atomic(isSet) }

    func set() { isSet.store(true, ordering: .sequentiallyConsistent) }

    /// Returns whether it was set, and unsets it.
    func take() -> Bool { isSet.exchange(false, ordering: .sequentiallyConsistent) }
}
