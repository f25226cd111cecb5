import HealthModel

/// The reason why bytes are not a valid resource: the place and the error. It names elements, never values.
///
///     Immunization.vaccineCode: is missing
///     Observation.component[1].valueQuantity: a text is never closed (octet 512)
package struct ResourceFault: JSONFailure, Hashable, CustomStringConvertible {
    /// The path from the resource's type to the element, as in FHIRPath. It is empty if the type could not be read.
    package var path: String
    /// The error, without the value.
    package var reason: String
    /// The index of the invalid byte, or `nil` if the text is well-formed.
    package var byte: Int?

    package init(_ path: String, _ reason: String, byte: Int? = nil) {
        (self.path, self.reason, self.byte) = (path, reason, byte)
    }

    package init(_ fault: JSONFault) {
        let isDepth = fault.kind == .depth
        self.init(
            "", isDepth ? "it is nested more than \(JSONTape.maximumDepth) levels deep" : fault.reason, byte: fault.start)
    }

    package var description: String {
        let place = byte.map { " (byte \($0))" } ?? ""
        return (path.isEmpty ? "" : path + ": ") + reason + place
    }
}
