/// The parts of frames that became no reading, although the frames themselves were read.
public struct LeftOut: Sendable {
    /// Invalid parts, each with its own place.
    public var refusals: [Refusal] = []
    /// The numbers of parts that a reader recognises and does not store, by name.
    public var skipped: [SkipKind: Int] = [:]

    /// Empty counts.
    public init() {}

    /// Whether there is nothing.
    public var isEmpty: Bool { refusals.isEmpty && skipped.isEmpty }

    /// Returns the contents and empties this value, or returns `nil` if there are none.
    public mutating func take() -> LeftOut? {
        guard !isEmpty else { return nil }
        defer { self = LeftOut() }
        return self
    }
}

/// Assigns ledger names to the parts of a file that are not stored. The names come from the file, so their length, characters and number
/// are bounded.
///
///     var names = SkipNames()
///     leftOut.skipped[names.kind("record.temperature"), default: 0] += 1
public struct SkipNames: Sendable {
    /// The maximum number of names in one import. A file with more is meant to fill the ledger.
    public static let maximum = 256
    /// The maximum length of a name, in bytes.
    public static let maximumLength = 80
    /// The kind of all parts without a name of their own.
    public static let other = SkipKind("other")

    private var kinds: [String: SkipKind] = [:]

    /// No names yet.
    public init() {}

    /// The kind of a part, or ``other`` if the name is empty or there are too many names.
    public mutating func kind(_ name: String) -> SkipKind {
        if let known = kinds[name] { return known }
        let cleaned = Self.cleaned(name)
        guard !cleaned.isEmpty, kinds.count < Self.maximum else { return Self.other }
        let kind = SkipKind(cleaned)
        kinds[name] = kind
        return kind
    }

    /// Keeps letters, digits, spaces and `._-:#`, and replaces everything else with `_`.
    private static func cleaned(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil || ". _-:#".unicodeScalars.contains(scalar)
            let next = isPlain ? Character(scalar) : "_"
            guard text.utf8.count + String(next).utf8.count <= maximumLength else { break }
            text.append(next)
        }
        return text.allSatisfy { $0 == "_" || $0 == " " } ? "" : text
    }
}
