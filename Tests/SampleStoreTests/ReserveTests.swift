import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The behavior of a store on a full disk.
@Suite struct ReserveTests {
    /// SQLite's own page limit simulates the disk. It is lifted when the reserve is gone.
    @Test func deletionsUseTheReserve() throws {
        try TestStore.with { test in
            let store = try test.store
            try test.keep(try (0..<500).map { try SampleMaker()("72", at: Double($0)) })
            let reserve = Reserve.path(of: test.path)
            var status = stat()
            #expect(stat(reserve, &status) == 0 && status.st_size == Reserve.size && status.st_mode & 0o777 == 0o600)
            store.connection.onChange = { () throws(StoreError) in
                guard access(reserve, F_OK) != 0 else { throw StoreError(.full, "no room for the log") }
            }
            let result = try store.samples.delete(matching: SampleQuery(), description: TestStore.description(.delete))
            #expect(result.count == 500)
            #expect(access(reserve, F_OK) == 0)
            // Without one it stays an error, and the next time as well.
            store.connection.onChange = { () throws(StoreError) in throw StoreError(.full, "no room for the log") }
            #expect(
                thrown(StoreError.self) {
                    _ = try store.prune(
                        [.heartRate: Instant(microseconds: .max)], description: TestStore.description(.prune))
                }?.kind == .full)
            store.connection.onChange = nil
            #expect(try store.earliestPermittedDates().isEmpty)
        }
    }

    /// A link in the place of the reserve would let a command of root extend or shorten any file.
    @Test(arguments: [0, Reserve.size]) func followsNoLink(_ length: off_t) throws {
        try TestStore.with { test in
            let (reserve, victim) = (Reserve.path(of: test.path), test.path + "-victim")
            close(open(victim, O_CREAT | O_WRONLY, 0o600))
            truncate(victim, length)
            unlink(reserve)
            symlink(victim, reserve)
            Reserve.make(for: test.path)
            var status = stat()
            #expect(stat(victim, &status) == 0 && status.st_size == length)
            // The link is removed.
            #expect(Reserve.releasePart(for: test.path))
            #expect(stat(victim, &status) == 0 && status.st_size == length)
            #expect(lstat(reserve, &status) != 0)
        }
    }

    /// Reading a store on a full disk leaves most of the reserve for a deletion.
    @Test func openingUsesAPart() throws {
        try TestStore.with { test in
            #expect(Reserve.isWhole(for: test.path))
            #expect(Reserve.releasePart(for: test.path))
            var status = stat()
            #expect(stat(Reserve.path(of: test.path), &status) == 0 && status.st_size == Reserve.size * 3 / 4)
            #expect(!Reserve.isWhole(for: test.path))
            Reserve.make(for: test.path)
            #expect(Reserve.isWhole(for: test.path))
            while Reserve.releasePart(for: test.path) {}
            #expect(access(Reserve.path(of: test.path), F_OK) != 0)
        }
    }

    @Test func noSharedMemoryIsNoSpace() {
        #expect(StoreError(code: 4874, message: "disk I/O error", sql: nil).kind == .full)
        #expect(StoreError(code: 10, message: "disk I/O error", sql: nil).kind == .inputOutput)
    }
}
