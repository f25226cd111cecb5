import EventLoopKit
import Ingestion

/// Keeps a process running for each target and observer of the configuration (`vitalgate export`, `vitalgate observe`): one that is slow, dead or
/// fed with rubbish holds up neither the radio nor another one, and one that is brought down is started again.
public final class KeptProcesses {
    private let loop: EventLoop
    private var running: [String: KeptProcess] = [:]
    private var pauses: [String: EventLoop.Timer] = [:]
    private var attempts: [String: Int] = [:]
    private var commands: [String: [String]] = [:]
    /// For the log.
    public var onNotice: (SourceNotice) -> Void = { _ in }

    /// What ended sooner than that is started again less and less often.
    private static let recovered = Duration.seconds(300)
    private static let patience = Duration.milliseconds(1500)

    /// Starts nothing yet.
    public init(loop: EventLoop) { self.loop = loop }

    /// Has exactly these run, by the names that the log has for them, such as `target archive`; what runs already with the same command stays as it is.
    ///
    /// - Parameter restarts: end those that run and start them again, since the configuration behind their commands has changed.
    public func run(_ commands: [String: [String]], restarts: Bool = false) {
        for name in self.commands.keys where restarts || self.commands[name] != commands[name] {
            pauses.removeValue(forKey: name)?.cancel()
            attempts[name] = nil
            running.removeValue(forKey: name)?.end(within: Self.patience)
        }
        self.commands = commands
        for name in commands.keys.sorted() where running[name] == nil && pauses[name] == nil { start(name) }
    }

    /// Ends all; nothing that was delivered is lost by that.
    public func stop() {
        commands = [:]
        for timer in pauses.values { timer.cancel() }
        pauses.removeAll()
        for process in running.values { process.stop() }
        for process in running.values { process.end(within: Self.patience) }
        running.removeAll()
    }

    private func start(_ name: String) {
        guard let command = commands[name] else { return }
        do throws(SystemFailure) {
            running[name] = try KeptProcess(command, loop: loop) { [weak self] in self?.ended(name, $0) }
        } catch {
            putOff(name, "\(error)")
        }
    }

    private func ended(_ name: String, _ status: Int32) {
        guard let process = running.removeValue(forKey: name) else { return }
        if loop.clock.uptime - process.started > Self.recovered { attempts[name] = nil }
        putOff(name, "it ended (\(KeptProcess.words(for: status)))")
    }

    private func putOff(_ name: String, _ reason: String) {
        let delay = Duration.seconds(1 << min(attempts[name, default: 0], 8))
        attempts[name, default: 0] += 1
        onNotice(SourceNotice(.warning, name, "\(reason); started again in \(delay.components.seconds) s"))
        pauses[name] = loop.after(delay) { [weak self] in
            self?.pauses[name] = nil
            self?.start(name)
        }
    }
}
