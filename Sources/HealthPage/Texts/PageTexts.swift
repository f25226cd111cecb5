/// The page's texts in one language by key, from one file.
///
///     texts("card.week", "+0.3 kg")  // "+0.3 kg in a week"
struct PageTexts: Sendable {
    let language: String
    private let texts: [String: String]
    private let sentences: [(pattern: SentencePattern, text: String)]

    /// The beginning of the keys whose rest is a sentence of the program in English.
    static let sentencePrefix = "said."

    init(language: String, _ texts: [String: String]) {
        (self.language, self.texts) = (language, texts)
        sentences = texts.filter { $0.key.hasPrefix(Self.sentencePrefix) }.sorted { $0.key < $1.key }.map {
            (SentencePattern(String($0.key.dropFirst(Self.sentencePrefix.count))), $0.value)
        }
    }

    func completed(by others: PageTexts) -> PageTexts {
        PageTexts(language: language, texts.merging(others.texts) { own, _ in own })
    }

    /// The text of a key, or the key itself if its text is missing. The values replace `{0}`, `{1}` and so on.
    func callAsFunction(_ key: String, _ values: String...) -> String { text(key, values) }

    /// The text of a key with values. If one of them is `1`, the text of the key with `.one` is used if there is one.
    func text(_ key: String, _ values: [String]) -> String {
        let one = values.contains("1") ? texts[key + ".one"] : nil
        return Self.filled(one ?? texts[key] ?? key, values)
    }

    subscript(key: String) -> String? { texts[key] }
    var keys: Set<String> { Set(texts.keys) }
    /// The texts with a key prefix, such as `script.` for the scripts.
    func beginning(with prefix: String) -> [(key: String, text: String)] {
        texts.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// A sentence of the program in this language, or `nil` if it has no translation.
    func translation(of sentence: String) -> String? {
        for (pattern, text) in sentences {
            if let values = pattern.values(of: sentence) { return Self.filled(text, values.map(shown)) }
        }
        return nil
    }

    /// A sentence of the program in this language. One without a translation is marked as English.
    func sentence(_ english: String) -> HTML {
        if let translation = translation(of: english) { return "\(translation)" }
        return language == "en" ? "\(english)" : "<span lang=\"en\">\(english)</span>"
    }

    private static func filled(_ text: String, _ values: [String]) -> String {
        var (filled, rest) = ("", text[...])
        // A value may contain braces, so each place is filled once.
        while let start = rest.firstIndex(of: "{") {
            filled += rest[..<start]
            rest = rest[start...]
            let inner = rest.dropFirst().prefix { $0 != "}" }
            if let index = Int(inner), values.indices.contains(index), inner.endIndex < rest.endIndex {
                filled += values[index]
                rest = rest[rest.index(after: inner.endIndex)...]
            } else {
                filled += "{"
                rest = rest.dropFirst()
            }
        }
        return filled + rest
    }
}

/// A sentence with places for values, such as `the {0} has no time`.
struct SentencePattern: Sendable {
    /// The texts around the values.
    private let pieces: [String]

    init(_ pattern: String) {
        var (pieces, rest) = ([String](), pattern[...])
        while let range = rest.firstRange(of: "{\(pieces.count)}") {
            pieces.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        self.pieces = pieces + [String(rest)]
    }

    /// The values in a sentence, or `nil` if it is another sentence.
    func values(of sentence: String) -> [String]? {
        guard pieces.count > 1 else { return sentence == pieces[0] ? [] : nil }
        guard sentence.hasPrefix(pieces[0]) else { return nil }
        var (values, rest) = ([String](), sentence.dropFirst(pieces[0].count))
        for piece in pieces.dropFirst().dropLast() {
            guard let range = rest.firstRange(of: piece) else { return nil }
            values.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        guard let last = pieces.last, rest.hasSuffix(last) else { return nil }
        return values + [String(rest.dropLast(last.count))]
    }
}
