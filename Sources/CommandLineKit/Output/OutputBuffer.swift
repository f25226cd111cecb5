import Glibc
import Synchronization

/// The reason why output could not be written.
package enum OutputError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reader has closed the pipe, as `head` does. The program should exit quietly.
    case closed
    /// A system error with its `errno`.
    case failed(errno: Int32)

    package var exitCode: ExitCode {
        switch self {
        case .closed: .success
        case .failed: .ioError
        }
    }

    package var description: String {
        switch self {
        case .closed: "the reader has closed the pipe"
        case .failed(let code): "writing failed: \(strerror(code).map { String(cString: $0) } ?? "error \(code)")"
        }
    }
}

/// A buffer for a file descriptor, so that many lines need only a few calls of `write(2)`.
///
/// Call ``flush()`` at the end. Unwritten bytes are lost with the buffer, and only `flush()` reports whether everything was written.
/// After an error nothing more is written, and every call throws that error again.
package final class OutputBuffer: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        var error: OutputError?
    }

    private let descriptor: Int32
    private let capacity: Int
    private let state: Mutex<State>

    /// The caller owns and closes the descriptor. Ignore `SIGPIPE` to get a closed pipe as an error
    /// (``StandardStreams/ignoreBrokenPipes()``).
    package init(descriptor: Int32, capacity: Int = 65_536) {
        self.descriptor = descriptor
        self.capacity = max(1, capacity)
        state = Mutex(State())
    }

    /// Appends bytes, and writes when the buffer is full.
    package func write(_ bytes: [UInt8]) throws(OutputError) {
        try state.withLock { (state) throws(OutputError) in
            if let error = state.error { throw error }
            state.bytes.append(contentsOf: bytes)
            if state.bytes.count >= capacity { try drain(&state) }
        }
    }

    /// Appends a text as UTF-8.
    package func write(_ text: String) throws(OutputError) {
        try write(Array(text.utf8))
    }

    /// Writes all buffered bytes.
    package func flush() throws(OutputError) {
        try state.withLock { (state) throws(OutputError) in
            if let error = state.error { throw error }
            try drain(&state)
        }
    }

    private func drain(_ state: inout State) throws(OutputError) {
        let error = FileDescriptorOutput.writeAll(state.bytes, to: descriptor)
        state.bytes.removeAll(keepingCapacity: true)
        state.error = error
        if let error { throw error }
    }
}

/// Calls `write(2)` until everything is written.
enum FileDescriptorOutput {
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> OutputError? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                    continue
                }
                switch errno {
                case EINTR: continue
                case EAGAIN: waitUntilWritable(descriptor)
                case EPIPE: return .closed
                case let code: return .failed(errno: code)
                }
            }
            return nil
        }
    }

    /// Waits for a terminal that another program has made non-blocking.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }
}
