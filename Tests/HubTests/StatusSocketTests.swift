import EventLoopKit
import Glibc
import PipelineTesting
import Testing

@testable import Hub

/// Where the status socket is, and who gets at it.
@Suite struct StatusSocketTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func machine(_ environment: [String: String] = [:]) -> Machine {
        let now = FixedClock().now
        return Machine(environment: environment, now: { now }, zoneDirectory: "/nonexistent")
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : 0
    }

    @Test func pathIsNextToStoreOrFromSystemd() {
        #expect(StatusSocket.path(store: "/srv/store.db", machine: machine()) == "/srv/store.db.sock")
        let service = machine(["RUNTIME_DIRECTORY": "/run/hub:/run/other"])
        #expect(StatusSocket.path(store: "/srv/store.db", machine: service) == "/run/hub/hub.sock")
        #expect(
            StatusSocket.candidates(store: "/srv/store.db", machine: machine()) == [
                "/srv/store.db.sock", "/run/vitalgate/hub.sock",
            ])
        #expect(
            StatusSocket.candidates(store: "/srv/store.db", machine: service) == [
                "/run/hub/hub.sock", "/srv/store.db.sock", "/run/vitalgate/hub.sock",
            ])
    }

    @Test func socketIsGroupAccessibleWithAnyMask() throws {
        let path = folder.file("store.db.sock")
        for mask in [0o077, 0o000] as [mode_t] {
            // The mask is the process's, so the test that sets it runs alone.
            let status = try OwnProcess.run("socketIsGroupAccessibleWithAnyMask") {
                umask(mask)
                let descriptor = try StatusSocket.listen(path)
                #expect(mode(path) == S_IFSOCK | 0o660)
                close(descriptor)
            }
            #expect(status == 0)
        }
    }

    @Test func replacesStaleSocket() throws {
        let path = folder.file("store.db.sock")
        close(try StatusSocket.listen(path))
        #expect(mode(path) & S_IFMT == S_IFSOCK)
        let descriptor = try StatusSocket.listen(path)
        defer { close(descriptor) }
        close(try StatusSocket.connected(to: path, timeout: 60))
        // The socket of a running hub is never replaced.
        #expect(throws: SystemFailure.self) { try StatusSocket.listen(path) }
    }

    @Test func noOtherFileIsReplaced() throws {
        try folder.write([1], to: "store.db.sock")
        #expect(throws: SystemFailure.self) { try StatusSocket.listen(folder.file("store.db.sock")) }
        #expect(try folder.read("store.db.sock") == [1])
    }

    /// unix(7): a path has at most 108 bytes, including its end.
    @Test func aFolderMayHaveALongName() throws {
        var path = folder.path
        for _ in 0..<4 {
            path += "/" + String(repeating: "x", count: 60)
            mkdir(path, 0o700)
        }
        let descriptor = try StatusSocket.listen(path + "/store.db.sock")
        defer { close(descriptor) }
        #expect(mode(path + "/store.db.sock") == S_IFSOCK | 0o660)
        close(try StatusSocket.connected(to: path + "/store.db.sock", timeout: 60))
        let long = path + "/" + String(repeating: "s", count: 100) + ".sock"
        do {
            close(try StatusSocket.listen(long))
            Issue.record("such a name has no room")
        } catch {
            #expect("\(error)" == "\(long): File name too long")
        }
    }

    @Test func resolvesLinksToStore() throws {
        mkdir(folder.file("real"), 0o700)
        symlink(folder.file("real"), folder.file("link"))
        #expect(StatusSocket.canonical(folder.file("link/store.db")) == StatusSocket.canonical(folder.file("real/store.db")))
        #expect(StatusSocket.canonical("/store.db") == "/store.db")
        #expect(StatusSocket.canonical(folder.file("gone/store.db")) == folder.file("gone/store.db"))
    }
}
