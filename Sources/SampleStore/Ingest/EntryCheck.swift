import HealthModel
import Pipeline

/// Validates every object that enters the store, whatever its source.
///
/// Invalid objects from files, devices and recordings are refused one by one. Objects that clients save (library, HTTP)
/// are stored all or not at all, so that the client can correct them.
struct EntryCheck {
    /// Whether a client saves the object. As in HealthKit, clients cannot save clinical records.
    let isSaved: Bool
    /// The last checked values, which adjacent samples mostly share.
    private var lastOrigin: Origin?
    private var lastMetadata: Metadata?

    init(isSaved: Bool) { self.isSaved = isSaved }

    mutating func check(_ sample: borrowing Sample) throws(InvalidObject) {
        try sample.checkNumbers()
        if lastOrigin !== sample.origin {
            try sample.origin.check()
            lastOrigin = sample.origin
        }
        if let metadata = sample.metadata, metadata !== lastMetadata {
            try sample.checkMetadata()
            lastMetadata = metadata
        }
        let kind = sample.origin.kind
        if isSaved, kind == .clinicalRecord {
            throw InvalidObject("type", "clinical records can only be imported, not saved")
        }
        if let body = sample.body {
            try body.check(as: sample.origin.type, deeply: isSaved)
        } else if kind != .quantity, kind != .category {
            throw InvalidObject("body", "it is missing")
        }
    }
}

/// An invalid object that a client tried to save. None of the objects saved with it were stored.
public struct RefusedObject: Error, Hashable, Sendable {
    /// The index of the object among the given ones, starting at 0.
    public var index: Int
    /// The reason why the object is invalid.
    public var fault: InvalidObject
}
