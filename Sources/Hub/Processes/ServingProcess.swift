import EventLoopKit
import Glibc
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
    private var words: Descriptor?
    private var line: [UInt8] = []
    private static let timeout = Duration.milliseconds(1500)
    private static let maximumLineLength = 256

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
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SourceError(.inputOutput, String(cString: strerror(errno))) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        let words = Descriptor(owning: ends[0])
        do throws(SystemFailure) {
            process = try SupervisedProcess(command, memory: .serving, loop: loop, output: ends[1]) { [weak self] in
                self?.ended($0)
            }
        } catch {
            throw SourceError(.inputOutput, error.description)
        }
        self.words = words
        known = settings()
        (wrongTokens, refusals) = (0, [])
        loop.watch(words.number) { [weak self] _ in self?.readOutput() }
    }

    package func stop() {
        process?.end(within: Self.timeout)
        process = nil
        unwatchOutput()
    }

    private func ended(_ status: Int32) {
        process = nil
        unwatchOutput()
        host?.failed(self, SourceError(.inputOutput, "the process ended (\(SupervisedProcess.words(for: status)))"))
    }

    private func unwatchOutput() {
        if let words { loop.unwatch(words.number) }
        words = nil
        line.removeAll()
    }

    private func take(_ count: Int, of bound: String) {
        if let index = refusals.firstIndex(where: { $0.bound == bound }) {
            refusals[index].count = count
        } else if refusals.count < Self.maximumBounds {
            refusals.append(LoadRefusals(bound: bound, count: count, since: loop.clock.now))
        }
    }

    private static let maximumBounds = 32

    private func readOutput() {
        guard let words else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(words.number, &bytes, bytes.count)
        guard count > 0 else { return unwatchOutput() }
        for byte in bytes[..<count] {
            if byte != UInt8(ascii: "\n") {
                if line.count < Self.maximumLineLength { line.append(byte) }
                continue
            }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            if let number = words.last.flatMap({ Int($0) }) {
                if words.count == 1 { wrongTokens = number }
                if words.count == 3, words[0] == "refused" { take(number, of: String(words[1])) }
            }
            line.removeAll(keepingCapacity: true)
        }
        host?.changed(self)
    }
}
