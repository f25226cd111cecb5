import Testing

@testable import HubBackup

/// The messages and exit statuses of restic 0.14 and 0.18, as both print them.
@Suite struct ResticFailureTests {
    private func kind(_ status: Int32, _ errors: String, at address: String = "/nowhere/vitalgate") throws -> BackupFailure.Kind {
        Restic.failure(Restic.Output(lines: [], errors: errors, status: status), try BackupLocation(address)).kind
    }

    @Test func theSameReasonInBothVersions() throws {
        #expect(try kind(1, "Fatal: wrong password or no key found\n") == .wrongKey)
        #expect(try kind(12, "Fatal: wrong password or no key found\n") == .wrongKey)
        let missing = "Fatal: unable to open config file: stat /nowhere/vitalgate/config: no such file or directory\n"
        #expect(try kind(1, missing + "Is there a repository at the following location?\n/nowhere/vitalgate\n") == .noRepository)
        #expect(try kind(10, "Fatal: repository does not exist: unable to open config file\n") == .noRepository)
        let lock = "unable to create lock in backend: repository is already locked exclusively by PID 7 on hub by root\n"
        #expect(try kind(1, lock) == .locked)
        #expect(try kind(11, "Fatal: " + lock) == .locked)
        // A snapshot was made, and lacks a file.
        #expect(try kind(3, "Warning: at least one source file could not be read\n") == .failed)
    }

    @Test func reasonsOfPlaces() throws {
        #expect(try kind(1, "Fatal: unable to save snapshot: write /d/x: no space left on device\n") == .full)
        #expect(try kind(1, "Save(<data/1>) returned error: write: disk quota exceeded\n") == .full)
        let ssh = "Fatal: unable to open repository at sftp:a@b:/c: unable to start the sftp session, error: EOF\n"
        #expect(
            try kind(1, "subprocess ssh: ssh: connect to host b port 22: Connection refused\n" + ssh, at: "sftp:a@b:/c")
                == .unreachable)
        #expect(try kind(1, "Fatal: config cannot be loaded: connection lost\n", at: "sftp:a@b:/c") == .unreachable)
        let key = "subprocess ssh: a@b: Permission denied (publickey,password).\n"
        #expect(try kind(1, key + ssh, at: "sftp:a@b:/c") == .permission)
        #expect(
            try kind(
                1, "Fatal: unable to open repository: dial tcp: lookup s3.example.org: no such host\n",
                at: "s3:https://s3.example.org/b") == .unreachable)
        #expect(try kind(1, "Fatal: load <data/1>: invalid data returned\n") == .damaged)
        #expect(try kind(1, "Fatal: ciphertext verification failed\n") == .damaged)
        #expect(try kind(1, "open /d/keys: permission denied\n") == .permission)
        #expect(try kind(137, "") == .failed)
    }

    @Test func locations() throws {
        #expect(try BackupLocation("disk/", in: "/media").address == "/media/disk")
        #expect(try BackupLocation("/media/My Disk").usualName == "my-disk")
        #expect(try BackupLocation("sftp:a@b:/c").folder == nil)
        for text in [
            "", "disk", "b2:bucket", "ftp:host", "rest:", "rest:https://user:secret@host/", "s3:https://a:b@host/x", "/a\nb",
        ] {
            #expect(throws: BackupFailure.self, "\(text)") { _ = try BackupLocation(text) }
        }
    }

    @Test func timesOfSnapshots() throws {
        let snapshot = { Restic.Snapshot(id: "", time: $0, hostname: "", tags: ["erasures=3"]) }
        #expect(snapshot("2026-11-29T12:56:50.57607193Z").instant?.description == "2026-11-29T12:56:50.576071Z")
        #expect(snapshot("2026-11-29T13:56:50+01:00").instant?.description == "2026-11-29T12:56:50.000000Z")
        #expect(snapshot("2026-11-29T13:56:50.123456789+01:00").instant?.description == "2026-11-29T12:56:50.123456Z")
        #expect(snapshot("").erasures == 3)
        #expect(Restic.Snapshot(id: "", time: "", hostname: "", tags: nil).erasures == -1)
    }
}
