/// Normalizes names.
enum ExportText {
    /// Returns a name for comparisons. No-break blanks (`Apple Watch` often has one) and control characters become blanks, and those at
    /// the ends are removed.
    static func cleaned(_ bytes: some Collection<UInt8>) -> String { cleaned(bytes) { isControl($0) || isNoBreak($0) } }

    /// Returns a name for display. Only control characters, and blanks at the ends, are removed.
    static func shown(_ bytes: some Collection<UInt8>) -> String { cleaned(bytes, isControl) }

    private static func cleaned(_ bytes: some Collection<UInt8>, _ isBlank: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            text.append(isBlank(scalar) ? " " : scalar)
        }
        let isInk: (Unicode.Scalar) -> Bool = { $0 != " " && !isNoBreak($0) }
        guard let first = text.firstIndex(where: isInk), let last = text.lastIndex(where: isInk) else { return "" }
        return String(text[first...last])
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    private static func isNoBreak(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xA0 || scalar.value == 0x2007 || scalar.value == 0x202F
    }
}
