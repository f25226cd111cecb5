import Pipeline

/// Recognises a file that is a database of SQLite. It is read where SQLite is at home, in the store's library.
public enum DatabaseFile {
    private static let mark = Array("SQLite format 3\0".utf8)

    /// Whether an open file begins as such a database does; `false` also for a file that cannot be read.
    public static func recognises(_ file: InputFile) -> Bool {
        let input = FileInput(file)
        return withUnsafeTemporaryAllocation(byteCount: mark.count, alignment: 16) { buffer in
            guard let count = try? input.fill(buffer), count == mark.count else { return false }
            return buffer.elementsEqual(mark)
        }
    }
}
