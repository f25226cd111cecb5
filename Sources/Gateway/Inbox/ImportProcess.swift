import EventLoopKit
import Glibc

/// One `vitalgate import` as a process of its own: a large file neither holds up the devices nor leaves its memory behind, and a file that
/// brings the reader down does not bring the hub down.
final class ImportProcess {
    /// What it ended with.
    struct Result {
        /// As waitpid(2) gives it.
        var status: Int32
        /// The ledger's account, a line of JSON; empty where there is none.
        var output: [UInt8]
        /// What it said, line by line.
        var errors: [UInt8]

        /// The exit status; none where a signal ended it.
        var code: Int32? { status & 0x7F == 0 ? status >> 8 & 0xFF : nil }
    }

    private let loop: EventLoop
    private let process: ChildProcess
    private var output: OutputPipe?
    private var errors: OutputPipe?
    private let completion: (Result) -> Void

    /// Longer texts are cut.
    private static let longest = 1 << 20

    /// - Parameters:
    ///   - arguments: with the program's path in front.
    ///   - completion: called once, from the loop.
    init(_ arguments: [String], loop: EventLoop, completion: @escaping (Result) -> Void) throws(SystemFailure) {
        self.loop = loop
        self.completion = completion
        let output = try OutputPipe(loop: loop, limit: Self.longest)
        let errors = try OutputPipe(loop: loop, limit: Self.longest)
        process = try ChildProcess(arguments, output: output.writing, errors: errors.writing)
        (self.output, self.errors) = (output, errors)
        for pipe in [output, errors] { pipe.open { [weak self] in self?.closed() } }
    }

    /// Asks it to stop: it commits what it has read, and ends.
    func stop() { process.stop() }

    /// Waits for its end, at most that long, then ends it; nothing that it stored is lost by that. The completion is not called.
    func end(within limit: Duration) {
        output = nil
        errors = nil
        process.end(within: limit)
    }

    private func closed() {
        guard let output, let errors, output.isAtEnd, errors.isAtEnd else { return }
        self.output = nil
        self.errors = nil
        // Both ends are closed: it has ended, or is about to.
        process.wait()
        completion(Result(status: process.status, output: output.bytes, errors: errors.bytes))
    }
}

/// Reads what a process says.
private final class OutputPipe {
    let writing: Int32
    private let reading: Int32
    private let loop: EventLoop
    private let limit: Int
    private(set) var bytes: [UInt8] = []
    private(set) var isAtEnd = false
    private var isWritingOpen = true

    init(loop: EventLoop, limit: Int) throws(SystemFailure) {
        self.loop = loop
        self.limit = limit
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFailure("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    /// The process has its end.
    func open(onEnd: @escaping () -> Void) {
        close(writing)
        isWritingOpen = false
        loop.watch(reading) { [weak self] _ in
            guard let self else { return }
            drain()
            if isAtEnd { onEnd() }
        }
    }

    deinit {
        loop.unwatch(reading)
        close(reading)
        if isWritingOpen { close(writing) }
    }

    private func drain() {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while !isAtEnd {
            let count = read(reading, &chunk, chunk.count)
            if count > 0 {
                bytes += chunk[..<min(count, limit - bytes.count)]
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                isAtEnd = true
                loop.unwatch(reading)
            } else if errno == EAGAIN {
                return
            }
        }
    }
}
