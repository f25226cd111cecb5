import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing
import Wire

@testable import SerialSource

/// On real pseudo-terminals. One after the other: descriptors are counted.
@Suite(.serialized) struct SerialSourceTests {
    @Test func configuresPortAndDeliversFrames() throws {
        let bench = SerialBench()
        let pty = try Pty()
        bench.source.adopt(SerialBench.lines(pty.path))
        try bench.source.start()
        #expect(bench.source.state(of: pty.path) == "live")
        pty.write("one\ntwo\nth")
        bench.turn(until: { bench.frames.count == 2 })
        pty.write("ree\r\n\r\n")
        bench.turn(until: { bench.frames.count == 3 })
        #expect(bench.frames == ["one", "two", "three"])
        // No two of one piece have the same time, so that equal readings stay two.
        #expect(Set(bench.receipts).count == 3)
        var line = pty.settings
        #expect(cfgetispeed(&line) == speed_t(B19200))
        // A pseudo-terminal has no parity bit and reports that (pty(7)), but keeps the setting.
        #expect(line.c_cflag & tcflag_t(PARODD) != 0 && line.c_iflag & tcflag_t(INPCK | IGNPAR) == tcflag_t(INPCK | IGNPAR))
        #expect(line.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
        bench.source.stop()
        #expect(bench.loop.load == (0, 0))
    }

    @Test func refusesIncompleteFrameAtUnplug() throws {
        let bench = SerialBench()
        let pty = try Pty()
        bench.source.adopt(SerialBench.lines(pty.path))
        try bench.source.start()
        pty.write("whole\nhal")
        bench.turn(until: { bench.frames.count == 1 })
        pty.pull()
        bench.turn(until: { bench.endings == 1 })
        #expect(bench.frames == ["whole"])
        #expect(bench.skips.map(\.count) == [3] && bench.skips[0].containsLostFrame)
        #expect(bench.source.state(of: pty.path) == "unplugged")
    }

    /// Two hubs on one machine, or a hub and another program: each byte goes to only one of them.
    @Test func twoAreNeverOnOnePort() throws {
        let first = SerialBench()
        let second = SerialBench(loop: first.loop)
        let pty = try Pty()
        for bench in [first, second] {
            bench.source.adopt(SerialBench.lines(pty.path))
            try bench.source.start()
        }
        #expect(second.source.state(of: pty.path) == "busy")
        #expect(second.notices.map(\.text) == ["another program uses this port: waiting until it is free"])
        pty.write("one\n")
        first.turn(until: { first.frames == ["one"] })
        #expect(second.frames.isEmpty)
        first.source.stop()
        // It retries at growing intervals and reports this once.
        first.pass(.seconds(1))
        #expect(second.source.state(of: pty.path) == "live" && second.notices.count == 2)
        pty.write("two\n")
        second.turn(until: { second.frames == ["two"] })
        second.source.stop()
    }

    /// The other process holds the lock: flock(2) between processes.
    @Test func anotherProcessKeepsUsOut() throws {
        let bench = SerialBench()
        let pty = try Pty()
        let other = try LockHolder(pty.path)
        bench.source.adopt(SerialBench.lines(pty.path))
        try bench.source.start()
        #expect(bench.source.state(of: pty.path) == "busy")
        other.end()
        bench.pass(.seconds(1))
        #expect(bench.source.state(of: pty.path) == "live")
        bench.source.stop()
    }

    @Test func replugUnderAnotherNameIsTheSameDevice() throws {
        let folder = try TemporaryFolder()
        let link = folder.file("by-id")
        let bench = SerialBench()
        bench.source.adopt(SerialBench.lines(link))
        try bench.source.start()
        #expect(bench.source.state(of: link) == "unplugged" && bench.loop.load.timers == 0, "idle is idle")
        for name in ["first", "second"] {
            let pty = try Pty()
            unlink(link)
            #expect(symlink(pty.path, link) == 0)
            bench.plugs.plug()
            #expect(bench.source.state(of: link) == "live")
            pty.write(name + "\n")
            bench.turn(until: { bench.frames.last == name })
            unlink(link)
            pty.pull()
            bench.turn(until: { bench.source.state(of: link) == "unplugged" })
            bench.pass(.seconds(2))
            #expect(bench.loop.load == (1, 0), "the link's folder is watched, and nothing wakes up")
        }
        #expect(Set(bench.devices.map(\.key)) == ["serial:\(link)"])
    }

