import Glibc

/// Measures and sanitizes text for a terminal.
package enum TerminalText {
    /// Returns the text without characters that control a terminal or change the direction of writing.
    ///
    /// A device can choose its name, so an escape sequence in it could clear the screen or forge a line. Tabs and line breaks become
    /// spaces. Other control characters become `U+FFFD`, which shows that something was replaced.
    package static func sanitized(_ text: some StringProtocol, keepingLines: Bool = false) -> String {
        // The most frequent case.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where keepingLines: result.append(scalar)
            // CR LF is one line break.
            case "\n" where previous == "\r": break
            case "\n", "\r", "\t", "\u{2028}", "\u{2029}": result.append(" ")
            case _ where drivesTerminal(scalar): result.append("\u{FFFD}")
            default: result.append(scalar)
            }
            previous = scalar
        }
        return String(result)
    }

    /// Returns the number of columns of the text, by `wcwidth(3)`.
    package static func width(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
        return withUnicodeLocale { text.unicodeScalars.reduce(0) { $0 + columns(of: $1) } }
    }

    /// Returns the text cut to a width, with an ellipsis if it was cut.
    package static func truncated(_ text: String, to width: Int, ellipsis: String = "…") -> String {
        guard self.width(text) > width else { return text }
        let room = width - self.width(ellipsis)
        guard room >= 0 else { return "" }
        var result = ""
        var used = 0
        // By characters, so that accents stay with their letters.
        for character in text {
            used += self.width(String(character))
            guard used <= room else { break }
            result.append(character)
        }
        return result + ellipsis
    }

    private static func drivesTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Directional marks, embeddings, overrides and isolates.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        guard let measure = system.measure else { return 1 }
        let width = measure(wchar_t(scalar.value))
        // -1 means that this C library does not know the character.
        return width < 0 ? 1 : Int(width)
    }

    /// Runs `body` with a UTF-8 locale in this thread. `wcwidth` knows only ASCII in the "C" locale, in which a program starts.
    private static func withUnicodeLocale<Result>(_ body: () -> Result) -> Result {
        guard let locale = system.locale else { return body() }
        let before = uselocale(locale)
        defer { _ = uselocale(before) }
        return body()
    }

    /// The C library's locale and function. They are constant and never freed.
    private struct System: @unchecked Sendable {
        typealias Measure = @convention(c) (wchar_t) -> Int32

        let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        /// Looked up by name, because the Glibc module does not include `wchar.h`.
        let measure = dlsym(nil, "wcwidth").map { unsafeBitCast($0, to: Measure.self) }
    }

    private static let system = System()
}
