import CSQLite
import Foundation
import Glibc
import PipelineTesting
import SQLiteKit
import Synchronization
import Testing

/// A medium that cannot be read, such as a card that is worn out. SQLite's own reading of files is used, with a system call that fails.
@Suite(.serialized) struct MediumFailureTests {
    private static let failing = Mutex<String?>(nil)

    private typealias PRead = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int
    private static let pread: PRead = { descriptor, bytes, count, offset in
        var name = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/fd/\(descriptor)", &name, name.count - 1)
        let path = length < 0 ? "" : String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let prefix = failing.withLock({ $0 }), path.hasPrefix(prefix) else {
            return Glibc.pread(descriptor, bytes, count, offset)
        }
        errno = EIO
        return -1
    }

    @Test(arguments: [false, true]) func failedReadIsNoDamage(inTheMiddle: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let system = try #require(sqlite3_vfs_find(nil))
        for name in ["pread", "pread64"] {
            _ = system.pointee.xSetSystemCall(system, name, unsafeBitCast(Self.pread, to: sqlite3_syscall_ptr.self))
        }
        defer {
            Self.failing.withLock { $0 = nil }
            for name in ["pread", "pread64"] { _ = system.pointee.xSetSystemCall(system, name, nil) }
        }
        let connection = try SQLiteConnection<SQLiteError>(.file(path), writable: true)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = 1; CREATE TABLE reading(value)")
        let rows = "WITH number(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM number WHERE n < 20000)"
        try connection.execute("INSERT INTO reading \(rows) SELECT n FROM number")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let statement = try connection.statement("SELECT value FROM reading")
        if inTheMiddle { #expect(try statement.step()) }
        Self.failing.withLock { $0 = path }
        var code: Int32?
        do throws(SQLiteError) {
            while try statement.step() {}
        } catch {
            code = error.code
        }
        #expect(code.map { SQLiteFault(code: $0) } == .inputOutput)
        statement.reset()
        Self.failing.withLock { $0 = nil }
        #expect(try connection.integer("SELECT count(*) FROM reading") == 20_000, "nothing is lost when the medium works again")
    }
}
