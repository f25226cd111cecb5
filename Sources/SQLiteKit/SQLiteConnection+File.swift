import CSQLite

extension SQLiteConnection {
    /// Returns two bytes of the file's header, before any log is read, or `nil` if the file is shorter.
    ///
    /// They are read through SQLite's own file handle. Opening and closing the file separately would drop the locks that this process has
    /// on it.
    public final func headerBytes(at offset: Int64) -> (UInt8, UInt8)? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let read = file.pointee.pMethods?.pointee.xRead
        else { return nil }
        var bytes: (UInt8, UInt8) = (0, 0)
        let code = withUnsafeMutableBytes(of: &bytes) { read(file, $0.baseAddress, 2, offset) }
        return code == SQLITE_OK ? bytes : nil
    }

    /// Whether the file at the path is no longer the open one, because it was removed or replaced.
    public final var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// Prepares for a file or script of unknown origin: it can neither open other files nor run functions from its schema.
    ///
    /// - Parameter maximumValue: the maximum size of a value in bytes. A longer one is an error.
    public final func distrust(maximumValue: Int) {
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: maximumValue))
        sqlite3_exec(handle, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", nil, nil, nil)
    }
}
