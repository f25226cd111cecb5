/// A fragment of HTML. Interpolated texts are escaped, and interpolated fragments are not:
///
///     let cell: HTML = "<td>\(device.name)</td>"
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation parts: StringInterpolation) { text = parts.text }

    /// Returns one of two fragments. In an interpolation, the literals of a `?:` expression would be texts.
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
                // Directional controls could make a client's purpose read differently than written (UAX #9). They and other control
                // characters are replaced.
                case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": text += "\u{FFFD}"
                case "\0"..."\u{8}", "\u{B}"..."\u{1F}", "\u{7F}"..."\u{9F}": text += "\u{FFFD}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
