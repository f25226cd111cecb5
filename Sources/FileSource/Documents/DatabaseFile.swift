import Pipeline

/// Recognizes SQLite databases. The store's library reads them, because it uses SQLite.
public enum DatabaseFile {
    private static let mark = Array("SQLite format 3\0".utf8)

    /// Whether an open file begins with SQLite's header. A file that cannot be read returns `false`.
    public static func recognises(_ file: InputFile) -> Bool {
        file.begins(mark.count) { $0.elementsEqual(mark) }
    }
}
