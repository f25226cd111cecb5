/// Suggestions for mistyped names.
package enum Suggestion {
    /// Returns the nearest candidate, the first if several are equally near, or `nil` if none is near enough.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let typed = Array(word.unicodeScalars.prefix(maximumLength))
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let letters = Array(candidate.unicodeScalars)
            let distance = distance(typed, letters)
            // At most a third of the letters may be wrong. With more, the suggestion would be a guess.
            guard distance <= max(1, max(typed.count, letters.count) / 3), distance < letters.count else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        if let best { return best.candidate }
        // A prefix such as `--prof` is completed if only one name begins with it.
        let continued = candidates.filter { $0.hasPrefix(word) }
        return typed.count > 2 && continued.count == 1 ? continued.first : nil
    }

    /// The maximum length of a word. Longer words are cut to limit the time.
    private static let maximumLength = 64

    /// The number of insertions, deletions, substitutions and transpositions of neighbors (optimal string alignment).
    static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                line.append(least)
            }
            (beforeLast, last) = (last, line)
        }
        return last[right.count]
    }
}
