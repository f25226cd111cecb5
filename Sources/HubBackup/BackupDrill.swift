import Glibc
import HealthModel
import Ingestion
import SampleStore

/// Restores the newest backup of a store to a scratch file and checks it, so that a backup that cannot be restored is noticed in time.
package struct BackupDrill: Sendable {
    package let name: String
    package let store: String
    /// Whether the store is restored into a scratch file. Otherwise its data is only read and compared with its digest, which writes
    /// nothing to the card.
    package let restores: Bool
    private let restic: Restic
    private let now: @Sendable () -> Instant

    /// Prepares a drill. Nothing is read yet.
    package init(_ name: String, store: String, restic: Restic, restores: Bool, now: @escaping @Sendable () -> Instant) {
        (self.name, self.store, self.restic, self.restores, self.now) = (name, store, restic, restores, now)
    }

    package struct Result: Sendable {
        /// The list of the backup's contents.
        package var manifest: BackupManifest
        /// The number of samples in the store now.
        package var live: Int
        package var isRestored: Bool
    }

    /// Restores and checks, and writes down how it went.
    package func run() throws -> Result {
        let lock = try BackupLock(store: store)
        return try withExtendedLifetime(lock) {
            guard restic.location.isThere else {
                throw BackupFailure(.away, "\(restic.location.address) has no backups now: connect the disk")
            }
            let start = now()
            do {
                let (result, time) = try prove()
                try BackupState.change(name, ofStore: store) { place in
                    (place.drilled, place.drillTried, place.drillFailure) = (start.microseconds, start.microseconds, nil)
                    place.proven = time
                }
                return result
            } catch {
                let failure = error as? BackupFailure ?? BackupFailure(.failed, "\(error)")
                switch failure.kind {
                case .stopped, .unreachable, .locked, .away:
                    // The backup was not read, so nothing is known of it.
                    try BackupState.note(failure, of: name, ofStore: store, at: start)
                default:
                    try BackupState.change(name, ofStore: store) { place in
                        (place.drillTried, place.drillFailure) = (start.microseconds, failure.description)
                    }
                }
                throw error
            }
        }
    }

    private func prove() throws -> (result: Result, time: Int64) {
        let live = try SampleStore(path: store, access: .read)
        let host = BackupRun.host(live.identifier)
        try restic.unlock()
        guard let snapshot = try restic.snapshots(of: host).last(where: \.isVerified) else {
            throw BackupFailure(.noRepository, "there is no verified backup of this store at the location")
        }
        let restored = try RestoredBackup(restic, snapshot, nextTo: restores ? store : nil)
        let manifest = restored.manifest
        let summary = try live.summary()
        guard manifest.store.identifier == live.identifier else {
            throw BackupFailure(.damaged, "the newest backup is of another store")
        }
        guard manifest.store.lastChange <= summary.lastChange else {
            throw BackupFailure(
                .damaged,
                "the newest backup has \(manifest.store.lastChange) changes, and the store only \(summary.lastChange): it was "
                    + "replaced by an older copy")
        }
        let time = (try? Timestamp(iso8601: manifest.time))?.instant?.microseconds
        return (
            Result(manifest: manifest, live: summary.samples, isRestored: restores),
            time ?? snapshot.instant?.microseconds ?? now().microseconds
        )
    }
}

/// The files of a snapshot, restored into scratch folders and compared with its manifest. The folders are removed with this object.
///
/// The store is written by this process. Only its user, who may be another one than that of restic, can be trusted beside the store.
final class RestoredBackup {
    let manifest: BackupManifest
    /// The restored file of the store, or `nil` if its data was only read.
    let store: String?
    /// The folder of the other files. If restic runs as root, only root can read it.
    private let files: String?

    /// The largest files that are restored to memory, in bytes.
    private static let inMemory = 128 << 20
    private static let memory = "/dev/shm"

