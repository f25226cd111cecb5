import Glibc
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// The store of an update: its copy, the way back to the copy, and the readings of the time in between.
struct UpdateStore {
    let access: StoreAccess
    let tools: UpdateTools
    /// The words that run the installed program, without the option for the store.
    let program: [String]
    let folder: String

    /// The path with its links, which decide whose it is, and the file itself.
    private var named: String { access.configuration.store }
    private var path: String { Folder.resolved(named) ?? named }
    /// The copy, beside the store and as its owner.
    var copy: String { path + ".before-update" }
    /// The store of the newer version, until its readings are in the older one.
    var newer: String { path + ".after-update" }
    /// The readings that arrived after the copy.
    private var carried: String { folder + "/carried.ndjson" }

    /// The store with its log, in bytes. 0 if there is none.
    var bytes: Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    var exists: Bool { Glibc.access(path, F_OK) == 0 }

    private func asOwner<Result>(_ body: () throws -> Result) throws(UpdateFailure) -> Result {
        do {
            return try FolderOwner.acting(asOwnerOf: named, body)
        } catch {
            throw error as? UpdateFailure ?? UpdateFailure("\(error)")
        }
    }

    /// Copies the store while the hub runs.
    ///
    /// - Returns: the contents of the copy, for ``UpdateJournal``.
    func makeCopy() throws(UpdateFailure) -> (lastChange: Int64, quarantined: Int, erasures: Int64) {
        guard exists else { return (0, 0, 0) }
        removeCopy()
        return try asOwner {
            try SampleStore(path: path, access: .read).backup(to: copy)
            let store = try SampleStore(path: copy, access: .read)
            return (try store.lastChange(), try store.quarantine.summary().reduce(0) { $0 + $1.count }, try store.erasureCount)
        }
    }

    func removeCopy() { _ = try? asOwner { unlink(copy) } }

    /// Whether this program cannot use the store as it is now, because another version has changed it.
    var isForOtherVersion: Bool {
        guard exists else { return Glibc.access(copy, F_OK) == 0 }
        do throws(StoreError) {
            _ = try access.openForReading()
            return false
        } catch {
            return [.newer, .foreign, .corrupt, .invalid].contains(error.kind)
        }
    }

    /// Puts the copy in the place of the store, which gets the name ``newer``. Can be repeated after an interruption.
    func putCopyInPlace() throws(UpdateFailure) {
        guard Glibc.access(copy, F_OK) == 0 else { return }
        try asOwner {
            // The log of the newer store must not be replayed over the copy. With its index, it stays usable for a program that has the
            // newer store open.
            for suffix in ["-wal", "-shm"] where Glibc.access(path + suffix, F_OK) == 0 {
                guard rename(path + suffix, newer + suffix) == 0 else { throw fault(newer) }
            }
            unlink(newer)
            if Glibc.access(path, F_OK) == 0, link(path, newer) != 0 { throw fault(newer) }
            guard rename(copy, path) == 0 else { throw fault(path) }
            UpdateJournal.synchronize(SmallFile.folder(of: path))
        }
    }

    private func fault(_ path: String) -> UpdateFailure { UpdateFailure("\(path): \(String(cString: strerror(errno)))") }

    /// Whether the store of the newer version is there under its other name.
    var hasNewer: Bool { Glibc.access(newer, F_OK) == 0 }

    /// Gives the store of the newer version a name of its own, under which it stays.
    ///
    /// - Returns: its path.
    func retainNewer(_ version: String) -> String {
        let names = [""] + (2...100).map { "-\($0)" }
        let retained = names.map { "\(path).from-\(version)\($0)" }.first { Glibc.access($0, F_OK) != 0 } ?? newer
        _ = try? asOwner { for suffix in ["-wal", ""] { rename(newer + suffix, retained + suffix) } }
        removeNewer()
        return Glibc.access(retained, F_OK) == 0 ? retained : carried
    }

    func removeNewer() {
        _ = try? asOwner { for suffix in ["", "-wal", "-shm"] { unlink(newer + suffix) } }
    }

    // MARK: Readings of the time in between

    /// Writes the readings that arrived after the copy to a file, by the newer program, from its store. That store has another name already,
    /// so that nothing arrives there afterwards.
    ///
    /// - Returns: the changes that the file lacks, or `nil` if it has all of them.
    func carryOut(_ journal: UpdateJournal, seconds: Int) -> String? {
        unlink(carried)
        let descriptor = open(carried, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return "\(fault(carried))" }
        defer { close(descriptor) }
        let result = tools.attempt(
            program + [
                "--store", newer, "update", "carry", "--after", "\(journal.lastChange)", "--quarantined",
                "\(journal.quarantined)", "--erasures",
                "\(journal.erasures)",
            ], seconds: seconds, to: descriptor)
        if result.code == 0, fsync(descriptor) == 0 { return nil }
        if result.code == 65, fsync(descriptor) == 0 { return UpdateTools.reason(in: result.words) }
        unlink(carried)
        let reason = UpdateTools.reason(in: result.words)
        return "the newer version cannot read them (\(reason.isEmpty ? "status \(result.code)" : reason))"
    }

    /// Stores the readings with this version.
    ///
    /// - Returns: how many lines there were, and why not all of them are stored, or `nil`.
    func carryIn(seconds: Int) -> (lines: Int, problem: String?) {
        let descriptor = open(carried, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return (0, errno == ENOENT ? nil : "\(fault(carried))") }
        defer { close(descriptor) }
        let lines = Self.lineCount(descriptor)
        guard lines > 0 else {
            unlink(carried)
            return (0, nil)
        }
        lseek(descriptor, 0, SEEK_SET)
        let result = tools.attempt(
            program + ["--store", path, "import", "-", "--exact", "--whole", "--format", "ndjson"], seconds: seconds,
            from: descriptor)
        func count(_ name: String) -> Int {
            guard let found = result.output.firstRange(of: "\"\(name)\":") else { return 0 }
            return Int(result.output[found.upperBound...].prefix(while: \.isNumber)) ?? 0
        }
        let accounted = count("stored") + count("duplicate") + count("quarantined")
        guard accounted == lines else {
            return (lines, "\(accounted) of \(lines) could be stored again: \(UpdateTools.reason(in: result.words))")
        }
        unlink(carried)
        return (lines, nil)
    }

    private static func lineCount(_ descriptor: Int32) -> Int {
        var (count, buffer) = (0, [UInt8](repeating: 0, count: 65_536))
        while true {
            let length = read(descriptor, &buffer, buffer.count)
            guard length > 0 else { return count }
            count += buffer[..<length].count { $0 == UInt8(ascii: "\n") }
        }
    }
}
