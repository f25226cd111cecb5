/// The source of a manual page under construction, with the macros of `man(7)`.
struct Roff {
    private(set) var source = ""

    mutating func macro(_ name: String, _ arguments: [String] = []) {
        // Quotation marks delimit arguments. Inner ones are escaped as `\(dq`.
        source += ([".\(name)"] + arguments.map { "\"\(Self.escaped($0))\"" }).joined(separator: " ") + "\n"
    }

    /// Appends a request of roff itself, in which quotation marks are literal.
    mutating func request(_ line: String) {
        source += ".\(line)\n"
    }

    mutating func heading(_ title: String) {
        macro("SH", [title])
    }

    mutating func subheading(_ title: String) {
        macro("SS", [title])
    }

    mutating func text(_ text: String) {
        let words = text.split { $0 == " " || $0 == "\n" }
        source += Self.line(words.map { Self.escaped(String($0)) }.joined(separator: " ")) + "\n"
    }

    mutating func paragraphs(_ text: String) {
        for words in TextWrapping.paragraphs(text) {
            macro("PP")
            self.text(words.joined(separator: " "))
        }
    }

    /// Appends a term in bold and its explanation.
    mutating func item(_ term: String, _ text: String) {
        macro("TP")
        source += "\\fB\(Self.escaped(term))\\fR\n"
        self.text(text)
    }

    /// Appends a command in bold and its parts, which are not wrapped.
    mutating func synopsis(_ command: String, _ parts: [String]) {
        macro("PP")
        // Roff would set two spaces after a part that ends with a dot.
        let pieces = parts.map { Self.line(Self.escaped($0).replacing(" ", with: "\\ ")) + ($0.hasSuffix(".") ? "\\&" : "") }
        source += (["\\fB\(Self.escaped(command))\\fR"] + pieces).joined(separator: "\n") + "\n"
    }

    /// Appends an example and its explanation.
    mutating func example(_ example: Example) {
        macro("PP")
        text(example.explanation)
        macro("RS", ["4"])
        request("nf")
        source += Self.line(Self.escaped(example.command)) + "\n"
        request("fi")
        macro("RE")
    }

    /// Appends literal lines.
    mutating func listing(_ text: String) {
        macro("PP")
        macro("RS", ["4"])
        request("nf")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            source += Self.line(Self.escaped(String(line))) + "\n"
        }
        request("fi")
        macro("RE")
    }

    /// Escapes a text so that roff does not interpret it.
    ///
    /// ASCII characters that groff would set as typographic ones are written by name, so that text copied from the page works in a shell
    /// (groff_char(7)). Non-ASCII characters are written by number, which needs no preprocessor.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\(rs"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            case "\n", "\t": result += " "
            case _ where scalar.properties.generalCategory == .control: break
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + "]"
            }
        }
        return result
    }

    /// Escapes a leading dot with `\&`, which has no width. Otherwise the line would be a request. Apostrophes are already escaped.
    private static func line(_ text: String) -> String {
        text.hasPrefix(".") ? "\\&" + text : text
    }
}
