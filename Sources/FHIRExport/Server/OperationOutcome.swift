/// A server's error report, without its texts, which often quote measured values.
enum OperationOutcome {
    /// R4's issue types (http://hl7.org/fhir/R4/valueset-issue-type.html). Other words are not reported.
    private static let codes: Set = [
        "invalid", "structure", "required", "value", "invariant", "security", "login", "unknown", "expired", "forbidden",
        "suppressed", "processing", "not-supported", "duplicate", "multiple-matches", "not-found", "deleted", "too-long",
        "code-invalid", "extension", "too-costly", "business-rule", "conflict", "transient", "lock-error", "no-store",
        "exception", "timeout", "incomplete", "throttled", "informational",
    ]

    /// Returns a text such as `required at Bundle.entry[0].resource.person`, or an empty one if nothing can be reported.
    static func words(_ outcome: FHIRResource) -> String {
        let issues = outcome.issue ?? []
        let errors = issues.filter { ["error", "fatal"].contains($0.severity) }
        var messages: [String] = []
        for issue in (errors.isEmpty ? issues : errors).prefix(3) {
            guard let code = issue.code, codes.contains(code) else { continue }
            let path = (issue.expression ?? issue.location)?.first.flatMap(path)
            messages.append(path.map { "\(code) at \($0)" } ?? code)
        }
        return messages.joined(separator: ", ")
    }

    /// Returns an element's path: names, dots and indices in brackets. Any other text may contain a value.
    private static func path(_ text: String) -> String? {
        guard text.utf8.count <= 120, text.first?.isLetter == true else { return nil }
        var isIndex = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."):
                guard !isIndex else { return nil }
            case UInt8(ascii: "["): isIndex = true
            case UInt8(ascii: "]"): isIndex = false
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard isIndex else { return nil }
            default: return nil
            }
        }
        return text
    }
}
