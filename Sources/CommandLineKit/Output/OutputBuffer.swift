import Glibc
import Synchronization

/// Why output did not arrive.
public enum OutputError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reader, such as `head`, has seen enough: the program ends quietly.
    case closed
    /// An error of the system, by its `errno`.
    case failed(errno: Int32)

    /// What the program ends with.
    public var exitCode: ExitCode {
        switch self {
        case .closed: .success
        case .failed: .ioError
        }
    }

    public var description: String {
        switch self {
        case .closed: "the reader has closed the pipe"
        case .failed(let code): "writing failed: \(strerror(code).map { String(cString: $0) } ?? "error \(code)")"
        }
    }
}

/// Bytes gathered for a file descriptor, so that a table of many lines is a few calls of `write(2)`.
///
/// What is still gathered when the buffer goes away is lost: whoever makes one ends with ``flush()``, which alone can say
/// whether all has arrived. After an error nothing more is written, and every call throws that error again.
public final class OutputBuffer: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        var error: OutputError?
    }

    private let descriptor: Int32
    private let capacity: Int
    private let state: Mutex<State>

    /// The descriptor stays the caller's, who closes it. To see a closed pipe as an error, `SIGPIPE` has to be ignored:
    /// ``StandardStreams/ignoreBrokenPipes()``.
    public init(descriptor: Int32, capacity: Int = 65_536) {
        self.descriptor = descriptor
        self.capacity = max(1, capacity)
        state = Mutex(State())
    }

    /// Gathers the bytes, and writes when there are enough.
    public func write(_ bytes: [UInt8]) throws(OutputError) {
        try state.withLock { (state) throws(OutputError) in
            if let error = state.error { throw error }
            state.bytes.append(contentsOf: bytes)
            if state.bytes.count >= capacity { try drain(&state) }
        }
    }

    /// Gathers the text as UTF-8.
    public func write(_ text: String) throws(OutputError) {
        try write(Array(text.utf8))
    }

    /// Writes all that was gathered.
    public func flush() throws(OutputError) {
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

/// `write(2)` until nothing is left.
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

    /// A terminal shared with a program that has made it non-blocking.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }
}
