import CommandLineKit
import EventLoopKit
import Gateway
import Glibc

/// `status --follow`: on a terminal a page that is drawn anew when something changes, else a line for each change.
final class StatusView {
    private let context: CommandContext
    private let report: StatusReport
    private let client: StatusClient
    private let loop: EventLoop
    private let isPage: Bool
    private var latest: HubStatus?
    private var failure: (any Error)?
    /// Looks whether an answer that had begun to come is whole.
    private var timer: EventLoop.Timer?

    init(context: CommandContext, report: StatusReport, client: StatusClient) {
        self.context = context
        self.report = report
        self.client = client
        loop = EventLoop(clock: MachineClock(context.machine))
        isPage = context.streams.outputTerminal.canRedraw && context.format == .table
    }

    /// Shows what comes until a signal ends it, or the hub does. Somebody has to keep the view meanwhile.
    func run(from status: HubStatus) throws -> ExitCode {
        guard isPage else { return try runInLines(from: status) }
        HubSignals.watchView(loop.alarm)
        loop.onBell = { [weak self] in self?.answerSignals() }
        loop.watch(client.descriptor) { [weak self] _ in self?.receive() }
        // The page has a screen of its own, so that what was there before comes back; and no cursor (xterm, DECSET 1049 and 25).
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
            // Reading tells then that it was waited for long enough.
            timer = client.isInMidst ? loop.after(client.patience) { [weak self] in self?.receive() } : nil
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
        // Another size since the last time, perhaps.
        let terminal = Terminal(descriptor: STDOUT_FILENO)
        var lines = report.page(status, width: terminal.width, unicode: terminal.isUnicode).split(
            separator: "\n", omittingEmptySubsequences: false)
        let height = terminal.height ?? 24
        if lines.count > height {
            let hidden = lines.count - height + 1
            lines = lines.prefix(height - 1) + ["(\(hidden) more lines)"]
        }
        // A line that is too long would take two.
        if let width = terminal.width {
            lines = lines.map { TerminalText.truncated(String($0), to: width, ellipsis: terminal.isUnicode ? "…" : "~")[...] }
        }
        // Each line takes away the rest of the one before it, and the last what stood below (ECMA-48: CUP, EL, ED).
        let page = "\u{1B}[H" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J"
        do {
            try context.streams.output.write(page)
            try context.streams.output.flush()
        } catch {
            end(with: error)
        }
    }
}
