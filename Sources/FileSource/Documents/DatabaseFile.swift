import Pipeline

/// Recognizes SQLite databases. The store's library reads them, because it uses SQLite.
public enum DatabaseFile {
    private static let mark = Array("SQLite format 3\0".utf8)

    /// Whether an open file begins with SQLite's header. A file that cannot be read returns `false`.
    public static func recognises(_ file: InputFile) -> Bool {
        let input = FileInput(file)
        return withUnsafeTemporaryAllocation(byteCount: mark.count, alignment: 16) { buffer in
            guard let count = try? input.fill(buffer), count == mark.count else { return false }
            return buffer.elementsEqual(mark)
        }
    }
}
