/// The texts of a page that people see or hear: between tags, in labels, and in the attributes that scripts show.
struct VisibleText {
    /// The texts, without those that the page marks as English and without commands.
    let all: [String]

    init(_ html: String) {
        var page = html.replacing(#/<(span|code|pre)( lang="en")?[^>]*>[^<]*<\/(span|code|pre)>/#) { match in
            match.output.1 == "span" && match.output.2 == nil ? String(match.output.0) : " "
        }
        page.replace(#/<(head|script)[^>]*>.*?<\/(head|script)>/#.dotMatchesNewlines(), with: " ")
        var texts = html.matches(of: #/<title>([^<]*)<\/title>/#).map { String($0.output.1) }
        texts += page.matches(of: #/\s(?:aria-label|placeholder|title|alt|data-se[a-z]+|data-refused)="([^"]*)"/#).map {
            String($0.output.1)
        }
        let body = page.firstMatch(of: #/<body[^>]*>/#).map { String($0.output) } ?? ""
        texts += body.matches(of: #/data-[a-z]+="([^"]*)"/#).map { String($0.output.1) }
        texts += page.replacing(#/<[^>]*>/#, with: "\u{1}").split(separator: "\u{1}").map(String.init)
        all = texts.map(Self.plain).filter { !$0.isEmpty }
    }

    private static func plain(_ text: String) -> String {
        var text = text
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            text = text.replacing(entity, with: character)
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The words of a text in lowercase. Names such as `heartRate` and `sig-heart-rate` are single words.
    static func words(_ text: String) -> [String] {
        text.matches(of: #/[A-Za-zÄÖÜäöüß][A-Za-zÄÖÜäöüß0-9._\/-]*/#).map { match in
            var word = String(match.output)
            while let last = word.last, ".-/".contains(last) { word.removeLast() }
            return word.lowercased()
        }
    }
}
