import HealthModel
import SampleStore

/// Who asks.
public struct Caller: Hashable, Sendable {
    /// The client's id, for good.
    public var id: String

    /// A client by its id.
    public init(id: String) { self.id = id }
}

/// Who may ask, and for what: the one seam between the routes and what a person has granted.
///
/// A reader that was narrowed shows nothing that its caller may not read, whatever it is asked: then a refused read looks like no data, since it is none.
public protocol Audience: Sendable {
    /// Whose token it is.
    ///
    /// - Returns: `nil` for one that nobody has, or no more.
    func caller(bearing token: String, in store: SampleStore, at time: Instant) throws -> Caller?
    /// Has a reader show only what a caller may read now; called before each look, since a person may change their mind.
    func narrow(_ reader: SampleStore, to caller: Caller) throws
}

/// Nobody may anything.
public struct NoAudience: Audience {
    /// Needs nothing.
    public init() {}
    public func caller(bearing token: String, in store: SampleStore, at time: Instant) throws -> Caller? { nil }
    public func narrow(_ reader: SampleStore, to caller: Caller) throws {
        throw StoreError(.invalid, "nobody may read")
    }
}
