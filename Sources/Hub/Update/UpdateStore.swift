import Glibc
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// The store of an update: its copy, the way back to the copy, and the readings of the time in between.
package struct UpdateStore {
    let access: StoreAccess
    let tools: UpdateTools
    /// The words that run the installed program, without the option for the store.
    let program: [String]
    let folder: String

    /// The path with its links, which decide whose it is, and the file itself.
    private var named: String { access.configuration.store }
    private var path: String { Folder.resolved(named) ?? named }
    /// The copy, beside the store and as its owner.
    var copy: String { path + Self.copyMark }
    private static let (copyMark, newerMark) = (".before-update", ".after-update")
    /// The store of the newer version, until its readings are in the older one.
    var newer: String { path + Self.newerMark }
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

    /// A file that is there while an update may put the copy of a store in its place, or add readings to it. Every user of the store can
    /// see it.
    static func trace(besides store: String) -> String? {
        let path = Folder.resolved(store) ?? store
        return [path + copyMark, path + newerMark].first { Glibc.access($0, F_OK) == 0 }
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
        let retained = retainedPath(version, "")
        _ = try? asOwner { for suffix in ["-wal", ""] { rename(newer + suffix, retained + suffix) } }
        removeNewer()
        return retained
    }

    private static let retainedMark = ".from-"

    /// A new name beside the store.
    private func retainedPath(_ version: String, _ suffix: String) -> String {
        let names = [""] + (2...100).map { "-\($0)" }
        return names.map { "\(path)\(Self.retainedMark)\(version)\($0)\(suffix)" }.first { Glibc.access($0, F_OK) != 0 } ?? newer
    }

    /// The files beside a store with readings that only an undone update has stored, sorted by name.
    package static func retained(besides store: String) -> [String] {
        let path = Folder.resolved(store) ?? store
        let (folder, prefix) = (SmallFile.folder(of: path), SmallFile.name(of: path) + retainedMark)
        return (Folder.names(folder) ?? []).filter { $0.hasPrefix(prefix) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            .sorted().map { folder == "/" ? "/" + $0 : "\(folder)/\($0)" }
    }

    func removeNewer() {
        _ = try? asOwner { for suffix in ["", "-wal", "-shm"] { unlink(newer + suffix) } }
    }

    /// Removes the access that clients and browsers had in the copy and lost after it.
    ///
    /// - Returns: why it may still be there, or `nil`.
    func removeAccess(_ report: (String) -> Void) -> String? {
        do {
            let hasChanged = try asOwner {
                try SampleStore(path: path, access: .write).clients.removeAccess(missingIn: newer)
            }
            if hasChanged { report("access that was removed in the time in between is removed again") }
            return nil
        } catch {
            return "clients, tokens, grants and sessions that were removed are there again, so check them (\(error))"
        }
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
            program + ["--store", path, "update", "recover", "-", "--exact", "--whole", "--format", "ndjson"], seconds: seconds,
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

    func removeCarried() { unlink(carried) }

    /// Copies the lines to a file beside the store, as its owner. An erasure of a person looks for such files (``CarriedLines``).
    ///
    /// - Returns: its path, or `nil` if it cannot be written.
    func retainCarried(_ version: String) -> String? {
        let source = open(carried, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { return nil }
        defer { close(source) }
        let retained = retainedPath(version, CarriedLines.suffix)
        let target = try? asOwner { open(retained, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard let target, target >= 0 else { return nil }
        defer { close(target) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let length = read(source, &buffer, buffer.count)
            if length == 0, fsync(target) == 0 { return retained }
            guard length > 0, write(target, buffer, length) == length else { break }
        }
        _ = try? asOwner { unlink(retained) }
        return nil
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
