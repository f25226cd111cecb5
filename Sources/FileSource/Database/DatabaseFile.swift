import Glibc
import Pipeline
import SQLiteKit

/// An SQLite database that another program wrote, ready to be read.
///
///     let database = try DatabaseFile(InputFile(path: "Gadgetbridge.db"))
///     let source = DatabaseFileSource(database, wanted: wanted, received: now)
///
/// - A file that is shorter than the length in its header is refused, because SQLite reads the missing bytes as zeros.
/// - If the database's log lies beside it (`NAME-wal`, `NAME-journal`), both are copied to a temporary folder, where SQLite applies the log.
///   The originals are never changed.
/// - A database that uses a write-ahead log may have lost its last rows if the log is not there. A note reports it.
package final class DatabaseFile {
    /// The path of the database, which no program changes while this object exists.
    let path: String
    /// Facts about the file that the user should know.
    package let notes: [String]
    /// The temporary folder of the copies, or `nil` if the file itself is read.
    private let folder: String?

    private static let mark = Array("SQLite format 3\0".utf8)
    private static let logSuffixes = ["-wal", "-journal"]

    /// Whether an open file begins with SQLite's header. A file that cannot be read returns `false`.
    package static func recognises(_ file: InputFile) -> Bool {
        file.begins(mark.count) { $0.elementsEqual(mark) }
    }

    /// Whether an open file is the write-ahead log of a database, by its magic number (https://sqlite.org/fileformat2.html#walformat).
    package static func recognisesLog(_ file: InputFile) -> Bool {
        file.begins(4) { $0.elementsEqual([0x37, 0x7F, 0x06, 0x82]) || $0.elementsEqual([0x37, 0x7F, 0x06, 0x83]) }
    }

    /// - Throws: ``SourceError`` if the file is truncated, or if its log cannot be applied.
    package init(_ file: InputFile) throws(SourceError) {
        guard let own = file.currentPath else {
            throw SourceError(.noInput, "a database is read from a file, not from a pipe")
        }
        let header = try DatabaseHeader(file)
        try header.checkLength(of: file)
        var logs: [(suffix: String, file: InputFile)] = []
        for suffix in Self.logSuffixes {
            guard let log = try? InputFile(path: own + suffix, onlyFile: true), log.size > 0 else { continue }
            logs.append((suffix, log))
        }
        guard !logs.isEmpty else {
            (path, folder) = (own, nil)
            notes =
                header.hasLog
                ? ["the database uses a write-ahead log, and no log lies beside it: rows that only the log contains are missing"]
                : []
            return
        }
        let copies = try file.makeFolder()
        let copy = copies + "/database"
        do throws(SourceError) {
            try file.copy(to: copy)
            for log in logs { try log.file.copy(to: copy + log.suffix) }
            try Self.applyLog(to: copy)
            try DatabaseHeader(InputFile(path: copy)).checkLength(of: InputFile(path: copy))
        } catch {
            Self.remove(copies)
            throw error
        }
        (path, folder) = (copy, copies)
        let names = logs.map { "its log (…\($0.suffix))" }.joined(separator: " and ")
        notes = ["the database is read together with \(names)"]
    }

    deinit { if let folder { Self.remove(folder) } }

    /// Lets SQLite write the log into a copy.
    private static func applyLog(to copy: String) throws(SourceError) {
        do throws(SQLiteError) {
            let connection = try SQLiteConnection<SQLiteError>(.file(copy), writable: true)
            connection.distrust(maximumValue: DatabaseFileSource.maximumValue)
            // The read rolls an interrupted transaction back, and the change of the mode writes a write-ahead log into the database.
            try connection.execute("SELECT count(*) FROM sqlite_master; PRAGMA journal_mode = DELETE")
        } catch {
            throw SourceError(.malformed, "the log beside the database cannot be read (SQLite \(error.code & 0xFF))")
        }
    }

    private static func remove(_ folder: String) {
        for suffix in ["", "-shm"] + logSuffixes { unlink("\(folder)/database\(suffix)") }
        rmdir(folder)
    }
}

/// The header of an SQLite database (https://sqlite.org/fileformat2.html#the_database_header).
private struct DatabaseHeader {
    private let bytes: [UInt8]

    init(_ file: InputFile) throws(SourceError) {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(file.descriptor, &bytes, bytes.count, 0)
        guard count == bytes.count else {
            throw SourceError(.malformed, "the database is truncated: it ends within its header (nothing was imported)")
        }
        self.bytes = bytes
    }

    /// Whether the database uses a write-ahead log.
    var hasLog: Bool { bytes[18] == 2 || bytes[19] == 2 }

    private var pageSize: Int64 {
        let size = Int64(bytes[16]) << 8 | Int64(bytes[17])
        return size == 1 ? 65536 : size
    }

    /// The number of pages, or `nil` if an old version of SQLite wrote the file last and did not update the number.
    private var pages: Int64? {
        let pages = number(at: 28)
        return pages > 0 && number(at: 24) == number(at: 92) ? pages : nil
    }

    private func number(at offset: Int) -> Int64 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }

    func checkLength(of file: InputFile) throws(SourceError) {
        guard pageSize > 0 else { throw SourceError(.malformed, "the header of the database is damaged (nothing was imported)") }
        let expected = pages.map { $0 * pageSize } ?? (file.size + pageSize - 1) / pageSize * pageSize
        guard file.size >= expected else {
            throw SourceError(
                .malformed,
                "the database is truncated: it has \(file.size) of \(expected) bytes (nothing was imported). Copy or export it again",
                at: Place(.byte, Int(file.size)))
        }
    }
}
