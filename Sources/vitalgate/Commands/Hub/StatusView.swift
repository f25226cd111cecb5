import CommandLineKit
import EventLoopKit
import Glibc
import Hub

/// `status --follow`: a page on a terminal that is updated on each change, or one line per change elsewhere.
final class StatusView {
    private let context: CommandContext
    private let report: StatusReport
    private let client: StatusClient
    private let loop: EventLoop
    private let isPage: Bool
    private var latest: HubStatus?
    private var failure: (any Error)?
    /// Checks whether a partial answer is complete.
    private var timer: EventLoop.Timer?

    init(context: CommandContext, report: StatusReport, client: StatusClient) {
        self.context = context
        self.report = report
        self.client = client
        loop = EventLoop(clock: MachineClock(context.machine))
        isPage = context.streams.outputTerminal.canRedraw && context.format == .table
    }

    /// Shows updates until a signal arrives or the hub ends. The caller must keep a reference to the view.
    func run(from status: HubStatus) throws -> ExitCode {
        guard isPage else { return try runInLines(from: status) }
        HubSignals.watchView(loop.alarm)
        loop.onBell = { [weak self] in self?.answerSignals() }
        loop.watch(client.descriptor) { [weak self] _ in self?.receive() }
        // The page uses the alternate screen, so that the previous contents return, and hides the cursor (xterm, DECSET 1049 and
        // 25).
        try context.streams.output.write("\u{1B}[?1049h\u{1B}[?25l")
        show(status)
        if failure == nil { loop.run() }
        try context.streams.output.write("\u{1B}[?25h\u{1B}[?1049l")
        try context.streams.output.flush()
        if let latest { try report.write(latest) }
        guard let failure else { return .success }
        throw failure
    }

    private func runInLines(from status: HubStatus) throws -> ExitCode {
        try write(status)
        while true { for status in try client.read() { try write(status) } }
    }

    private func write(_ status: HubStatus) throws {
        try context.streams.output.write(StatusReport.object(status).line)
        try context.streams.output.flush()
    }

    private func receive() {
        do {
            if let status = try client.read().last { show(status) }
            timer?.cancel()
            // When the timer fires, reading reports the timeout.
            timer = client.isInMidst ? loop.after(client.timeout) { [weak self] in self?.receive() } : nil
        } catch {
            end(with: error)
        }
    }

    private func answerSignals() {
        if HubSignals.isStopAsked { return loop.stop() }
        if let latest { show(latest) }
    }

    private func end(with error: any Error) {
        failure = error
        loop.stop()
    }

    private func show(_ status: HubStatus) {
        latest = status
        // The terminal's size may have changed.
        let terminal = Terminal(descriptor: STDOUT_FILENO)
        var lines = report.page(status, width: terminal.width, unicode: terminal.isUnicode).split(
            separator: "\n", omittingEmptySubsequences: false)
        let height = terminal.height ?? 24
        if lines.count > height {
            let hidden = lines.count - height + 1
            lines = lines.prefix(height - 1) + ["(\(hidden) more lines)"]
        }
        // A line that is too long would wrap.
        if let width = terminal.width {
            lines = lines.map { TerminalText.truncated(String($0), to: width, ellipsis: terminal.isUnicode ? "…" : "~")[...] }
        }
        // Each line clears the rest of the previous one, and the last line clears everything below (ECMA-48: CUP, EL, ED).
        let page = "\u{1B}[H" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J"
        do {
            try context.streams.output.write(page)
            try context.streams.output.flush()
        } catch {
            end(with: error)
        }
    }
}
