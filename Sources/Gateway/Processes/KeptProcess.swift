import EventLoopKit
import Glibc

/// A program that runs beside the hub: it ends when its standard input does, and so with the hub, however that ends.
final class KeptProcess {
    let started: Duration
    private let process: pid_t
    private let lifeline: Descriptor
    private let loop: EventLoop
    private var isReaped = false
    private var status: Int32 = 0

    init(_ command: [String], loop: EventLoop, completion: @escaping (Int32) -> Void) throws(SystemFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFailure("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        lifeline = Descriptor(owning: ends[1])
        process = try ChildProcess.spawn(command, input: ends[0])
        started = loop.clock.uptime
        self.loop = loop
        // Nothing is written: an event means that the other end is gone.
        loop.watch(lifeline.number, events: 0) { [weak self] _ in
            guard let self else { return }
            loop.unwatch(lifeline.number)
            _ = reap(0)
            completion(status)
        }
    }

    deinit {
        loop.unwatch(lifeline.number)
        guard !isReaped else { return }
        kill(process, SIGKILL)
        _ = reap(0)
    }

    /// How it ended, for the log, by what `waitpid` told.
    static func words(for status: Int32) -> String {
        status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    }

    func stop() { kill(process, SIGTERM) }

    func end(within limit: Duration) {
        loop.unwatch(lifeline.number)
        stop()
        let end = loop.clock.uptime + limit
        while !reap(WNOHANG) {
            guard loop.clock.uptime < end else {
                kill(process, SIGKILL)
                _ = reap(0)
                return
            }
            usleep(5000)
        }
    }

    private func reap(_ options: Int32) -> Bool {
        guard !isReaped else { return true }
        var answer = waitpid(process, &status, options)
        while answer < 0, errno == EINTR { answer = waitpid(process, &status, options) }
        isReaped = answer != 0
        return isReaped
    }
}
