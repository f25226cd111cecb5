/// Why a line is no sample; the words name the field and no value.
struct LineFault: Error, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ field: String, _ reason: String) { self.reason = "\(field): \(reason)" }
}
