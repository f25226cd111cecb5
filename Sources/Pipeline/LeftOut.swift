/// The parts of frames that became no reading, although the frames themselves were read.
public struct LeftOut: Sendable {
    /// Parts that cannot be, each with its own place.
    public var refusals: [Refusal] = []
    /// Parts that a reader sees and does not store, by name.
    public var skipped: [SkipKind: Int] = [:]

    /// Nothing yet.
    public init() {}

    /// Whether there is nothing.
    public var isEmpty: Bool { refusals.isEmpty && skipped.isEmpty }

    /// Returns all of it, and begins anew; `nil` if there is nothing.
    public mutating func take() -> LeftOut? {
        guard !isEmpty else { return nil }
        defer { self = LeftOut() }
        return self
    }
}

/// Gives the parts of a file that are not stored their names in the ledger. The names come from the file, so their length, their characters
/// and their number have bounds.
///
///     var names = SkipNames()
///     leftOut.skipped[names.kind("record.temperature"), default: 0] += 1
public struct SkipNames: Sendable {
    /// Names of one import; what has more is made to fill the ledger.
    public static let maximum = 256
    /// In bytes.
    public static let longest = 80
    /// What is counted under no name of its own.
    public static let other = SkipKind("other")

    private var kinds: [String: SkipKind] = [:]

    /// No names yet.
    public init() {}

    /// The kind of a part; ``other`` if the name is empty or one too many.
    public mutating func kind(_ name: String) -> SkipKind {
        if let known = kinds[name] { return known }
        let cleaned = Self.cleaned(name)
        guard !cleaned.isEmpty, kinds.count < Self.maximum else { return Self.other }
        let kind = SkipKind(cleaned)
        kinds[name] = kind
        return kind
    }

    /// Letters, digits, blanks and `._-:#`; everything else is `_`.
    private static func cleaned(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil || ". _-:#".unicodeScalars.contains(scalar)
            let next = isPlain ? Character(scalar) : "_"
            guard text.utf8.count + String(next).utf8.count <= longest else { break }
            text.append(next)
        }
        return text.allSatisfy { $0 == "_" || $0 == " " } ? "" : text
    }
}
