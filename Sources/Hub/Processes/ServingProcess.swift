import EventLoopKit
import Ingestion
import Pipeline

/// Runs `vitalgate api serve` beside the hub, so that no request can stop the radio. The process has its own memory limit, is
/// restarted like a source, and always ends with the hub.
package final class ServingProcess: HubSource {
    package let name = "api"
    package weak var host: (any HubSourceHost)?
    /// The number of requests with an invalid token since the process was started.
    package private(set) var wrongTokens: Int? = 0
    /// The number of requests that were refused for load since the process was started.
    package var refusedForLoad: Int? { refusals.reduce(0) { $0 + $1.count } }
    /// The refused requests by bound, with the time of the first.
    package private(set) var refusals: [LoadRefusals] = []
    private let command: [String]
    private let loop: EventLoop
    private let settings: () -> [[UInt8]]
    /// The settings that the running process was started with.
    private var known: [[UInt8]] = []
    private var process: SupervisedProcess?
    private var output: ProcessLines?
    private static let timeout = Duration.milliseconds(1500)

    /// - Parameters: - command: the server's command, with its program's path first. It writes the number of invalid tokens to
    ///   its standard output, one on each line, and the number of requests refused for load after the word `refused` and the
    ///   name of the bound. - settings: returns the contents of files that the process reads only once, such
    ///   as the configuration.
    package init(_ command: [String], loop: EventLoop, settings: @escaping () -> [[UInt8]]) {
        (self.command, self.loop, self.settings) = (command, loop, settings)
    }

    /// Restarts the process if these files have changed. It reads devices from the store, so a change of a device does not
    /// interrupt it.
    package func apply(_ settings: HubSettings) {
        guard process != nil, self.settings() != known else { return }
        stop()
        do throws(SourceError) {
            try start()
        } catch {
            host?.failed(self, error)
        }
    }

    package func start() throws(SourceError) {
        do throws(SystemFailure) {
            let output = try ProcessLines(loop: loop)
            process = try output.start { [weak self, loop, command] writer throws(SystemFailure) in
                try SupervisedProcess(command, memory: .serving, loop: loop, output: writer) { self?.ended($0) }
            }
            output.read { [weak self] in self?.take($0) }
            self.output = output
        } catch {
            throw SourceError(.inputOutput, error.description)
        }
        known = settings()
        (wrongTokens, refusals) = (0, [])
    }

    package func stop() {
        process?.end(within: Self.timeout)
        (process, output) = (nil, nil)
    }

    private func ended(_ status: Int32) {
        (process, output) = (nil, nil)
        host?.failed(self, SourceError(.inputOutput, "the process ended (\(SupervisedProcess.words(for: status)))"))
    }

    private func take(_ count: Int, of bound: String) {
        if let index = refusals.firstIndex(where: { $0.bound == bound }) {
            refusals[index].count = count
        } else if refusals.count < Self.maximumBounds {
            refusals.append(LoadRefusals(bound: bound, count: count, since: loop.clock.now))
        }
    }

    private static let maximumBounds = 32

    private func take(_ lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ")
            guard let number = words.last.flatMap({ Int($0) }) else { continue }
            if words.count == 1 { wrongTokens = number }
            if words.count == 3, words[0] == "refused" { take(number, of: String(words[1])) }
        }
        host?.changed(self)
    }
}
