/// A search for a text in another one whose duration grows with the sum of their lengths, whatever they contain (Knuth, Morris and Pratt).
///
/// `String.contains` takes time for each pair of characters if both repeat one character, and a query may run it for each sample.
enum TextSearch {
    /// Whether a text contains another one, character by character.
    static func contains(_ text: String, _ other: String) -> Bool {
        if other.isEmpty { return true }
        // In ASCII each byte is a character, except that CR LF is one.
        let isPlain = other.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0A && $0 != 0x0D }
        if isPlain, text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text.utf8.count >= other.utf8.count && contains(Array(text.utf8), Array(other.utf8))
        }
        return contains(Array(text), Array(other))
    }

    /// Whether a list contains another one as a part. It compares fewer pairs than twice the sum of their lengths.
    static func contains<Element: Equatable>(_ list: [Element], _ other: [Element]) -> Bool {
        guard !other.isEmpty else { return true }
        guard other.count <= list.count else { return false }
        // The length of the longest beginning that also ends at each place.
        var borders = [0]
        borders.reserveCapacity(other.count)
        var length = 0
        for place in 1..<other.count {
            while length > 0, other[place] != other[length] { length = borders[length - 1] }
            if other[place] == other[length] { length += 1 }
            borders.append(length)
        }
        length = 0
        for element in list {
            while length > 0, element != other[length] { length = borders[length - 1] }
            if element == other[length] { length += 1 }
            if length == other.count { return true }
        }
        return false
    }
}
