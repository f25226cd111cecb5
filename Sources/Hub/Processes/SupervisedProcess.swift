import EventLoopKit
import Glibc

/// A program that runs beside the hub. It ends when its standard input closes, and so with the hub in any case.
final class SupervisedProcess {
    let started: Duration
    private let process: ChildProcess
    private let lifeline: Descriptor
    private let loop: EventLoop

    /// - Parameters: - memory: the limit of its memory, or `nil` for none. - output: the standard output. `nil` means the hub's.
    init(
        _ command: [String], memory: MemoryLimit?, loop: EventLoop, output: Int32? = nil, completion: @escaping (Int32) -> Void
    ) throws(SystemFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFailure("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        lifeline = Descriptor(owning: ends[1])
        process = try ChildProcess(command, input: ends[0], output: output, memory: memory)
        started = loop.clock.uptime
        self.loop = loop
        // Nothing is written: an event means that the other end has closed.
        loop.watch(lifeline.number, events: 0) { [weak self] _ in
            guard let self else { return }
            loop.unwatch(lifeline.number)
            process.wait()
            completion(process.status)
        }
    }

    deinit { loop.unwatch(lifeline.number) }

    /// Returns a text for the log for a status from `waitpid`.
    static func words(for status: Int32) -> String {
        status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    }

    func stop() { process.stop() }

    func end(within limit: Duration) {
        loop.unwatch(lifeline.number)
        process.end(within: limit)
    }
}
