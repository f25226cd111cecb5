import EventLoopKit
import Glibc
import HealthModel
import Ingestion
import SampleStore

/// Restores a hub from a backup: its store, configuration, passwords and the keys of paired devices.
package struct BackupRestore: Sendable {
    package let store: String
    private let restic: Restic

    /// Prepares a restoration. Nothing is changed yet.
    package init(store: String, restic: Restic) { (self.store, self.restic) = (store, restic) }

    /// A verified backup at a location.
    package struct Choice: Hashable, Sendable {
        package var time: Instant
        package var hub: String
        let id: String
    }

    /// The verified backups of all hubs, the oldest first.
    package func choices() throws(BackupFailure) -> [Choice] {
        try restic.snapshots().compactMap { snapshot in
            guard snapshot.isVerified, let time = snapshot.instant else { return nil }
            return Choice(time: time, hub: snapshot.hostname, id: snapshot.id)
        }
    }

    package struct Result: Sendable {
        /// The list of the backup's contents.
        package var manifest: BackupManifest
        /// Files that were put at their places.
        package var restored: [String] = []
        /// Files that were not, with the reason.
        package var notRestored: [String] = []
        /// Files that had to make way, by their new names.
        package var retained: [String] = []
    }

    /// Restores a backup. The caller has the hub's lock on the store, and acts as the owner of the store's folder. The files outside are
    /// written as the owners of their folders.
    ///
    /// - Parameters:
    ///   - replaces: whether a store with readings is replaced. It is kept under another name.
    ///   - configuration: the path of the configuration on this machine, or `nil` for its old place.
    ///   - allowed: folders in which files may be put. Files with another place are put into a folder beside the store, because a hub that
    ///     was broken into could have put anything into its backups.
    ///   - prepare: called with the restored store before it is put in its place.
    package func restore(
        _ choice: Choice, replaces: Bool, configuration: String?, restoresFiles: Bool, allowed: [String],
        prepare: (SampleStore) throws -> Void
    ) throws -> Result {
        try checkOld(replaces)
        guard let snapshot = try restic.snapshots().first(where: { $0.id == choice.id }) else {
            throw BackupFailure(.noRepository, "the backup is not there any more")
        }
        let restored = try RestoredBackup(restic, snapshot, nextTo: store, usesMemory: false)
        return try withExtendedLifetime(restored) {
            guard let path = restored.store else { throw BackupFailure(.failed, "the backup was not restored") }
            try SampleStore.beginHistory(ofRestored: path)
            do {
                let store = try SampleStore(path: path, access: .write)
                try prepare(store)
                try store.checkpoint()
            }
            var result = Result(manifest: restored.manifest)
            try put(path, &result)
            guard restoresFiles else { return result }
            for file in restored.manifest.files {
                let target = place(of: file, restored.manifest, configuration)
                guard target == configuration || Self.isAllowed(target, in: allowed, store: store) else {
                    let aside = "\(store)-restored\(file.path)"
                    put(file, restored, at: aside, &result)
                    result.notRestored.append("\(file.path): it is now in \(aside)")
                    continue
                }
                put(file, restored, at: target, &result)
            }
            return result
        }
    }

    /// Whether a file may be put at a place. A backup may be of a hub that was broken into, and root restores it.
    ///
    /// - Parameters:
    ///   - folders: Folders of Vitalgate and of Bluetooth, or beginnings of the names of files that end in a hyphen.
    ///   - store: The path of the restored store. It was checked, so no file replaces it, its log or its lock.
    package static func isAllowed(_ target: String, in folders: [String], store: String) -> Bool {
        !isOfStore(target, store) && folders.contains { target.hasPrefix($0.hasSuffix("-") ? $0 : $0 + "/") }
    }

    /// Whether a path begins with that of the store, or of a file beside it whose name begins with the store's. In the folder of its backups,
    /// only the keys are restored, because its state decides which backups are made and proven.
    private static func isOfStore(_ path: String, _ store: String) -> Bool {
        let (path, folder) = (path.split(separator: "/"), store.split(separator: "/").dropLast())
        let rest = path.dropFirst(folder.count)
        guard path.starts(with: folder), let name = rest.first, let last = rest.last else { return false }
        if name == SmallFile.name(of: BackupState.folder(ofStore: store)) { return rest.count != 2 || !last.hasSuffix(".key") }
        return name.hasPrefix(SmallFile.name(of: store))
    }

    /// The folders of files of a hub among these: those that have its name. In any other one, such as /etc or the home of a person, files
    /// of other programs decide what root or the person runs.
    package static func ownFolders(among folders: [String]) -> [String] {
        folders.filter { SmallFile.name(of: $0).lowercased().contains("vitalgate") }
    }

    /// Where a file belongs on this machine. Files beside the store stay beside it.
    private func place(of file: BackupManifest.File, _ manifest: BackupManifest, _ configuration: String?) -> String {
        if file.role == .configuration, let configuration { return configuration }
        let folder = BackupState.folder(ofStore: manifest.store.path) + "/"
        guard file.path.hasPrefix(folder) else { return file.path }
        return BackupState.folder(ofStore: store) + "/" + file.path.dropFirst(folder.count)
    }

    /// A store without readings, such as the service creates at its first start, may be replaced.
    private func checkOld(_ replaces: Bool) throws {
        guard access(store, F_OK) == 0, !replaces else { return }
        let old = try SampleStore(path: store, access: .read)
        guard try old.summary().ingests == 0 else {
            throw BackupFailure(
                .invalid, "\(store) already contains readings: to replace it, use --replace, which keeps it under another name")
        }
    }

    /// The name for a file that has to make way.
    private static func retained(_ path: String) -> String {
        let name = path + ".before-restore"
        guard access(name, F_OK) == 0 else { return name }
        return (2...1000).map { "\(name)-\($0)" }.first { access($0, F_OK) != 0 } ?? name
    }

    private func put(_ path: String, _ result: inout Result) throws {
        // A log of the old store would be replayed over the new one.
        if access(store, F_OK) == 0 {
            let old = try SampleStore(path: store, access: .write)
            try old.checkpoint()
        }
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw BackupFailure(.failed, "\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else {
            throw BackupFailure(.permission, "\(path): \(String(cString: strerror(errno)))")
        }
        if access(store, F_OK) == 0 {
            let retained = Self.retained(store)
            guard rename(store, retained) == 0 else {
                throw BackupFailure(.permission, "\(store): \(String(cString: strerror(errno)))")
            }
            result.retained.append(retained)
        }
        for suffix in ["-wal", "-shm"] { unlink(store + suffix) }
        guard rename(path, store) == 0 else { throw BackupFailure(.permission, "\(store): \(String(cString: strerror(errno)))") }
        let folder = open(SmallFile.folder(of: store), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        result.restored.append(store)
    }

    /// Puts a small file at its place. A different file that is there is kept under another name.
    private func put(_ file: BackupManifest.File, _ restored: RestoredBackup, at target: String, _ result: inout Result) {
        guard let bytes = restored.contents(of: file) else {
            result.notRestored.append("\(target): the backup has no such file")
            return
        }
        let owner = (user: geteuid(), group: getegid())
        do {
            try FolderOwner.acting(asOwnerOf: target) { put(file, bytes, at: target, owner, &result) }
        } catch {
            result.notRestored.append("\(error)")
        }
    }

    /// - Parameter owner: the owner of the store. As root, it gets files whose owner this machine does not have.
    private func put(
        _ file: BackupManifest.File, _ bytes: [UInt8], at target: String, _ owner: (user: uid_t, group: gid_t),
        _ result: inout Result
    ) {
        if let there = SmallFile.read(target, limit: BackupFiles.maximumLength) {
            guard there != bytes else { return }
            // A program or profile that this machine has is newer.
            guard file.role != .named || file.mode & 0o111 == 0 else {
                result.notRestored.append("\(target): this machine has another one")
                return
            }
            let retained = Self.retained(target)
            guard rename(target, retained) == 0 else {
                result.notRestored.append("\(target): \(String(cString: strerror(errno)))")
                return
            }
            result.retained.append(retained)
        }
        do {
            try Self.createFolder(SmallFile.folder(of: target), isPrivate: file.role == .bond || target.hasPrefix(store))
            let fileOwner = geteuid() == 0 ? BackupFiles.owner(file) ?? owner : nil
            try Self.write(bytes, to: target, mode: mode_t(file.mode), owner: fileOwner)
            result.restored.append(target)
        } catch {
            result.notRestored.append("\(error)")
        }
    }

    private static func createFolder(_ path: String, isPrivate: Bool) throws(SystemFailure) {
        guard access(path, F_OK) != 0 else { return }
        let parent = SmallFile.folder(of: path)
        if parent != path { try createFolder(parent, isPrivate: isPrivate) }
        guard mkdir(path, isPrivate ? 0o700 : 0o755) == 0 || errno == EEXIST else { throw SystemFailure(path, errno) }
    }

    private static func write(
        _ bytes: [UInt8], to path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)?
    ) throws(SystemFailure) {
        let draft = "\(path).\(getpid())~"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFailure(path, errno) }
        let isWritten =
            Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, mode) == 0
            && (owner.map { fchown(descriptor, $0.user, $0.group) } ?? 0) == 0 && fsync(descriptor) == 0
            && rename(draft, path) == 0
        let failure = SystemFailure(path, errno)
        close(descriptor)
        if !isWritten {
            unlink(draft)
            throw failure
        }
    }
}
