import FoundationEssentials
import Glibc

/// Debian's Mosquitto, with its things in a temporary folder.
package final class Broker {
    private let server: ServerProcess
    package let port: UInt16
    package var folder: String { server.folder }

    /// - Parameter more: lines of its configuration.
    package init(_ more: (_ folder: String) throws -> [String] = { _ in ["allow_anonymous true"] }) throws {
        server = try ServerProcess(user: "mosquitto")
        port = FreePort.find()
        let lines =
            ["listener \(port) 127.0.0.1", "log_dest stderr", "log_type error", "log_type warning", "max_queued_messages 0"]
            + (try more(server.folder))
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: server.folder + "/mosquitto.conf"))
        guard access("/usr/sbin/mosquitto", X_OK) == 0, access("/usr/bin/mosquitto_sub", X_OK) == 0 else {
            throw ServerProcess.Failure("Debian's packages mosquitto and mosquitto-clients are not there: scripts/setup test")
        }
        try start()
    }

    deinit { server.stop() }

    package func start() throws {
        try server.start(["/usr/sbin/mosquitto", "-c", folder + "/mosquitto.conf"]) { FreePort.isTaken(port) }
    }

    package func crash() {
        server.kill()
        // It is the shell around it that was waited for.
        while FreePort.isTaken(port) { usleep(1000) }
    }
}

/// Hears all that is published, by Mosquitto's own client.
package final class Listener {
    package struct Message: Hashable {
        package var isRetained: Bool
        package var topic: String
        package var payload: String
    }

    private static let client = "/usr/bin/mosquitto_sub"
    private let process: ServerProcess
    private let broker: Broker
    private let entry: [String]
    private var file: String { process.folder + "/heard" }
    private var marks = 0
    private let id = "listener-\(UInt64.random(in: 0...UInt64.max))"

    /// - Parameter entry: how the broker is entered.
    package init(_ broker: Broker, entry: [String] = []) throws {
        (self.broker, self.entry) = (broker, entry)
        process = try ServerProcess()
        // A session that the broker keeps, so that nothing is missed.
        let words =
            [Self.client, "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "5", "-q", "1", "-c", "-x", "3600", "-i", id]
            + entry + ["-t", "#", "-F", "%r %t %p"]
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        try process.start(["/bin/sh", "-c", "exec \(command) > '\(file)'"]) { (try? isReceived("begin")) ?? false }
    }

    deinit { process.stop() }

    package func publish(_ topic: String, _ text: String, isRetained: Bool = false) throws {
        try ServerProcess.run(
            ["/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "5", "-q", "1"] + entry
                + ["-t", topic, "-m", text] + (isRetained ? ["-r"] : []))
    }

    private func isReceived(_ mark: String) throws -> Bool {
        try publish("test/mark", mark)
        usleep(20_000)
        return all.contains { $0.topic == "test/mark" && $0.payload == mark }
    }

    private var all: [Message] {
        let text = (try? String(decoding: Data(contentsOf: URL(filePath: file)), as: UTF8.self)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            return parts.count == 3 ? Message(isRetained: parts[0] == "1", topic: parts[1], payload: parts[2]) : nil
        }
    }

    /// All messages published so far, except the marks that name the feeding store.
    package func received() throws -> [Message] { try everything().filter { !$0.topic.contains("/mark/") } }

    /// All that was published up to now.
    package func everything() throws -> [Message] {
        marks += 1
        let mark = "\(marks)"
        try publish("test/mark", mark)
        try until("the mark") { all.contains { $0.topic == "test/mark" && $0.payload == mark } }
        return all.filter { $0.topic != "test/mark" }
    }

    /// The last message of each topic, without topics that were cleared.
    package func last() throws -> [String: String] {
        var last: [String: String] = [:]
        for message in try received() { last[message.topic] = message.payload.isEmpty ? nil : message.payload }
        return last
    }

    /// Waits at most five minutes for messages that arrive by themselves.
    package func until(_ description: String, _ isSo: () throws -> Bool) throws {
        for _ in 0..<6000 {
            if try isSo() { return }
            usleep(50_000)
        }
        throw ServerProcess.Failure("it never came: \(description)")
    }
}
