/// The source of a manual page as it grows, in the macros of `man(7)`.
struct Roff {
    private(set) var source = ""

    mutating func macro(_ name: String, _ arguments: [String] = []) {
        // Quotation marks hold an argument together; those within are escaped as `\(dq`.
        source += ([".\(name)"] + arguments.map { "\"\(Self.escaped($0))\"" }).joined(separator: " ") + "\n"
    }

    /// A request of roff itself, which would take quotation marks for text.
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

    /// A term in bold, and what it means below it.
    mutating func item(_ term: String, _ text: String) {
        macro("TP")
        source += "\\fB\(Self.escaped(term))\\fR\n"
        self.text(text)
    }

    /// A command in bold and its parts, which are not broken.
    mutating func synopsis(_ command: String, _ parts: [String]) {
        macro("PP")
        // What ends in points is no end of a sentence, after which there would be two spaces.
        let pieces = parts.map { Self.line(Self.escaped($0).replacing(" ", with: "\\ ")) + ($0.hasSuffix(".") ? "\\&" : "") }
        source += (["\\fB\(Self.escaped(command))\\fR"] + pieces).joined(separator: "\n") + "\n"
    }

    /// The command as it is typed, and what it does.
    mutating func example(_ example: Example) {
        macro("PP")
        text(example.explanation)
        macro("RS", ["4"])
        request("nf")
        source += Self.line(Self.escaped(example.command)) + "\n"
        request("fi")
        macro("RE")
    }

    /// Lines as they are.
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

    /// Text in which roff sees nothing but text.
    ///
    /// The ASCII characters that groff would set as typographic ones have names of their own, so that what is copied from the
    /// page works in a shell (groff_char(7)); others are written by their number, which needs no preprocessor.
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

    /// A line that begins with a point would be a request; an apostrophe is never left as one. `\&` has no width.
    private static func line(_ text: String) -> String {
        text.hasPrefix(".") ? "\\&" + text : text
    }
}
