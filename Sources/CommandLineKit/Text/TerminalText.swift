import Glibc

/// Text on its way to a terminal: how wide it is, and what in it must not get there.
public enum TerminalText {
    /// The text without anything that drives a terminal or turns the direction of writing.
    ///
    /// The name of a device comes from outside: an escape sequence in it could clear the screen or forge a line. Tabs and line
    /// breaks become spaces, other control characters `U+FFFD`, so that one sees that something was there.
    public static func sanitized(_ text: some StringProtocol, keepingLines: Bool = false) -> String {
        // What most texts are.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where keepingLines: result.append(scalar)
            // CR LF is one break.
            case "\n" where previous == "\r": break
            case "\n", "\r", "\t", "\u{2028}", "\u{2029}": result.append(" ")
            case _ where drivesTerminal(scalar): result.append("\u{FFFD}")
            default: result.append(scalar)
            }
            previous = scalar
        }
        return String(result)
    }

    /// The columns that the text takes, by `wcwidth(3)`.
    public static func width(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
        return withUnicodeLocale { text.unicodeScalars.reduce(0) { $0 + columns(of: $1) } }
    }

    /// The text cut to a width, with an ellipsis if something is missing.
    public static func truncated(_ text: String, to width: Int, ellipsis: String = "…") -> String {
        guard self.width(text) > width else { return text }
        let room = width - self.width(ellipsis)
        guard room >= 0 else { return "" }
        var result = ""
        var used = 0
        // By characters, so that no accent is parted from its letter.
        for character in text {
            used += self.width(String(character))
            guard used <= room else { break }
            result.append(character)
        }
        return result + ellipsis
    }

    private static func drivesTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Marks, embeddings, overrides and isolates of direction.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        guard let measure = system.measure else { return 1 }
        let width = measure(wchar_t(scalar.value))
        // -1 is a character that this C library does not know yet.
        return width < 0 ? 1 : Int(width)
    }

    /// `wcwidth` knows only ASCII in the "C" locale, in which a program starts; the locale of the process stays as it is.
    private static func withUnicodeLocale<Result>(_ body: () -> Result) -> Result {
        guard let locale = system.locale else { return body() }
        let before = uselocale(locale)
        defer { _ = uselocale(before) }
        return body()
    }

    /// What the C library knows of characters: never freed and never changed, a constant of the process.
    private struct System: @unchecked Sendable {
        typealias Measure = @convention(c) (wchar_t) -> Int32

        let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        /// Looked up by name, because the Glibc module leaves `wchar.h` out.
        let measure = dlsym(nil, "wcwidth").map { unsafeBitCast($0, to: Measure.self) }
    }

    private static let system = System()
}
