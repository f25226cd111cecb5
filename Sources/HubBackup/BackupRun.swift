import Glibc
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// Makes a backup at one location, and proves it.
///
/// The store's file is pinned, and restic reads it directly, so nothing is copied on the card. A snapshot is marked as unverified
/// until its contents are compared with the manifest. A run that is killed leaves at most such a snapshot, which is never restored and which the
/// next run removes.
package struct BackupRun: Sendable {
    package let name: String
    /// The path of the store, without links.
    package let store: String
    /// The number of backups that are kept.
    package let schedule: BackupSchedule
    package let files: BackupFiles
    /// The name of the machine, for people.
    package let machine: String
    /// The machine and the store's file. A copy of the store has another one.
    private let holder: StoreHolder
    private let restic: Restic
    private let now: @Sendable () -> Instant
    private let isStopped: @Sendable () -> Bool

    /// The write-ahead log grows while the file is pinned. A run that takes too long for that is ended.
    private static let maximumLogLength = 256 << 20

    /// Prepares a backup. `isStopped` is asked several times a second.
    package init(
        _ name: String, store: String, restic: Restic, files: BackupFiles, schedule: BackupSchedule, machine: String,
        holder: StoreHolder, now: @escaping @Sendable () -> Instant, isStopped: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.name, self.store, self.restic, self.files, self.schedule) = (name, store, restic, files, schedule)
        (self.machine, self.holder, self.now, self.isStopped) = (machine, holder, now, isStopped)
    }

    /// The name of this store's snapshots. A restored store goes on with them on another machine.
    static func host(_ identifier: String) -> String { "vitalgate-\(identifier.filter { $0 != "-" }.prefix(12))" }

    // MARK: The backup

    private var holderTag: String { Restic.Snapshot.holderPrefix + holder.id }

    package struct Result: Sendable {
        /// The list of the backup's contents.
        package var manifest: BackupManifest
        /// The bytes that were added at the location.
        package var added: Int
        /// Backups that were removed because they were older than an erasure.
        package var removed = 0
        /// A problem that did not concern the backup itself.
        package var warning: String?
    }

    /// Makes a backup and writes down how it went.
    package func make() throws -> Result {
        let lock = try BackupLock(store: store)
        return try withExtendedLifetime(lock) {
            let start = now()
            do {
                try checkPlace()
                let result = try makeVerified(start)
                return result
            } catch {
                let failure = error as? BackupFailure ?? BackupFailure(.failed, "\(error)")
                try BackupState.note(failure, of: name, ofStore: store, at: start)
                throw error
            }
        }
    }

    /// A folder whose disk is not connected is waited for. It is never created here, because that would put the backup on the card.
    private func checkPlace() throws(BackupFailure) {
        guard restic.location.isThere else {
            throw BackupFailure(.away, "\(restic.location.address) has no backups now: connect the disk")
        }
    }

    private func makeVerified(_ start: Instant) throws -> Result {
        try restic.unlock()
        let pinned = try PinnedStore(path: store)
        let identifier = pinned.store.identifier
        let before = try restic.snapshots(of: Self.host(identifier))
        try checkHolder(before, pinned.store)
        let (manifest, added) = try withExtendedLifetime(pinned) { try upload(pinned, start) }
        try BackupState.change(name, ofStore: store) { place in
            place.takesOver = nil
            place.tried = start.microseconds
            place.made = start.microseconds
            place.began = place.began ?? start.microseconds
            (place.lastChange, place.samples) = (manifest.store.lastChange, manifest.store.samples)
            (place.bytes, place.added) = (manifest.store.bytes, added)
            (place.failure, place.failures, place.away) = (nil, nil, nil)
        }
        var result = Result(manifest: manifest, added: added)
        do throws(BackupFailure) {
            result.removed = try removeOld(before, manifest, start)
        } catch {
            guard error.kind != .stopped else { throw error }
            // The backup is good. Only the older ones stay longer.
            let words = "the backup is complete, but older ones could not be removed: \(error)"
            result.warning = words
            try BackupState.change(name, ofStore: store) { place in
                place.failure = words
                place.failures = min((place.failures ?? 0) + 1, 1000)
            }
        }
        return result
    }

    /// Refuses a run if the newest backup is of another copy of this store. The newest backup is the one that is restored, and with it
    /// those of the other copy would be removed earlier. A restored store and a moved one take over.
    private func checkHolder(_ before: [Restic.Snapshot], _ store: SampleStore) throws {
        guard let newest = before.last(where: \.isVerified)?.holder, newest != holder.id else { return }
        let place = BackupState(ofStore: self.store).places[name] ?? BackupState.Place()
        let isRestored = try place.made == nil && store.targets.confirmedHolder() == holder.id
        guard isRestored || place.takesOver == true else {
            throw BackupFailure(
                .permission,
                "the newest backup is of another copy of this store, and this one is \(holder.name): if this is a copy, run "
                    + "'vitalgate store adopt' to give it an identity of its own. If the store was moved, run 'vitalgate store adopt --moved'"
            )
        }
    }

    private func upload(_ pinned: PinnedStore, _ start: Instant) throws -> (manifest: BackupManifest, added: Int) {
        guard let digest = try pinned.digest(isStopped: isStopped) else { throw BackupFailure(.stopped, "it was stopped") }
        let summary = try pinned.store.summary()
        let erasures = try pinned.store.erasureCount
        guard try !pinned.store.erasure.isUnfinished else {
            throw BackupFailure(
                .failed, "the store still contains erased data: run 'vitalgate people erase' again to complete it")
        }
        let (entries, contents, leftOut) = files.read()
        let manifest = BackupManifest(
            time: start.description, host: machine,
            store: BackupManifest.Store(
                path: store, bytes: pinned.bytes, sha256: digest, identifier: pinned.store.identifier, schema: summary.schema,
                samples: summary.samples, deleted: summary.deleted, quarantined: summary.quarantined, ledger: summary.ingests,
                lastChange: summary.lastChange, erasures: erasures), files: entries, leftOut: leftOut)
        let stage = try Stage(store: store, manifest, contents)
        let id = try withExtendedLifetime(stage) { try upload(stage, manifest, pinned) }
        try verify(id, manifest)
        guard pinned.isIntact else { throw BackupFailure(.failed, "the store was replaced during the backup") }
        try restic.run(
            ["tag", "--set", "\(Restic.Snapshot.program),\(Restic.Snapshot.verified),erasures=\(erasures),\(holderTag)", id.id],
            within: .seconds(600))
        let marked = try restic.snapshots(of: Self.host(pinned.store.identifier)).contains {
            $0.isVerified && $0.instant == id.instant
        }
        guard marked else { throw BackupFailure(.failed, "the backup could not be marked as verified") }
        return (manifest, id.added)
    }

    private struct Summary: Decodable {
        var type: String
        var snapshot: String?
        var added: Int?
        /// The same after compression, which restic 0.14 does not report.
        var packed: Int?

        enum CodingKeys: String, CodingKey {
            case type = "message_type"
            case snapshot = "snapshot_id"
            case added = "data_added"
            case packed = "data_added_packed"
        }
    }

    private func upload(
        _ stage: Stage, _ manifest: BackupManifest, _ pinned: PinnedStore
    ) throws(BackupFailure) -> (id: String, instant: Instant?, added: Int) {
        let host = Self.host(manifest.store.identifier)
        let output = try restic.run(
            [
                "backup", "--json", "--force", "--host", host, "--tag",
                "\(Restic.Snapshot.program),\(Restic.Snapshot.unverified),erasures=\(manifest.store.erasures),\(holderTag)", "--",
                BackupManifest.storeName, BackupManifest.folder,
            ], in: stage.folder,
            check: { () throws(BackupFailure) in
                guard pinned.logBytes < Self.maximumLogLength else {
                    throw BackupFailure(.failed, "it took so long that the store's log reached 256 MiB, so it is tried again")
                }
            })
        let summaries: [Summary] = output.lines.compactMap { Restic.decoded($0) }
        guard let summary = summaries.last(where: { $0.type == "summary" }), let id = summary.snapshot else {
            throw BackupFailure(.failed, "restic has made no backup")
        }
        // The short form is unique only for now.
        guard let whole = try restic.snapshots(of: host).first(where: { $0.id.hasPrefix(id) }) else {
            throw BackupFailure(.damaged, "the backup is not at the location")
        }
        return (whole.id, whole.instant, summary.packed ?? summary.added ?? 0)
    }

    /// Compares the list of files, and reads the manifest back. restic ends with status 0 even if a source was missing.
    private func verify(_ id: (id: String, instant: Instant?, added: Int), _ manifest: BackupManifest) throws(BackupFailure) {
        var expected = manifest.sizes
        let place = "/\(BackupManifest.folder)/\(BackupManifest.name)"
        expected[place] = manifest.text.utf8.count
        let found = try restic.files(of: id.id)
        guard found == expected else {
            let wrong = expected.filter { found[$0.key] != $0.value }.count + found.filter { expected[$0.key] == nil }.count
            throw BackupFailure(
                .damaged, "the backup is incomplete: \(wrong) of \(expected.count) files differ")
        }
        guard try restic.file(place, of: id.id) == Array(manifest.text.utf8) else {
            throw BackupFailure(.damaged, "the list of the backup's contents differs")
        }
    }

    // MARK: Old backups

    /// Removes unverified snapshots, all that are older than an erasure, and those beyond the number to be kept.
    ///
    /// - Returns: the number of those that were older than an erasure.
    private func removeOld(
        _ before: [Restic.Snapshot], _ manifest: BackupManifest, _ start: Instant
    ) throws(BackupFailure) -> Int {
        let erasures = manifest.store.erasures
        let host = Self.host(manifest.store.identifier)
        // Snapshots with erased data are removed whole, verified or not, together with their data.
        let erased = before.filter { $0.erasures < erasures }
        let unverified = before.filter { !$0.isVerified && $0.erasures >= erasures }
        let deleted = (erased + unverified).map(\.id)
        let place = BackupState(ofStore: store).places[name] ?? BackupState.Place()
        let hasErased = (place.erasures ?? 0) < erasures
        if !deleted.isEmpty { try restic.run(["forget"] + deleted, within: .seconds(3600)) }
        try restic.run(
            [
                "forget", "--host", host, "--tag", "\(Restic.Snapshot.program),\(Restic.Snapshot.verified)", "--group-by", "host",
                "--keep-last", "3", "--keep-daily", "\(schedule.daily)", "--keep-weekly", "\(schedule.weekly)", "--keep-monthly",
                "\(schedule.monthly)",
            ], within: .seconds(3600))
        // Data of an erased person must not stay in packs that are used for other data.
        let isTime = place.pruned.map { start.microseconds - $0 >= BackupSchedule.pruneEvery || $0 > start.microseconds } ?? false
        if hasErased || !erased.isEmpty {
            try restic.run(["prune", "--max-unused", "0"])
        } else if isTime {
            try restic.run(["prune"])
        }
        try BackupState.change(name, ofStore: store) { place in
            place.erasures = erasures
            if hasErased || !erased.isEmpty || isTime || place.pruned == nil { place.pruned = start.microseconds }
        }
        return erased.count
    }
}

