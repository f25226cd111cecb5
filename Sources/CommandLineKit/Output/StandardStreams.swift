import Glibc

/// Data on stdout, everything else on stderr.
public struct StandardStreams: Sendable {
    /// For data; whoever writes last flushes.
    public let output: OutputBuffer
    /// What stdout leads to.
    public let outputTerminal: Terminal
    /// What stderr leads to.
    public let errorTerminal: Terminal

    private let errorDescriptor: Int32

    public init(output: Int32 = STDOUT_FILENO, error: Int32 = STDERR_FILENO) {
        self.output = OutputBuffer(descriptor: output)
        outputTerminal = Terminal(descriptor: output)
        errorTerminal = Terminal(descriptor: error)
        errorDescriptor = error
    }

    /// Says something to the person in front, on lines of its own, after the data written so far.
    ///
    /// Nobody can be told that stderr does not work: errors of it are of no consequence. Those of stdout come back with the
    /// next call of ``output``.
    public func note(_ text: String) {
        if outputTerminal.isTerminal { try? output.flush() }
        let line = TerminalText.sanitized(text, keepingLines: true) + "\n"
        _ = FileDescriptorOutput.writeAll(Array(line.utf8), to: errorDescriptor)
    }

    /// Makes a closed pipe an error of `write(2)` in place of a signal that ends the process. Called once, at the start.
    public static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
