import EventLoopKit
import Ingestion

/// Runs a program once a day, such as `vitalgate store prune`, and only where the machine's clock is right: one that says 2040 after a dead battery
/// would have it remove what has to be kept.
///
/// It runs ten minutes after the start, when what waits at the start is done, and each day after. Where the clock is not right it is asked again an hour later.
public final class DailyProcess {
    private let name: String
    private let loop: EventLoop
    private let isClockRight: () -> Bool
    private var command: [String]?
    private var timer: EventLoop.Timer?
    private var process: KeptProcess?
    /// For the log.
    public var onNotice: (SourceNotice) -> Void = { _ in }

    private static let first = Duration.seconds(600)
    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)
    private static let patience = Duration.milliseconds(1500)

    /// Starts nothing yet.
    /// - Parameters:
    ///   - name: what the log calls it.
    ///   - isClockRight: whether something has set the machine's clock; asked before each run.
    public init(
        _ name: String, loop: EventLoop, isClockRight: @escaping () -> Bool = { ClockSteps.isSynchronised }
    ) {
        (self.name, self.loop, self.isClockRight) = (name, loop, isClockRight)
    }

    /// Has this command run each day from now on, its program's path in front; none: nothing any more. What runs already goes on.
    public func run(_ command: [String]?) {
        let ran = self.command != nil
        self.command = command
        if command == nil {
            timer?.cancel()
            timer = nil
        } else if !ran {
            wait(Self.first)
        }
    }

    /// Ends what runs; the store is whole after that, and what was left is done the next time.
    public func stop() {
        run(nil)
        process?.end(within: Self.patience)
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
            process = try KeptProcess(command, loop: loop) { [weak self] in self?.ended($0) }
        } catch {
            onNotice(SourceNotice(.warning, name, "\(error); tried again in a day"))
        }
    }

    private func ended(_ status: Int32) {
        process = nil
        guard status != 0 else { return }
        onNotice(SourceNotice(.warning, name, "it ended (\(KeptProcess.words(for: status))); tried again in a day"))
    }
}