    /// - Parameter path: the store next to which the scratch folder is. `nil` only reads the data.
    /// - Throws: ``BackupFailure`` of the kind `damaged` if anything differs.
    init(_ restic: Restic, _ snapshot: Restic.Snapshot, nextTo path: String?, usesMemory: Bool = true) throws {
        let place = "/\(BackupManifest.folder)/\(BackupManifest.name)"
        manifest = try BackupManifest(text: try restic.file(place, of: snapshot.id))
        // Anything else would be restored as well: a write-ahead log of another store, or a file that fills the disk.
        var found = try restic.files(of: snapshot.id)
        found[place] = nil
        guard found == manifest.sizes else { throw Self.difference("the list of files") }
        guard let path else {
            (store, files) = (nil, nil)
            let digest = try restic.digest(of: "/\(BackupManifest.storeName)", in: snapshot.id)
            guard digest == manifest.store.sha256 else { throw Self.difference("the store") }
            return
        }
        let folder = SmallFile.folder(of: path)
        let scratch = try Self.create(manifest.store.bytes, in: usesMemory ? [Self.memory, folder] : [folder])
        let store = "\(scratch)/\(BackupManifest.storeName)"
        let bytes = manifest.files.reduce(0) { $0 + $1.bytes }
        let files: String
        do {
            files = try FolderOwner.actingAsRoot { try Self.create(bytes, in: [Self.memory, "/var/tmp"]) }
        } catch {
            Scratch.remove(scratch)
            throw error
        }
        (self.store, self.files) = (store, files)
        let digest = try restic.write("/\(BackupManifest.storeName)", of: snapshot.id, to: store, size: manifest.store.bytes)
        guard digest == manifest.store.sha256 else { throw Self.difference("the store") }
        try restic.run(
            ["restore", "--no-lock", snapshot.id, "--exclude", "/\(BackupManifest.storeName)", "--target", files],
            check: checkLengths)
        for file in manifest.files where contents(of: file).map(BackupFiles.digest) != file.sha256 {
            throw Self.difference(file.path)
        }
        try check(store)
    }

    deinit {
        if let store { Scratch.remove(SmallFile.folder(of: store)) }
        if let files { try? FolderOwner.actingAsRoot { Scratch.remove(files) } }
    }

    /// Ends restic if a file becomes longer than in the manifest.
    private func checkLengths() throws(BackupFailure) {
        guard let files else { return }
        let isTooLong = try? FolderOwner.actingAsRoot {
            manifest.files.contains { file in
                var status = stat()
                return lstat(files + BackupManifest.place(of: file.path), &status) == 0 && Int(status.st_size) > file.bytes
            }
        }
        guard isTooLong == false else { throw Self.difference("the length of a file") }
    }

    /// The bytes of one of the other files.
    func contents(of file: BackupManifest.File) -> [UInt8]? {
        guard let files else { return nil }
        return try? FolderOwner.actingAsRoot {
            SmallFile.read(files + BackupManifest.place(of: file.path), limit: BackupFiles.maximumLength)
        }
    }

    /// Creates a folder in the first parent that has room for the bytes. Memory is only for small files.
    private static func create(_ bytes: Int, in parents: [String]) throws(BackupFailure) -> String {
        var status = statvfs()
        func hasRoom(_ parent: String) -> Bool {
            guard statvfs(parent, &status) == 0 else { return false }
            let free = Int(status.f_bavail) * Int(status.f_frsize)
            return parent == memory
                ? bytes <= inMemory && access(parent, W_OK) == 0 && free > 4 * bytes : free > bytes + bytes / 10 + (8 << 20)
        }
        guard let parent = parents.first(where: hasRoom) else {
            throw BackupFailure(.full, "\(parents[0]) has no space for a restored copy of the store (\(bytes >> 20) MiB)")
        }
        var template = Array("\(parent)/vitalgate-restore.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BackupFailure(.permission, "\(parent): \(String(cString: strerror(errno)))")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func difference(_ description: String) -> BackupFailure {
        BackupFailure(.damaged, "\(description) in the backup differs from the original")
    }

    private func check(_ path: String) throws {
        let store = try SampleStore(path: path, access: .read)
        let problems = try store.check()
        guard problems.isEmpty else {
            throw BackupFailure(.damaged, "the restored store has \(problems.count) problems, the first is: \(problems[0])")
        }
        let found = try store.summary()
        guard
            found.samples == manifest.store.samples, found.deleted == manifest.store.deleted,
            found.quarantined == manifest.store.quarantined, found.ingests == manifest.store.ledger,
            found.lastChange == manifest.store.lastChange
        else { throw BackupFailure(.damaged, "the restored store has other counts than the backup's list") }
    }
}
