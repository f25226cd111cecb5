import HealthModel
import Pipeline

/// The one door: every object that enters the store is checked here, whichever way it comes.
///
/// Files, devices and recordings have what is not valid refused, each by itself. What programs save (library, HTTP) is stored as a whole or
/// not at all, so that the program can correct it.
struct EntryCheck {
    /// Whether a program saves it: clinical records are read-only for programs, as in HealthKit.
    let isSaved: Bool
    private let people: Set<String>
    /// Neighbors mostly share these.
    private var lastOrigin: Origin?
    private var lastMetadata: Metadata?

    init(isSaved: Bool, owner: String) { (self.isSaved, people) = (isSaved, [owner]) }

    mutating func check(_ sample: borrowing Sample) throws(InvalidObject) {
        try sample.checkNumbers()
        if lastOrigin !== sample.origin {
            try sample.origin.check(people: people)
            lastOrigin = sample.origin
        }
        if let metadata = sample.metadata, metadata !== lastMetadata {
            try sample.checkMetadata()
            lastMetadata = metadata
        }
        let kind = sample.origin.kind
        if isSaved, kind == .clinicalRecord {
            throw InvalidObject("type", "clinical records are imported, and no program saves them")
        }
        if let body = sample.body {
            try body.check(as: sample.origin.type, deeply: isSaved)
        } else if kind != .quantity, kind != .category {
            throw InvalidObject("body", "it is missing")
        }
    }
}

/// An object that a program saves and that is not valid; nothing was stored of what it was to be saved with.
public struct RefusedObject: Error, Hashable, Sendable {
    /// Its place among those that were given, from 0.
    public var index: Int
    /// What is wrong with it.
    public var fault: InvalidObject
}
