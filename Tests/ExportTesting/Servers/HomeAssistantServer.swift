import FoundationEssentials
import Glibc
import HTTPClientKit

/// The double of home_assistant.py, whose database outlives its process.
package final class HomeAssistantServer {
    private let server: ServerProcess
    package let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)" }
    private let options: [String]

    /// - Parameters:
    ///   - version: The version that it reports. Rows can be deleted from 2026.11 on.
    ///   - zone: Its time zone.
    ///   - options: More options of the script.
    package init(version: String = "2026.2.3", zone: String = "Europe/Berlin", options: [String] = []) throws {
        server = try ServerProcess()
        port = FreePort.find()
        self.options = ["--version", version, "--zone", zone] + options
        try start()
    }

    /// Starts it again with the database that was left.
    ///
    /// - Parameter rate: The number of rows that it writes in a second, or 0 for as many as it can.
    package func start(rate: Int = 0) throws {
        let port = port
        // One that was just killed may still listen.
        for _ in 0..<6000 where FreePort.isTaken(port) { usleep(10_000) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "home_assistant.py").path
        try server.start(
            [
                "/usr/bin/python3", script, "--port", "\(port)", "--database", server.folder + "/home-assistant.db", "--rate",
                "\(rate)",
            ] + options
        ) { FreePort.isTaken(port) }
    }

    /// Kills it. Rows that were queued in memory are lost.
    package func kill() { server.kill() }

    /// Kills it after a while, from another thread.
    package func kill(afterMicroseconds pause: UInt32) {
        let server = server
        CuttingRelay.thread {
            usleep(pause)
            server.kill()
        }
    }

    /// The number of logins that it has refused since it was started.
    package func refusedTokens() throws -> Int {
        let answer = try HTTPClient().send(HTTPRequest(.get, url + "/refused"))
        return Int(String(decoding: answer.body, as: UTF8.self)) ?? -1
    }

    /// Lets its radios hear something, in the form that home_assistant.py describes.
    package func receive(_ items: [String]) throws {
        _ = try HTTPClient().send(HTTPRequest(.post, url + "/hear", body: Array(items.joined(separator: "\n").utf8)))
    }

    /// A line for ``receive(_:)``.
    package static func advert(
        _ address: String, _ raw: String, by source: String = "AA:BB:CC:00:00:01", strength: Int = -60, _ more: String = ""
    ) -> String {
        #"{"source": "\#(source)", "address": "\#(address)", "rssi": \#(strength), "raw": "\#(raw)"\#(more)}"#
    }

    /// The adverts that it has sent to subscribers, as address and hexadecimal bytes.
    package func sentAdverts() throws -> [(address: String, raw: String)] {
        String(decoding: try HTTPClient().send(HTTPRequest(.get, url + "/told")).body, as: UTF8.self).split(separator: "\n").map {
            let parts = $0.split(separator: " ")
            return (String(parts[0]), String(parts[1]))
        }
    }

    deinit { server.stop() }
}
