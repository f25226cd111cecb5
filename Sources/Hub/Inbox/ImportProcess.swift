import EventLoopKit
import Glibc

/// One `vitalgate import` in its own process. A large file does not delay the devices or keep memory in use, and a file that
/// crashes the reader does not crash the hub.
final class ImportProcess {
    struct Result {
        /// The status from waitpid(2).
        var status: Int32
        /// The ledger's account as a line of JSON, or empty if there is none.
        var output: [UInt8]
        /// The lines written to standard error.
        var errors: [UInt8]

        /// The exit status, or `nil` if a signal ended the process.
        var code: Int32? { status & 0x7F == 0 ? status >> 8 & 0xFF : nil }
    }

    private let loop: EventLoop
    private let process: ChildProcess
    private var output: OutputPipe?
    private var errors: OutputPipe?
    private let completion: (Result) -> Void

    /// The maximum size of output in bytes. Longer output is truncated.
    private static let maximumLength = 1 << 20

    /// - Parameters: - arguments: the program's path and its arguments. - file: the path of the file, which the program reads from its
    ///   standard input. Every user of the machine can see arguments, and the name of a file can be that of a person. - completion:
    ///   called once, from the loop.
    init(_ arguments: [String], file: String, loop: EventLoop, completion: @escaping (Result) -> Void) throws(SystemFailure) {
        self.loop = loop
        self.completion = completion
        let output = try OutputPipe(loop: loop, limit: Self.maximumLength)
        let errors = try OutputPipe(loop: loop, limit: Self.maximumLength)
        process = try ChildProcess(
            arguments, reading: Array(file.utf8), output: output.writing, errors: errors.writing,
            memory: .importing)
        (self.output, self.errors) = (output, errors)
        for pipe in [output, errors] { pipe.open { [weak self] in self?.closed() } }
    }

    /// Waits for the end of the process up to the limit and then kills it, without loss of stored data. The completion is not
    /// called.
    func end(within limit: Duration) {
        output = nil
        errors = nil
        process.end(within: limit)
    }

    private func closed() {
        guard let output, let errors, output.isAtEnd, errors.isAtEnd else { return }
        self.output = nil
        self.errors = nil
        // Both pipes are closed, so the process has ended or is about to.
        process.wait()
        completion(Result(status: process.status, output: output.bytes, errors: errors.bytes))
    }
}

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

    /// Starts reading after the process has its end of the pipe.
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
