/// A piece of HTML. Texts that are put into one are escaped, other pieces are not:
///
///     let cell: HTML = "<td>\(device.name)</td>"
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation parts: StringInterpolation) { text = parts.text }

    /// One of two pieces: in an interpolation, literals on both sides of a `?` would be texts.
    static func choose(_ condition: Bool, _ one: HTML, _ other: HTML = "") -> HTML { condition ? one : other }

    static func + (one: HTML, other: HTML) -> HTML { "\(one)\(other)" }
    static func += (one: inout HTML, other: HTML) { one.text += other.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 16 * interpolationCount) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }
        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }
        mutating func appendInterpolation(_ number: Int) { text += "\(number)" }

        mutating func appendInterpolation(_ words: some StringProtocol) {
            for scalar in words.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                // What turns the direction of reading has a purpose read otherwise than it was written (UAX #9), what is no character at all is none here.
                case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": text += "\u{FFFD}"
                case "\0"..."\u{8}", "\u{B}"..."\u{1F}", "\u{7F}"..."\u{9F}": text += "\u{FFFD}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
