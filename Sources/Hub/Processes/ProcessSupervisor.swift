import EventLoopKit
import Ingestion

/// Keeps one process running for each target in the configuration (`vitalgate export`). A slow,
/// failed or misled process affects neither the radio nor the others, and one that ends is started again.
package final class ProcessSupervisor {
    private let loop: EventLoop
    private var running: [String: SupervisedProcess] = [:]
    private var pauses: [String: EventLoop.Timer] = [:]
    private var attempts: [String: Int] = [:]
    private var commands: [String: [String]] = [:]
    private var unlimited: Set<String> = []
    private var reporting: Set<String> = []
    private var failures: [String: String] = [:]
    private var outputs: [String: ProcessLines] = [:]
    /// Called after the state of a reporting process has changed.
    package var onChange: () -> Void = {}
    /// Called with notices for the log.
    package var onNotice: (SourceNotice) -> Void = { _ in }

    /// A process that ends sooner than this is restarted at growing intervals.
    private static let recovered = Duration.seconds(300)
    private static let timeout = Duration.milliseconds(1500)

    /// Creates the object without starting a process.
    package init(loop: EventLoop) { self.loop = loop }

    /// The states of the reporting processes, by name.
    package var states: [HubStatus.ProcessState] {
        reporting.intersection(commands.keys).sorted().map { name in
            HubStatus.ProcessState(
                name: name, started: running[name]?.started, retriesAt: pauses[name]?.at, failure: failures[name])
        }
    }

    /// Runs exactly these commands, by their names in the log, such as `target archive`. Processes with an unchanged command
    /// continue.
    ///
    /// - Parameters: - unlimited: the names of those that start programs of the user, whose need of memory is unknown. - reporting: the names of
    ///   those that write to their standard output how they are doing, in lines: `failed` with a reason, or `working`. - restarts: whether
    ///   to restart all because the configuration of their commands has changed.
    package func run(
        _ commands: [String: [String]], unlimited: Set<String> = [], reporting: Set<String> = [], restarts: Bool = false
    ) {
        for name in self.commands.keys where restarts || self.commands[name] != commands[name] {
            pauses.removeValue(forKey: name)?.cancel()
            (attempts[name], failures[name], outputs[name]) = (nil, nil, nil)
            running.removeValue(forKey: name)?.end(within: Self.timeout)
        }
        (self.commands, self.unlimited, self.reporting) = (commands, unlimited, reporting)
        for name in commands.keys.sorted() where running[name] == nil && pauses[name] == nil { start(name) }
    }

    /// Ends all processes. Delivered changes are not lost.
    package func stop() {
        commands = [:]
        for timer in pauses.values { timer.cancel() }
        pauses.removeAll()
        for process in running.values { process.stop() }
        for process in running.values { process.end(within: Self.timeout) }
        running.removeAll()
        outputs.removeAll()
    }

    private func start(_ name: String) {
        guard let command = commands[name] else { return }
        do throws(SystemFailure) {
            let output = reporting.contains(name) ? try ProcessLines(loop: loop) : nil
            running[name] = try process(name, command, output: output)
            output?.read { [weak self] in self?.take($0, from: name) }
            outputs[name] = output
            note(nil, of: name)
        } catch {
            putOff(name, "\(error)")
        }
    }

    private func process(
        _ name: String, _ command: [String], output: ProcessLines?
    ) throws(SystemFailure) -> SupervisedProcess {
        func start(_ writer: Int32?) throws(SystemFailure) -> SupervisedProcess {
            let memory: MemoryLimit? = unlimited.contains(name) ? nil : .delivery
            return try SupervisedProcess(command, memory: memory, loop: loop, output: writer) { [weak self] in
                self?.ended(name, $0)
            }
        }
        guard let output else { return try start(nil) }
        return try output.start(start)
    }

    private func take(_ lines: [String], from name: String) {
        guard let last = lines.last else { return }
        note(last.hasPrefix("failed ") ? String(last.dropFirst(7)) : nil, of: name)
    }

    private func note(_ failure: String?, of name: String) {
        guard reporting.contains(name) else { return }
        failures[name] = failure
        onChange()
    }

    private func ended(_ name: String, _ status: Int32) {
        guard let process = running.removeValue(forKey: name) else { return }
        if loop.clock.uptime - process.started > Self.recovered { attempts[name] = nil }
        putOff(name, "the process ended (\(SupervisedProcess.words(for: status)))")
    }

    private func putOff(_ name: String, _ reason: String) {
        let delay = Duration.seconds(1 << min(attempts[name, default: 0], 8))
        attempts[name, default: 0] += 1
        note(reason, of: name)
        onNotice(SourceNotice(.warning, name, "\(reason), restarting in \(delay.components.seconds) s"))
        pauses[name] = loop.after(delay) { [weak self] in
            self?.pauses[name] = nil
            self?.start(name)
        }
    }
}
