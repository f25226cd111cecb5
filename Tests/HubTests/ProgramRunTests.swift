import Glibc
import PipelineTesting
import Testing

@testable import Hub

/// Programs that are run to their end.
@Suite struct ProgramRunTests {
    /// A script of a package that hangs must not keep the lock of dpkg.
    @Test func endsTheProgramsOfOneThatTakesTooLong() throws {
        let folder = try TemporaryFolder()
        let result = ProgramRun.run(
            ["/bin/sh", "-c", "sleep 300 & echo $! >'\(folder.file("child"))'; echo begun; wait"], seconds: 1)
        #expect(result.code == 70)
        #expect(result.output == "begun\n")
        #expect(result.words == "it did not end within 1 s")
        let child = try #require(Int32(String(decoding: try folder.read("child"), as: UTF8.self).prefix(while: \.isNumber)))
        // The limit of a minute only ends a test that would fail.
        for _ in 0..<6000 where !Self.hasEnded(child) { usleep(10_000) }
        #expect(Self.hasEnded(child))
    }

    /// A process is a zombie until process 1 has noticed its end.
    private static func hasEnded(_ process: pid_t) -> Bool {
        kill(process, 0) != 0 || ((try? String(decoding: read("/proc/\(process)/stat"), as: UTF8.self))?.contains(") Z ") ?? true)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        return Array(bytes.prefix(fread(&bytes, 1, bytes.count, file)))
    }

    @Test func readsAndWritesFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("one\ntwo\n".utf8), to: "in")
        let (source, target) = (open(folder.file("in"), O_RDONLY), open(folder.file("out"), O_WRONLY | O_CREAT, 0o600))
        defer {
            close(source)
            close(target)
        }
        let result = ProgramRun.run(["/bin/sh", "-c", "cat; echo three >&2"], seconds: 60, to: target, from: source)
        #expect(result == (0, "", "three\n"))
        #expect(try folder.read("out") == Array("one\ntwo\n".utf8))
    }
}
