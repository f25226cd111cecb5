/// The names of codes, from a text with a line for each code.
enum CodeTable {
    /// Reads lines of a code, a blank and a name. The first line of a code counts.
    static func names(_ lines: String) -> [String: String] {
        let pairs = lines.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
    }
}
