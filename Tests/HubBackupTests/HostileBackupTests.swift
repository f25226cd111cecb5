import FoundationEssentials
import Glibc
import PipelineTesting
import Testing

@testable import HubBackup

/// Backups of a hub that was broken into. Root restores them on a new machine.
@Suite struct HostileBackupTests {
    private func manifest(_ path: String, mode: Int = 0o600, bytes: Int = 1, count: Int = 1, store storeBytes: Int = 1)
        throws(BackupFailure) -> BackupManifest
    {
        let file = """
            {"role":"named","path":"\(path)","bytes":\(bytes),"mode":\(mode),"user":"root","group":"root","sha256":"00"}
            """
        let store = """
            {"path":"/var/lib/vitalgate/store.db","bytes":\(storeBytes),"sha256":"00","identifier":"x","schema":1,"samples":0,"deleted":0,\
            "quarantined":0,"ledger":0,"lastChange":0,"erasures":0}
            """
        let files = Array(repeating: file, count: count).joined(separator: ",")
        return try BackupManifest(
            text: Array(
                """
                {"version":1,"time":"2026-11-20T06:31:00Z","host":"hub","store":\(store),"files":[\(files)],"leftOut":[]}
                """.utf8))
    }

    @Test func acceptsOrdinaryFiles() throws {
        #expect(try manifest("/etc/vitalgate/token").files.count == 1)
        #expect(try manifest("/etc/vitalgate/send", mode: 0o755).files.count == 1)
    }

    @Test(arguments: ["etc/x", "/etc/vitalgate/../x", "/etc/./x", "/etc/vitalgate/a\\u0000b", "/etc/vitalgate/a\\nb"])
    func refusesPaths(_ path: String) {
        #expect(throws: BackupFailure(.damaged, "the backup has a file without a valid path")) { try manifest(path) }
    }

    /// A program that runs as its owner would make the user of the service root.
    @Test(arguments: [0o4755, 0o2755, 0o1777, 0o104755]) func refusesSpecialPermissions(_ mode: Int) {
        #expect(throws: BackupFailure(.damaged, "the backup has a file with special permissions")) {
            try manifest("/var/lib/vitalgate/shell", mode: mode)
        }
    }

    /// Their sum would be out of range.
    @Test(arguments: [-1, (1 << 20) + 1, Int.max]) func refusesInvalidSizes(_ bytes: Int) {
        #expect(throws: BackupFailure(.damaged, "the backup has a file that is larger than 1 MiB")) {
            try manifest("/etc/vitalgate/x", bytes: bytes, count: 2)
        }
        #expect(throws: BackupFailure.self) { try manifest("/etc/vitalgate/x", store: bytes == -1 ? -1 : Int.max) }
    }

    /// The list of a repository can contain another size than the file has.
    @Test func refusesLongerFiles() throws {
        let folder = try TemporaryFolder()
        let restic = try Restic(BackupLocation(folder.file("repository"), in: "/"), key: .random())
        try restic.create()
        mkdir(folder.file("tree"), 0o700)
        try Data(repeating: 1, count: 3 << 20).write(to: URL(filePath: folder.file("tree/store.db")))
        try restic.run(["backup", "--tag", Restic.Snapshot.program, "."], in: folder.file("tree"))
        let id = try #require(try restic.snapshots().first).id
        let written = folder.file("written")
        #expect(throws: BackupFailure.self) { try restic.write("/store.db", of: id, to: written, size: 1 << 20) }
        #expect(try Data(contentsOf: URL(filePath: written)).count <= 1 << 20)
        let digest = try restic.write("/store.db", of: id, to: written + "2", size: 3 << 20)
        #expect(digest == (try restic.digest(of: "/store.db", in: id)))
    }

    @Test func refusesManyFiles() {
        #expect(throws: BackupFailure(.damaged, "the backup has more than 1000 files")) {
            try manifest("/etc/vitalgate/x", count: 1001)
        }
    }

    /// Files are put only into folders of Vitalgate, wherever the store and the configuration are.
    @Test func putsFilesIntoOwnFoldersOnly() {
        let own = BackupRestore.ownFolders(
            among: ["/etc/vitalgate", "/etc", "/root", "/home/anna", "/home/anna/.config/vitalgate", "/var/lib", "/", "."])
        #expect(own == ["/etc/vitalgate", "/home/anna/.config/vitalgate"])
        let allowed = own + ["/srv/store.db-"]
        for path in ["/etc/vitalgate/token", "/srv/store.db-backup/usb.key", "/home/anna/.config/vitalgate/profiles/a.json5"] {
            #expect(BackupRestore.isAllowed(path, in: allowed, store: "/srv/store.db"), "\(path)")
        }
        for path in [
            "/etc/cron.d/x", "/home/anna/.ssh/authorized_keys", "/srv/store.db", "/etc/vitalgate.d/x", "/home/anna/.profile",
        ] {
            #expect(!BackupRestore.isAllowed(path, in: allowed, store: "/srv/store.db"), "\(path)")
        }
    }

    /// The restored store was checked. Another file in its place, or in that of its log or lock, was not.
    @Test(arguments: [
        "store.db", "store.db-wal", "store.db-shm", "store.db-journal", "store.db-hub", "store.db.sock", "/store.db-wal",
        "store.db/x", "store.db-backup", "store.db-backup/state.json", "store.db-backup/lock", "store.db-backup/usb.key/x",
    ])
    func doesNotReplaceTheStore(_ name: String) {
        let (folder, store) = ("/var/lib/vitalgate", "/var/lib/vitalgate/store.db")
        let allowed = [folder, store + "-"]
        #expect(!BackupRestore.isAllowed("\(folder)/\(name)", in: allowed, store: store))
        #expect(BackupRestore.isAllowed("\(store)-backup/usb.key", in: allowed, store: store))
        #expect(BackupRestore.isAllowed("\(folder)/profiles/a.json5", in: allowed, store: store))
    }
}
