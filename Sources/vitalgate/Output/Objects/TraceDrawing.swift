/// A curve in a terminal. A character has two by four dots (Braille, U+2800). Without Unicode the drawing is in ASCII.
struct TraceDrawing {
    private let columns: Int
    private let rows: Int
    private var dots: [Bool]

    /// Creates a drawing with a size in characters.
    init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (max(1, columns), max(1, rows))
        dots = Array(repeating: false, count: self.columns * 2 * self.rows * 4)
    }

    private var width: Int { columns * 2 }
    private var height: Int { rows * 4 }

    /// Draws equally spaced values. Each column of dots shows the range from the minimum to the maximum of its values.
    ///
    /// - Parameters:
    ///   - span: The number of values for the whole width.
    ///   - range: The values at the bottom and the top. Values outside are drawn at the edge.
    mutating func draw(_ values: some Collection<Double?>, span: Int, in range: ClosedRange<Double>) {
        var (low, high) = ([Int?](repeating: nil, count: width), [Int?](repeating: nil, count: width))
        let height = Double(height - 1)
        let extent = max(range.upperBound - range.lowerBound, 1e-9)
        for (index, value) in values.enumerated() {
            guard let value, value.isFinite else { continue }
            let column = min(index * width / max(1, span), width - 1)
            let row = Int((min(max((value - range.lowerBound) / extent, 0), 1) * height).rounded())
            low[column] = min(low[column] ?? row, row)
            high[column] = max(high[column] ?? row, row)
        }
        for column in 0..<width {
            guard let first = low[column], let last = high[column] else { continue }
            for row in first...last { dots[(self.height - 1 - row) * width + column] = true }
        }
    }

    /// The lines of text, one for each row of characters.
    func lines(unicode: Bool) -> [String] {
        (0..<rows).map { row in String((0..<columns).map { unicode ? braille(row, $0) : ascii(row, $0) }) }
    }

    private func isSet(_ row: Int, _ column: Int, _ dot: (Int, Int)) -> Bool {
        dots[(row * 4 + dot.1) * width + column * 2 + dot.0]
    }

    /// The dots of a character in the order of its bits (Unicode, Braille Patterns).
    private static let bits: [(Int, Int)] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]

    private func braille(_ row: Int, _ column: Int) -> Character {
        var pattern: UInt32 = 0
        for (bit, dot) in Self.bits.enumerated() where isSet(row, column, dot) { pattern |= 1 << UInt32(bit) }
        guard pattern > 0, let scalar = Unicode.Scalar(0x2800 + pattern) else { return " " }
        return Character(scalar)
    }

    private func ascii(_ row: Int, _ column: Int) -> Character {
        let upper = [(0, 0), (1, 0), (0, 1), (1, 1)].contains { isSet(row, column, $0) }
        let lower = [(0, 2), (1, 2), (0, 3), (1, 3)].contains { isSet(row, column, $0) }
        return upper ? (lower ? "|" : "'") : lower ? "." : " "
    }
}
