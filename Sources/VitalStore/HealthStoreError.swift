/// What a program asked of a store that cannot be. What goes wrong with the store itself is `StoreError` of the module SampleStore.
public enum HealthStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The store was opened for reading, and something was to be changed.
    case openedForReading
    /// An object cannot be kept, so that none of those that were to be saved with it is: its place among them, from 0, and why, without its value.
    case refused(object: Int, reason: String)
    /// An anchor is of another store, of one that was put back from a backup since, or of changes that the store no longer has: why.
    case unknownAnchor(String)
    /// Statistics that the type does not have, or a type that has none: why.
    case unsuitable(String)
    /// There is no such object in the store, or it is of another kind.
    case noSuchObject

    public var description: String {
        switch self {
        case .openedForReading: "the store was opened for reading; open it with the access .write to change something"
        case .refused(let object, let reason): "object \(object): \(reason); nothing was saved"
        case .unknownAnchor(let reason):
            "the anchor \(reason); query again without an anchor, forget what that does not tell, and go on from its last anchor"
        case .unsuitable(let reason): reason
        case .noSuchObject: "there is no such object in the store"
        }
    }
}
