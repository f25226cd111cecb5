import Glibc

/// The output streams of a program: data on stdout, everything else on stderr.
package struct StandardStreams: Sendable {
    /// The buffer for data. Flush it at the end.
    package let output: OutputBuffer
    /// The properties of stdout's terminal.
    package let outputTerminal: Terminal
    /// The properties of stderr's terminal.
    package let errorTerminal: Terminal

    private let errorDescriptor: Int32
    private let isJournal: Bool

    /// The priority of a line in the journal (sd-daemon(3)).
    package enum Priority: Int, Sendable {
        case error = 3
        /// Lower priorities: a possible problem, an important event, a normal event, a detail for developers.
        case warning, notice, information, debug
    }

    /// - Parameter journal: the value of `JOURNAL_STREAM`, with the device and inode of the journal's stream (systemd.exec(5)).
    package init(
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

    /// Writes a message to stderr on its own lines, after the data written so far.
    ///
    /// Errors of stderr are ignored, because they cannot be reported. Errors of stdout are thrown by the next call of ``output``.
    ///
    /// - Parameter priority: the priority in the journal, if stderr is connected to it.
    package func note(_ text: String, priority: Priority? = nil) {
        if outputTerminal.isTerminal { try? output.flush() }
        var line = TerminalText.sanitized(text, keepingLines: true) + "\n"
        if isJournal, let priority {
            line = line.split(separator: "\n").map { "<\(priority.rawValue)>\($0)\n" }.joined()
        }
        _ = FileDescriptorOutput.writeAll(Array(line.utf8), to: errorDescriptor)
    }

    /// Makes a closed pipe an error of `write(2)` instead of a signal that ends the process. Call it once at the start.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
