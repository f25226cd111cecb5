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
    private let isJournal: Bool

    /// How much a line matters, in the journal's numbers (sd-daemon(3)).
    public enum Priority: Int, Sendable {
        /// It failed.
        case error = 3
        /// What may be wrong; what a person should see; the usual; what only a developer wants.
        case warning, notice, information, debug
    }

    /// - Parameter journal: what the journal says it is, `JOURNAL_STREAM`: device and inode of the stream that it made (systemd.exec(5)).
    public init(
        output: Int32 = STDOUT_FILENO, error: Int32 = STDERR_FILENO,
        journal: String? = getenv("JOURNAL_STREAM").map { String(cString: $0) }
    ) {
        var status = stat()
        isJournal = fstat(error, &status) == 0 && journal == "\(status.st_dev):\(status.st_ino)"
        self.output = OutputBuffer(descriptor: output)
        outputTerminal = Terminal(descriptor: output)
        errorTerminal = Terminal(descriptor: error)
        errorDescriptor = error
    }

    /// Says something to the person in front, on lines of its own, after the data written so far.
    ///
    /// Nobody can be told that stderr does not work: errors of it are of no consequence. Those of stdout come back with the
    /// next call of ``output``.
    ///
    /// - Parameter priority: told to the journal, where stderr leads there.
    public func note(_ text: String, priority: Priority? = nil) {
        if outputTerminal.isTerminal { try? output.flush() }
        var line = TerminalText.sanitized(text, keepingLines: true) + "\n"
        if isJournal, let priority {
            line = line.split(separator: "\n").map { "<\(priority.rawValue)>\($0)\n" }.joined()
        }
        _ = FileDescriptorOutput.writeAll(Array(line.utf8), to: errorDescriptor)
    }

    /// Makes a closed pipe an error of `write(2)` in place of a signal that ends the process. Called once, at the start.
    public static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