/// Prevents that two processes make backups of one store at the same time. The kernel releases it when the process ends.
final class BackupLock {
    private let descriptor: Int32

    init(store: String) throws(BackupFailure) {
        try BackupState.makeFolder(ofStore: store)
        let path = BackupState.folder(ofStore: store) + "/lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw BackupFailure(.permission, "\(path): \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw BackupFailure(.locked, "another process makes a backup of this store now: try again later")
        }
    }

    deinit { close(descriptor) }
}

/// The folder that restic copies: a link to the store under its fixed name, and the small files with their manifest.
private final class Stage {
    let folder: String

    init(store: String, _ manifest: BackupManifest, _ contents: [[UInt8]]) throws(BackupFailure) {
        folder = BackupState.folder(ofStore: store) + "/stage"
        Self.remove(folder)
        try Self.create(folder)
        // A second name of the same file. restic would copy a symbolic link as a link.
        guard link(store, "\(folder)/\(BackupManifest.storeName)") == 0 else {
            throw BackupFailure(.failed, "\(folder): \(String(cString: strerror(errno)))")
        }
        for (file, bytes) in zip(manifest.files, contents) {
            let path = folder + BackupManifest.place(of: file.path)
            try Self.create(SmallFile.folder(of: path))
            try Self.write(bytes, to: path)
        }
        try Self.create("\(folder)/\(BackupManifest.folder)")
        try Self.write(Array(manifest.text.utf8), to: "\(folder)/\(BackupManifest.folder)/\(BackupManifest.name)")
    }

    deinit { Self.remove(folder) }

    private static func create(_ path: String) throws(BackupFailure) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, path.contains("/") else {
            throw BackupFailure(errno == ENOSPC ? .full : .permission, "\(path): \(String(cString: strerror(errno)))")
        }
        try create(SmallFile.folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw BackupFailure(.permission, "\(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(BackupFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw BackupFailure(.permission, "\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw BackupFailure(.full, "\(path): no space left for the backup's list of files")
        }
    }

    static func remove(_ folder: String) { Scratch.remove(folder) }
}

/// A folder for a short time.
enum Scratch {
    /// Removes a folder and everything below it. Links are removed, and not followed.
    static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        if let directory = opendir(path) {
            var names: [String] = []
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                if name != ".", name != ".." { names.append(name) }
            }
            closedir(directory)
            for name in names { remove("\(path)/\(name)") }
        }
        rmdir(path)
    }
}
