/// Why an object cannot enter a store: the one verdict for files, devices, the library and HTTP. The words name the field and no value.
public struct InvalidObject: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which field.
    public var field: String
    /// What is wrong with it.
    public var reason: String

    /// Names a field and what is wrong with it.
    public init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }

    public var description: String { "\(field): \(reason)" }
}
