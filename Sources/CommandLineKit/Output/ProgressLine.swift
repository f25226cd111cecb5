import Glibc

/// A line on stderr that is redrawn at most ten times a second. It draws nothing if stderr is not a terminal.
///
/// ```swift
/// var progress = ProgressLine(terminal: streams.errorTerminal, clock: monotonicNanoseconds)
/// progress.update("\(Readable.count(read)) readings")
/// progress.finish()
/// ```
package struct ProgressLine: Sendable {
    private static let interval: UInt64 = 100_000_000

    private let descriptor: Int32
    private let terminal: Terminal
    private let clock: @Sendable () -> UInt64
    private var lastDrawn: UInt64?
    private var isVisible = false

    /// - Parameter clock: returns monotonic nanoseconds.
    package init(descriptor: Int32 = STDERR_FILENO, terminal: Terminal, clock: @escaping @Sendable () -> UInt64) {
        self.descriptor = descriptor
        self.terminal = terminal
        self.clock = clock
    }

    /// Draws the text, unless a tenth of a second has not passed since the last one. The text is only evaluated if it is drawn.
    package mutating func update(_ text: @autoclosure () -> String) {
        guard terminal.canRedraw else { return }
        let now = clock()
        if let lastDrawn, now &- lastDrawn < Self.interval { return }
        lastDrawn = now
        isVisible = true
        // One column stays empty, because some terminals wrap after the last column.
        let width = max(0, (terminal.width ?? 80) - 1)
        let line = TerminalText.truncated(
            TerminalText.sanitized(text()), to: width, ellipsis: terminal.isUnicode ? "…" : "...")
        draw(line)
    }

    /// Erases the line, for example before a note. The next ``update(_:)`` draws it again at once.
    package mutating func clear() {
        guard isVisible else { return }
        isVisible = false
        lastDrawn = nil
        draw("")
    }

    /// Erases the line at the end.
    package mutating func finish() {
        clear()
    }

    /// Returns to the first column, writes the text and erases the rest of the line (ECMA-48, EL).
    private func draw(_ text: String) {
        _ = FileDescriptorOutput.writeAll(Array("\r\(text)\u{1B}[K".utf8), to: descriptor)
    }
}
