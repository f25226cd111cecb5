/// The reason why a line is not a sample. It names the field and never a value.
struct LineFault: Error, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ field: String, _ reason: String) { self.reason = "\(field): \(reason)" }
}
