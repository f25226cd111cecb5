import CQRCode

/// A QR code (ISO/IEC 18004, model 2), made by libqrcodegen.
///
///     QRCode("https://hub.local:8642/page/")?.terminalText
package struct QRCode: Sendable {
    /// The number of modules on each side, without the margin.
    package let size: Int
    private let modules: [Bool]

    /// The number of light modules around a code, which a camera needs.
    package static let margin = 4

    /// Encodes a text with the error correction level M, or a higher one if the code stays as small. Returns `nil` if the text does not fit,
    /// which is at most 2,331 bytes of UTF-8.
    package init?(_ text: String) {
        // C reads the text up to its first zero byte.
        guard !text.utf8.contains(0), text.utf8.count <= 2331 else { return nil }
        let room = Self.room(version: qrcodegen_VERSION_MAX)
        var work = [UInt8](repeating: 0, count: room)
        var code = [UInt8](repeating: 0, count: room)
        guard
            qrcodegen_encodeText(
                text, &work, &code, qrcodegen_Ecc_MEDIUM, qrcodegen_VERSION_MIN, qrcodegen_VERSION_MAX, qrcodegen_Mask_AUTO, true)
        else { return nil }
        let size = Int(qrcodegen_getSize(code))
        self.size = size
        modules = (0..<size * size).map { qrcodegen_getModule(code, Int32($0 % size), Int32($0 / size)) }
    }

    /// The bytes that a code of a version takes, as `qrcodegen_BUFFER_LEN_FOR_VERSION` computes them.
    private static func room(version: Int32) -> Int {
        let side = Int(version) * 4 + 17
        return (side * side + 7) / 8 + 1
    }

    /// Whether a module is dark. Those around the code are light.
    package func isDark(x: Int, y: Int) -> Bool {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return false }
        return modules[y * size + x]
    }

    /// The code for a terminal, with its margin, black on white whatever the terminal's colors are. Each character is two modules high.
    ///
    /// The terminal must know the colors of ECMA-48 and the block elements of Unicode, and have ``terminalWidth`` columns.
    package var terminalText: String {
        let range = -Self.margin..<size + Self.margin
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { y in
            let cells = range.map { x in
                switch (isDark(x: x, y: y), isDark(x: x, y: y + 1)) {
                case (false, false): " "
                case (true, false): "\u{2580}"
                case (false, true): "\u{2584}"
                case (true, true): "\u{2588}"
                }
            }
            return "\u{1B}[30;107m\(cells.joined())\u{1B}[0m\n"
        }.joined()
    }

    /// The number of columns of ``terminalText``.
    package var terminalWidth: Int { size + 2 * Self.margin }

    /// The dark modules as the path of an SVG image, in which each module is one unit wide, without the margin.
    package var path: String {
        var path = ""
        for y in 0..<size {
            var x = 0
            while x < size {
                guard isDark(x: x, y: y) else {
                    x += 1
                    continue
                }
                let start = x
                while isDark(x: x, y: y) { x += 1 }
                path += "M\(start) \(y)h\(x - start)v1h-\(x - start)z"
            }
        }
        return path
    }
}
