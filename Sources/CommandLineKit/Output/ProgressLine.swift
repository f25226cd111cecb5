import Glibc

/// One line on stderr that is drawn anew as work goes on, at most ten times a second; silent where nobody looks.
///
/// ```swift
/// var progress = ProgressLine(terminal: streams.errorTerminal, clock: monotonicNanoseconds)
/// progress.update("\(Readable.count(read)) readings")
/// progress.finish()
/// ```
public struct ProgressLine: Sendable {
    private static let interval: UInt64 = 100_000_000

    private let descriptor: Int32
    private let terminal: Terminal
    private let clock: @Sendable () -> UInt64
    private var lastDrawn: UInt64?
    private var isVisible = false

    /// `clock` counts nanoseconds and never goes back.
    public init(descriptor: Int32 = STDERR_FILENO, terminal: Terminal, clock: @escaping @Sendable () -> UInt64) {
        self.descriptor = descriptor
        self.terminal = terminal
        self.clock = clock
    }

    /// Draws the text, unless the last one is younger than a tenth of a second. The text is made only if it is drawn.
    public mutating func update(_ text: @autoclosure () -> String) {
        guard terminal.canRedraw else { return }
        let now = clock()
        if let lastDrawn, now &- lastDrawn < Self.interval { return }
        lastDrawn = now
        isVisible = true
        // One column stays free: some terminals wrap when the last one is written.
        let width = max(0, (terminal.width ?? 80) - 1)
        let line = TerminalText.truncated(
            TerminalText.sanitized(text()), to: width, ellipsis: terminal.isUnicode ? "…" : "...")
        draw(line)
    }

    /// Takes the line away, as before a note; the next ``update(_:)`` draws it again at once.
    public mutating func clear() {
        guard isVisible else { return }
        isVisible = false
        lastDrawn = nil
        draw("")
    }

    /// Takes the line away for good.
    public mutating func finish() {
        clear()
    }

    /// Back to the first column, the text, and nothing of what stood there before (ECMA-48, EL).
    private func draw(_ text: String) {
        _ = FileDescriptorOutput.writeAll(Array("\r\(text)\u{1B}[K".utf8), to: descriptor)
    }
}
