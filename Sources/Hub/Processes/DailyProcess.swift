import EventLoopKit
import Ingestion

/// Runs a program once a day, such as `vitalgate store prune`, and only if the machine's clock is right. A clock that shows 2040
/// after a dead battery would remove samples that have to be kept.
///
/// The first run is ten minutes after the start, when the work of the start is done. If the clock is not right, it is checked
/// again an hour later.
package final class DailyProcess {
    private let name: String
    private let loop: EventLoop
    private let isClockRight: () -> Bool
    private var command: [String]?
    private var timer: EventLoop.Timer?
    private var process: SupervisedProcess?
    /// Called with notices for the log.
    package var onNotice: (SourceNotice) -> Void = { _ in }

    private static let first = Duration.seconds(600)
    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)
    private static let timeout = Duration.milliseconds(1500)

    /// Creates the process without starting it.
    /// - Parameters: - name: the name in the log. - isClockRight: whether the machine's clock is synchronised, checked before
    ///   each run.
    package init(
        _ name: String, loop: EventLoop, isClockRight: @escaping () -> Bool = { ClockSteps.isSynchronised }
    ) {
        (self.name, self.loop, self.isClockRight) = (name, loop, isClockRight)
    }

    /// Sets the daily command, with its program's path first. `nil` ends the daily runs. A running process continues.
    package func run(_ command: [String]?) {
        let ran = self.command != nil
        self.command = command
        if command == nil {
            timer?.cancel()
            timer = nil
        } else if !ran {
            wait(Self.first)
        }
    }

    /// Ends the running process. The store stays consistent, and the rest is done the next time.
    package func stop() {
        run(nil)
        process?.end(within: Self.timeout)
        process = nil
    }

    private func wait(_ delay: Duration) {
        timer = loop.after(delay) { [weak self] in self?.start() }
    }

    private func start() {
        guard let command else { return }
        guard isClockRight() else { return wait(Self.hour) }
        wait(Self.day)
        guard process == nil else { return }
        do throws(SystemFailure) {
            process = try SupervisedProcess(command, memory: .delivery, loop: loop) { [weak self] in self?.ended($0) }
        } catch {
            onNotice(SourceNotice(.warning, name, "\(error), retrying in a day"))
        }
    }

    private func ended(_ status: Int32) {
        process = nil
        guard status != 0 else { return }
        onNotice(SourceNotice(.warning, name, "the process ended (\(SupervisedProcess.words(for: status))), retrying in a day"))
    }
}
