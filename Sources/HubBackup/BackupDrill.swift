import Glibc
import HealthModel
import Ingestion
import SampleStore

/// Restores the newest backup of a store to a scratch file and checks it, so that a backup that cannot be restored is noticed in time.
package struct BackupDrill: Sendable {
    /// The name of the location.
    package let name: String
    /// The path of the store.
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

    /// The result of a successful drill.
    package struct Result: Sendable {
        /// The list of the backup's contents.
        package var manifest: BackupManifest
        /// The number of samples in the store now.
        package var live: Int
        /// Whether it was restored into a file.
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
        let restored = try RestoredBackup(restic, snapshot, beside: restores ? store : nil)
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

/// The files of a snapshot, restored into a scratch folder and compared with its manifest. The folder is removed with this object.
final class RestoredBackup {
    let manifest: BackupManifest
    /// The scratch folder, or `nil` if the store's data was only read.
    let folder: String?

    /// The largest store that is restored to memory, in bytes.
    private static let inMemory = 128 << 20

    /// - Parameter path: the store beside which the scratch folder is. `nil` only reads the data.
    /// - Throws: ``BackupFailure`` of the kind `damaged` if anything differs.
    init(_ restic: Restic, _ snapshot: Restic.Snapshot, beside path: String?, usesMemory: Bool = true) throws {
        let place = "/\(BackupManifest.folder)/\(BackupManifest.name)"
        manifest = try BackupManifest(text: try restic.file(place, of: snapshot.id))
        // Anything else would be restored as well: a write-ahead log of another store, or a file that fills the disk.
        var found = try restic.files(of: snapshot.id)
        found[place] = nil
        guard found == manifest.sizes else { throw Self.difference("the list of files") }
        guard let path else {
            folder = nil
            let digest = try restic.digest(of: "/\(BackupManifest.storeName)", in: snapshot.id)
            guard digest == manifest.store.sha256 else { throw Self.difference("the store") }
            return
        }
        let folder = try Self.create(path, manifest.store.bytes, usesMemory)
        self.folder = folder
        do {
            try restic.run(["restore", "--no-lock", snapshot.id, "--target", folder])
            try check(folder)
        } catch {
            Scratch.remove(folder)
            throw error
        }
    }

    deinit { if let folder { Scratch.remove(folder) } }

    /// The restored file of the store.
    var store: String? { folder.map { "\($0)/\(BackupManifest.storeName)" } }

    /// Creates the folder: in memory if it is small, or else beside the store.
    private static func create(_ path: String, _ bytes: Int, _ usesMemory: Bool) throws(BackupFailure) -> String {
        var status = statvfs()
        let isSmall =
            usesMemory && bytes <= inMemory && statvfs("/dev/shm", &status) == 0 && access("/dev/shm", W_OK) == 0
            && Int(status.f_bavail) * Int(status.f_frsize) > 4 * bytes
        let parent = isSmall ? "/dev/shm" : SmallFile.folder(of: path)
        guard statvfs(parent, &status) == 0, Int(status.f_bavail) * Int(status.f_frsize) > bytes + bytes / 10 + (8 << 20) else {
            throw BackupFailure(.full, "\(parent) has no space for a restored copy of the store (\(bytes >> 20) MiB)")
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

    private func check(_ folder: String) throws {
        let path = "\(folder)/\(BackupManifest.storeName)"
        guard try Self.digest(of: path) == manifest.store.sha256 else { throw Self.difference("the store") }
        for file in manifest.files {
            let restored = folder + BackupManifest.place(of: file.path)
            guard let bytes = SmallFile.read(restored, limit: BackupFiles.maximumLength), BackupFiles.digest(bytes) == file.sha256
            else {
                throw Self.difference(file.path)
            }
        }
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

    private static func digest(of path: String) throws(BackupFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw difference("the store") }
        defer { close(descriptor) }
        var stream = Digest.Stream()
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw BackupFailure(.failed, "\(path): \(String(cString: strerror(errno)))") }
            guard count > 0 else { return stream.end().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
            chunk.withUnsafeBytes { stream.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
