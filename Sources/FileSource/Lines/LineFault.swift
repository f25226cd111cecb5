import HealthModel

/// The reason why a line is not a sample. It names the field and never a value.
struct LineFault: JSONFailure, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ field: String, _ reason: String) { self.reason = "\(field): \(reason)" }

    init(_ fault: JSONFault) {
        if fault.kind == .depth {
            reason = "it is nested more than \(LineObject.maximumDepth) levels deep"
        } else {
            reason = fault.isEnd ? "the line ends early" : "byte \(fault.index + 1) of the line is not valid JSON"
        }
    }
}
