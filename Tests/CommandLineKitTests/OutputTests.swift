import CommandLineKit
import Glibc
import Synchronization
import Testing

/// One at a time: a descriptor closed in one test may be opened in another.
@Suite(.serialized)
struct OutputTests {
    /// A pipe, which is closed with its owner.
    private final class Pipe {
        private(set) var reader: Int32 = -1
        private(set) var writer: Int32 = -1

        init() {
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
        }

        func closeReader() {
            close(reader)
            reader = -1
        }

        /// Everything that was written, up to 64 KiB. Closes the writing end.
        func contents() -> String {
            close(writer)
            writer = -1
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = read(reader, &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }

        deinit {
            for descriptor in [reader, writer] where descriptor >= 0 { close(descriptor) }
        }
    }

    /// Nanoseconds that pass when the test advances them.
    private final class FixedClock: Sendable {
        private let nanoseconds = Mutex<UInt64>(1_000_000_000)

        func advance(milliseconds: UInt64) {
            nanoseconds.withLock { $0 += milliseconds * 1_000_000 }
        }

        var now: UInt64 { nanoseconds.withLock { $0 } }
    }

    private func hasData(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) == 1
    }

    @Test func bytesWaitForTheFlush() throws {
        let pipe = Pipe()
        let output = OutputBuffer(descriptor: pipe.writer)
        try output.write("heart")
        try output.write(Array("Rate\n".utf8))
        #expect(!hasData(pipe.reader))
        try output.flush()
        #expect(pipe.contents() == "heartRate\n")
    }

    @Test func fullBufferIsWritten() throws {
        let pipe = Pipe()
        let output = OutputBuffer(descriptor: pipe.writer, capacity: 4)
        try output.write("abc")
        #expect(!hasData(pipe.reader))
        try output.write("defgh")
        #expect(hasData(pipe.reader))
        #expect(pipe.contents() == "abcdefgh")
    }

    @Test func closedPipeIsAQuietEnd() throws {
        StandardStreams.ignoreBrokenPipes()
        let pipe = Pipe()
        let output = OutputBuffer(descriptor: pipe.writer)
        pipe.closeReader()
        try output.write("x")
        #expect(throws: OutputError.closed) { try output.flush() }
        #expect(throws: OutputError.closed) { try output.write("y") }
        #expect(OutputError.closed.exitCode == .success)
    }

    @Test func fullDiskIsAnError() throws {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let output = OutputBuffer(descriptor: full)
        try output.write("x")
        let error = OutputError.failed(errno: ENOSPC)
        #expect(throws: error) { try output.flush() }
        #expect(error.exitCode == .ioError)
        #expect(error.description == "writing failed: No space left on device")
    }

    @Test func notesAreSafeForATerminal() {
        let pipe = Pipe()
        StandardStreams(error: pipe.writer).note("device \u{1B}[2J\nsecond line")
        #expect(pipe.contents() == "device \u{FFFD}[2J\nsecond line\n")
    }

    @Test func journalLinesHavePriorities() {
        let pipe = Pipe()
        var status = stat()
        fstat(pipe.writer, &status)
        let journal = StandardStreams(error: pipe.writer, journal: "\(status.st_dev):\(status.st_ino)")
        journal.note("warning: one\nand two", priority: .warning)
        journal.note("plain")
        // Inherited from the service that started a shell. This program does not write there.
        StandardStreams(error: pipe.writer, journal: "8:1").note("elsewhere", priority: .error)
        #expect(pipe.contents() == "<4>warning: one\n<4>and two\nplain\nelsewhere\n")
    }

    @Test func pipeIsNoTerminal() {
        let terminal = Terminal(descriptor: Pipe().writer)
        #expect(!terminal.isTerminal)
        #expect(!terminal.canRedraw)
        #expect(terminal.width == nil)
    }

    @Test func pseudoTerminalHasAWidth() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        defer { close(master) }
        // TIOCSPTLCK and TIOCGPTN are macros that Swift can't read: asm-generic/ioctls.h.
        var locked: Int32 = 0
        var number: Int32 = 0
        try #require(ioctl(master, 0x4004_5431, &locked) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        var size = winsize(ws_row: 24, ws_col: 132, ws_xpixel: 0, ws_ypixel: 0)
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        defer { close(terminal) }
        #expect(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
        #expect(Terminal(descriptor: terminal).isTerminal)
        #expect(Terminal(descriptor: terminal).width == 132)
    }

    @Test func progressIsDrawnTenTimesASecond() {
        let pipe = Pipe()
        let clock = FixedClock()
        let terminal = Terminal(isTerminal: true, canRedraw: true, width: 10, isUnicode: true)
        var progress = ProgressLine(descriptor: pipe.writer, terminal: terminal) { clock.now }
        progress.update("first")
        clock.advance(milliseconds: 99)
        progress.update("too soon")
        clock.advance(milliseconds: 1)
        progress.update("second\u{1B} and long")
        progress.clear()
        progress.update("third")
        progress.finish()
        progress.finish()
        #expect(pipe.contents() == "\rfirst\u{1B}[K\rsecond\u{FFFD} …\u{1B}[K\r\u{1B}[K\rthird\u{1B}[K\r\u{1B}[K")
    }

    @Test func progressIsSilentWithoutTerminal() {
        let pipe = Pipe()
        let terminal = Terminal(isTerminal: true, canRedraw: false, width: 80, isUnicode: true)
        var progress = ProgressLine(descriptor: pipe.writer, terminal: terminal) { 0 }
        progress.update("first")
        progress.finish()
        #expect(pipe.contents() == "")
    }

    @Test func exitCodesAreThoseOfSysexits() {
        let codes: [ExitCode] = [
            .success, .usage, .dataError, .noInput, .unavailable, .software, .cannotCreate, .ioError, .tryAgain, .noPermission,
            .configuration,
        ]
        #expect(codes.map(\.rawValue) == [0, 64, 65, 66, 69, 70, 73, 74, 75, 77, 78])
    }
}
