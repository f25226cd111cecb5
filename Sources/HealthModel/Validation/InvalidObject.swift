/// Why an object cannot enter a store: the one verdict for files, devices, the library and HTTP. The words name the field and no value.
public struct InvalidObject: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which field.
    public var field: String
    /// The problem with the field.
    public var reason: String

    /// An error with a field and its problem.
    public init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }

    public var description: String { "\(field): \(reason)" }
}
