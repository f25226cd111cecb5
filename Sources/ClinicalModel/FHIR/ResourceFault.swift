/// Why octets are no valid resource: where, and what is wrong there. It names elements, never values.
///
///     Immunization.vaccineCode: is missing
///     Observation.component[1].valueQuantity: a text is never closed (octet 512)
public struct ResourceFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// From the resource's type to the element, as FHIRPath writes it; empty where not even the type could be read.
    public var path: String
    /// What is wrong, without the value.
    public var reason: String
    /// The octet that is wrong, counted from 0; `nil` where it is well-formed.
    public var octet: Int?

    /// A fault by its parts.
    public init(_ path: String, _ reason: String, octet: Int? = nil) {
        (self.path, self.reason, self.octet) = (path, reason, octet)
    }

    public var description: String {
        let place = octet.map { " (octet \($0))" } ?? ""
        return (path.isEmpty ? "" : path + ": ") + reason + place
    }
}
