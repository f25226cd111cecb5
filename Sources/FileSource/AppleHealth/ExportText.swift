/// Names as people meant them.
enum ExportText {
    /// A name to tell things apart by: no-break blanks (`Apple Watch` often has one) and control characters are blanks, none
    /// stands at the ends.
    static func cleaned(_ bytes: some Collection<UInt8>) -> String { cleaned(bytes) { isControl($0) || isNoBreak($0) } }

    /// A name to show: as it was written, but for control characters and blanks at the ends.
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
