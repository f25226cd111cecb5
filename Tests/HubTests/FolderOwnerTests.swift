import Glibc
import PipelineTesting
import Testing

@testable import Ingestion

/// Root writes to a folder of another user only as that user, also through links.
@Suite struct FolderOwnerTests {
    @Test(.enabled(if: geteuid() == 0)) func firstFolderOfAnotherUser() throws {
        let folder = try TemporaryFolder()
        let unprivileged = (user: uid_t(65534), group: gid_t(65534))
        #expect(FolderOwner.owner(of: folder.file("tls")) == nil)
        for name in ["hub", "victim", "hub/inner"] { mkdir(folder.file(name), 0o700) }
        lchown(folder.file("hub"), unprivileged.user, unprivileged.group)
        symlink(folder.file("victim"), folder.file("hub/tls"))
        for name in ["hub", "hub/tls", "hub/tls/hub-key.pem", "hub/inner", "hub/missing/file"] {
            let owner = FolderOwner.owner(of: folder.file(name))
            #expect(owner?.user == unprivileged.user && owner?.group == unprivileged.group, "\(name)")
        }
        #expect(FolderOwner.owner(of: folder.file("victim/file")) == nil)
    }

    /// Another user can put the number of any process into a file of theirs.
    @Test(.enabled(if: geteuid() == 0)) func signalsOnlyProcessesOfTheFilesOwner() throws {
        let folder = try TemporaryFolder()
        mkdir(folder.file("hub"), 0o755)
        lchown(folder.file("hub"), 65534, 65534)
        // Signal 0 only checks whether a signal can be sent.
        #expect(FolderOwner.send(0, to: getpid(), namedIn: folder.file("broker.pid")))
        #expect(!FolderOwner.send(0, to: getpid(), namedIn: folder.file("hub/broker.pid")))
        #expect(!FolderOwner.send(0, to: 1, namedIn: folder.file("broker.pid")))
        lchown(folder.file("hub"), 0, 0)
        #expect(FolderOwner.send(0, to: getpid(), namedIn: folder.file("hub/broker.pid")))
    }
}
