import EventLoopKit
import Glibc

/// The lines that a process beside the hub writes to its standard output, such as counts. A line that is too long is truncated.
final class ProcessLines {
    /// The end of the pipe for the process. Closed with ``closeWriter()`` after the start.
    private var writer: Descriptor?
    private let reader: Descriptor
    private let loop: EventLoop
    private var line: [UInt8] = []
    private static let maximumLength = 256

    init(loop: EventLoop) throws(SystemFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFailure("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer, self.loop) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]), loop)
    }

    deinit { loop.unwatch(reader.number) }

    func start(_ body: (Int32) throws(SystemFailure) -> SupervisedProcess) throws(SystemFailure) -> SupervisedProcess {
        defer { writer = nil }
        return try body(writer?.number ?? -1)
    }

    /// Reads the lines until the process closes its output.
    ///
    /// - Parameter onLines: Receives the complete lines that came together.
    func read(_ onLines: @escaping ([String]) -> Void) {
        loop.watch(reader.number) { [weak self] _ in
            guard let self else { return }
            let lines = next()
            if !lines.isEmpty { onLines(lines) }
        }
    }

    private func next() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(reader.number, &bytes, bytes.count)
        guard count > 0 else {
            loop.unwatch(reader.number)
            return []
        }
        var lines: [String] = []
        for byte in bytes[..<count] {
            if byte != UInt8(ascii: "\n") {
                if line.count < Self.maximumLength { line.append(byte) }
                continue
            }
            lines.append(String(decoding: line, as: UTF8.self))
            line.removeAll(keepingCapacity: true)
        }
        return lines
    }
}
