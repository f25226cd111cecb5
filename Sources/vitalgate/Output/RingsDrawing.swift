import Glibc

/// Three concentric rings of dots, each filled clockwise from the top up to its fraction.
///
/// Braille characters have two by four dots. The filled part is solid and the rest is sparse, so that they can be distinguished
/// without colours.
struct RingsDrawing {
    /// The fractions, starting with the outermost ring. `nil` means no known goal, and the ring is empty.
    let fractions: [Double?]
    /// The colour codes (SGR), one for each ring, or empty for no colours.
    let colours: [Int]

    static let columns = 22
    static let lines = 11

    /// The radii in dots, starting with the outermost ring.
    private static let radii: [ClosedRange<Double>] = [17.2...21.2, 11.6...15.6, 6...10]
    /// The bits of a character's dots by row and column.
    private static let dots: [[UInt32]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

    /// The lines from the top, each as wide as ``columns``.
    var text: [String] {
        (0..<Self.lines).map { line in
            var text = ""
            var colour: Int?
            for column in 0..<Self.columns {
                let (character, ring) = character(line, column)
                let next = ring.flatMap { $0 < colours.count ? colours[$0] : nil }
                if next != colour { text += next.map { "\u{1B}[\($0)m" } ?? "\u{1B}[0m" }
                colour = next
                text.append(character)
            }
            return text + (colour == nil ? "" : "\u{1B}[0m")
        }
    }

    /// A character, and the ring with most of its dots.
    private func character(_ line: Int, _ column: Int) -> (Character, ring: Int?) {
        var bits: UInt32 = 0
        var counts = [0, 0, 0]
        for (y, row) in Self.dots.enumerated() {
            for (x, bit) in row.enumerated() {
                guard let ring = ring(x: column * 2 + x, y: line * 4 + y) else { continue }
                bits |= bit
                counts[ring] += 1
            }
        }
        guard bits != 0, let scalar = Unicode.Scalar(0x2800 + bits) else { return (" ", nil) }
        return (Character(scalar), counts.indices.max { counts[$0] < counts[$1] })
    }

    /// The ring that a dot belongs to.
    private func ring(x: Int, y: Int) -> Int? {
        let (dx, dy) = (Double(x) - Double(Self.columns) + 0.5, Double(y) - Double(Self.lines) * 2 + 0.5)
        let distance = (dx * dx + dy * dy).squareRoot()
        guard let ring = Self.radii.firstIndex(where: { $0.contains(distance) }), ring < fractions.count else { return nil }
        var turn = atan2(dx, -dy) / (2 * Double.pi)
        if turn < 0 { turn += 1 }
        if turn < fractions[ring] ?? 0 { return ring }
        return x % 3 == 0 && y % 3 == 0 ? ring : nil
    }
}