    /// A port in a container, or a link made by a script, about which udev reports nothing.
    @Test(arguments: ["link", "a/folder/link"]) func reopensPortWithoutUdev(name: String) throws {
        let folder = try TemporaryFolder()
        let link = folder.file(name)
        let bench = SerialBench()
        bench.source.adopt(SerialBench.lines(link))
        try bench.source.start()
        for number in 1...3 {
            #expect(bench.source.state(of: link) == "unplugged" && bench.loop.load == (1, 0))
            let pty = try Pty()
            for part in ["a", "a/folder"] where name.hasPrefix(part + "/") { mkdir(folder.file(part), 0o700) }
            #expect(symlink(pty.path, link) == 0)
            bench.turn(until: { bench.source.state(of: link) == "live" })
            pty.write("\(number)\n")
            bench.turn(until: { bench.frames.count == number })
            unlink(link)
            for part in ["a/folder", "a"] { rmdir(folder.file(part)) }
            pty.pull()
            bench.turn(until: { bench.source.state(of: link) == "unplugged" })
            // It is tried once more, in case the line only broke.
            bench.pass(.seconds(2))
        }
        // A link to a port that is not there yet.
        let target = folder.file("port")
        #expect(symlink(target, folder.file("dangling")) == 0)
        bench.source.adopt(SerialBench.lines(folder.file("dangling")))
        let pty = try Pty()
        #expect(symlink(pty.path, target) == 0)
        bench.turn(until: { bench.source.state(of: folder.file("dangling")) == "live" })
        bench.source.stop()
        #expect(bench.loop.load == (0, 0))
    }

    /// Bytes that are sent to a device when it is plugged in, while it is connected, and before the line is closed.
    @Test func opensKeepsAliveAndCloses() throws {
        let bench = SerialBench()
        let pty = try Pty()
        var description = SerialBench.lines(pty.path)
        description.opening = [[1], [2]]
        description.keepAlive = ([3], .seconds(5))
        description.closing = [[4]]
        bench.source.adopt(description)
        try bench.source.start()
        var received = pty.read(waiting: 300_000)
        for _ in 0..<3 {
            bench.pass(.seconds(5))
            received += pty.read(waiting: 300_000)
        }
        bench.source.stop()
        received += pty.read(waiting: 300_000)
        #expect(received == [1, 2, 3, 3, 3, 4])
    }

    /// Story of machines that die of a loose plug: nothing is kept of a plug that is gone.
    @Test func twoThousandPlugsLeakNothing() throws {
        #expect(try OwnProcess.run("twoThousandPlugsLeakNothing", twoThousandPlugs) == 0)
    }

    private func twoThousandPlugs() throws {
        let folder = try TemporaryFolder()
        let link = folder.file("by-id")
        let bench = SerialBench()
        bench.source.adopt(SerialBench.lines(link))
        try bench.source.start()
        let before = OwnProcess.openDescriptors()
        for number in 1...2000 {
            let pty = try Pty()
            unlink(link)
            symlink(pty.path, link)
            bench.plugs.plug()
            pty.write("\(number)\n")
            bench.turn(until: { bench.frames.count == number })
            unlink(link)
            pty.pull()
            bench.turn(until: { bench.source.state(of: link) == "unplugged" })
        }
        bench.pass(.seconds(100))
        #expect(bench.frames == (1...2000).map(String.init))
        #expect(OwnProcess.openDescriptors() == before && bench.loop.load == (1, 0))
        bench.source.stop()
        #expect(bench.loop.load == (0, 0))
    }

    @Test func reportsInvalidPortOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        #expect(creat(path, 0o600) >= 0)
        let bench = SerialBench()
        bench.source.adopt(SerialBench.lines(path))
        try bench.source.start()
        for _ in 0..<5 { bench.pass(.seconds(100)) }
        #expect(bench.notices.map(\.text) == ["it cannot be opened as a serial port"])
        #expect(bench.source.state(of: path) == "waiting")
        bench.source.stop()
        #expect(bench.loop.load == (0, 0))
    }
}

/// A child process that keeps a port open and locked until it is stopped.
private final class LockHolder {
    private var process: pid_t = 0

    init(_ path: String) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw PtyError(code: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let words = ["/usr/bin/flock", "-F", path, "/bin/sh", "-c", "echo locked; exec sleep 1000"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
        posix_spawn_file_actions_destroy(&actions)
        for argument in arguments { free(argument) }
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 16)
        _ = read(ends[0], &bytes, bytes.count)
        close(ends[0])
    }

    func end() {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    deinit { end() }
}
