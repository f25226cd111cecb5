/// An invalid request to a store. Failures of the store itself are `StoreError` of the module SampleStore.
public enum HealthStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A change was requested from a store that is open for reading only.
    case openedForReading
    /// An object was refused, so nothing was saved: its index among the objects, and the reason without the value.
    case refused(object: Int, reason: String)
    /// The anchor cannot be used, with the reason: it belongs to another store, the store was restored from a backup, or its
    /// changes were removed.
    case unknownAnchor(String)
    /// The query does not fit the type, with the reason. An example is statistics that the type does not have.
    case unsuitable(String)
    /// The object does not exist in the store or is of another kind.
    case noSuchObject

    public var description: String {
        switch self {
        case .openedForReading: "the store was opened for reading: open it with the access .write to change it"
        case .refused(let object, let reason): "object \(object): \(reason) (nothing was saved)"
        case .unknownAnchor(let reason):
            "the anchor \(reason): query again without an anchor, forget the samples that are not in the result, and continue from its last anchor"
        case .unsuitable(let reason): reason
        case .noSuchObject: "there is no such object in the store"
        }
    }
}
