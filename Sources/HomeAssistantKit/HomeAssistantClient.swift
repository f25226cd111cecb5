import Formats
import FoundationEssentials
import WebSocketKit

/// A connection to Home Assistant's WebSocket.
///
///     let client = try HomeAssistantClient(address, token: token)
///     let zone = try client.configuration.timeZone
///     let rows: [String: [Row]] = try client.call("recorder/statistics_during_period", fields)
///
/// Each command waits for its answer. Events of subscriptions that arrive in between are queued for ``nextEvent(within:)``. Use
/// it from one thread.
package final class HomeAssistantClient {
    package typealias Fields = KeyValuePairs<String, (any JSONRepresentable)?>
    /// A command that was sent and whose answer is due.
    package struct Ticket: Hashable, Sendable { fileprivate let id: Int }

    /// The state of an instance, from `get_config`.
    package struct Configuration: Decodable, Sendable {
        /// The name of its zone in the tz database.
        package let timeZone: String
        /// `RUNNING`, `STARTING` or another state.
        package let state: String
        /// The names of the integrations that are set up.
        package let components: Set<String>

        private enum CodingKeys: String, CodingKey {
            case timeZone = "time_zone"
            case state, components
        }
    }

    /// The head of every message from Home Assistant.
    private struct Head: Decodable {
        struct Failure: Decodable {
            var code: String
            var message: String?
        }
        var id: Int?
        var type: String
        var success: Bool?
        var error: Failure?
        var version: String?

        private enum CodingKeys: String, CodingKey {
            case id, type, success, error
            case version = "ha_version"
        }
    }

    private struct Answer<Result: Decodable>: Decodable { var result: Result }
    /// The result of a command that returns nothing.
    package struct EmptyResult: Decodable, Sendable { package init(from decoder: any Decoder) throws {} }

    /// The oldest version with the keys that are sent: `unit_class` of `recorder/import_statistics`.
    package static let oldest = HomeAssistantRelease(year: 2025, month: 11)
    /// Home Assistant ends a connection without a token after 10 seconds.
    private static let loginTimeout = Duration.seconds(10)
    /// The time for an answer, unless another is given.
    package static let timeout = Duration.seconds(30)
    /// The maximum number of messages that wait for their reader.
    private static let maximumQueueLength = 10_000

    package let version: String
    package private(set) var configuration = Configuration(timeZone: "UTC", state: "", components: [])
    private let socket: WebSocket
    /// Home Assistant requires ids that rise.
    private var lastID = 0
    private var answers: [Int: (head: Head, bytes: [UInt8])] = [:]
    private var events: [(subscription: Ticket, bytes: [UInt8])] = []

    /// Connects and logs in.
    ///
    /// - Throws: ``HomeAssistantError`` that names the remedy.
    package init(_ address: HomeAssistantAddress, token: String, certificateAuthority: String? = nil) throws(HomeAssistantError) {
        do throws(WebSocketError) {
            socket = try WebSocket(address.webSocket, certificateAuthority: certificateAuthority)
        } catch {
            throw HomeAssistantError(error)
        }
        version = try Self.logIn(address, token, over: socket)
        guard let release = HomeAssistantRelease(version), release >= Self.oldest else {
            throw HomeAssistantError(.unfit, "Home Assistant \(version) is too old: update it to \(Self.oldest) or newer")
        }
        configuration = try call("get_config")
    }

    /// - Returns: The version.
    private static func logIn(
        _ address: HomeAssistantAddress, _ token: String, over socket: WebSocket
    ) throws(HomeAssistantError) -> String {
        let hello: Head?
        let answer: Head?
        do throws(WebSocketError) {
            hello = try socket.receive(within: loginTimeout).flatMap(head)
            // The token is sent only to a Home Assistant.
            guard hello?.type == "auth_required" else {
                throw WebSocketError(.invalid, "\(address.text) does not answer like Home Assistant")
            }
            try socket.send(JSONObject(["type": "auth", "access_token": token]).closed)
            answer = try socket.receive(within: loginTimeout).flatMap(head)
        } catch {
            throw HomeAssistantError(error)
        }
        guard let answer else { throw HomeAssistantError(.unreachable, "Home Assistant does not answer the login") }
        guard answer.type == "auth_ok" else {
            throw HomeAssistantError(
                .token,
                "Home Assistant refuses the token, which is not tried again: create a long-lived access token on your profile page "
                    + "there (Security), and store it in the token's file")
        }
        return answer.version ?? hello?.version ?? ""
    }

    /// Whether it is still setting up its integrations, so that commands may be missing.
    package var isStarting: Bool { configuration.state != "RUNNING" }

    // MARK: Commands

    /// Sends a command and waits for its result.
    ///
    /// - Throws: ``HomeAssistantError``. A command without an answer may still have been executed.
    package func call<Result: Decodable>(
        _ type: String, _ fields: Fields = [:], within timeout: Duration = timeout
    ) throws(HomeAssistantError) -> Result {
        try result(of: try send(type, fields), within: timeout)
    }

    /// Sends a command without waiting for its answer.
    package func send(_ type: String, _ fields: Fields = [:]) throws(HomeAssistantError) -> Ticket {
        lastID += 1
        var message: JSONObject = ["id": lastID, "type": type]
        message.set(fields)
        do throws(WebSocketError) { try socket.send(message.closed) } catch { throw HomeAssistantError(error) }
        return Ticket(id: lastID)
    }

    /// Waits for the result of a command.
    package func result<Result: Decodable>(
        of ticket: Ticket, within timeout: Duration = timeout
    ) throws(HomeAssistantError) -> Result {
        let end = ContinuousClock.now + timeout
        while answers[ticket.id] == nil {
            guard try receive(until: end) else { throw Self.late }
        }
        guard let answer = answers.removeValue(forKey: ticket.id) else { throw Self.late }
        guard answer.head.success == true else { throw failure(answer.head.error) }
        do {
            return try JSONDecoder().decode(Answer<Result>.self, from: Data(answer.bytes)).result
        } catch {
            // The error's own text may contain values.
            throw HomeAssistantError(.unfit, "Home Assistant \(version) answers in an unknown form")
        }
    }

    /// Returns the next message of a subscription, or `nil` if none arrives in time.
    ///
    /// - Parameter signal: A descriptor that ends the wait when it is readable.
    package func nextEvent(
        within timeout: Duration, or signal: Int32? = nil
    ) throws(HomeAssistantError) -> (subscription: Ticket, bytes: [UInt8])? {
        let end = ContinuousClock.now + timeout
        while events.isEmpty {
            guard try receive(until: end, or: signal) else { return nil }
        }
        return events.removeFirst()
    }

    package func subscribe(_ type: String) throws(HomeAssistantError) -> Ticket {
        let ticket = try send(type)
        let _: EmptyResult? = try result(of: ticket)
        return ticket
    }

    /// Answers pings and notices a closed connection. Call it every 20 seconds while nothing else is done.
    package func attend() throws(HomeAssistantError) {
        while try receive(until: .now) {}
    }

    package func close() { socket.close() }

    /// Receives one message. Returns `false` if none arrives in time.
    private func receive(until end: ContinuousClock.Instant, or signal: Int32? = nil) throws(HomeAssistantError) -> Bool {
        let bytes: [UInt8]?
        do throws(WebSocketError) {
            bytes = try socket.receive(within: max(.zero, end - .now), or: signal)
        } catch {
            throw HomeAssistantError(error)
        }
        guard let bytes else { return false }
        // Radios send thousands of events a second, so they are not decoded twice.
        if let id = Self.eventID(bytes), events.count < Self.maximumQueueLength {
            events.append((Ticket(id: id), bytes))
            return true
        }
        guard let head = Self.head(bytes), answers.count + events.count < Self.maximumQueueLength else {
            throw HomeAssistantError(.unreachable, "Home Assistant sent more than was asked for")
        }
        if head.type == "result" || head.type == "pong", let id = head.id {
            // An answer that arrives after its timeout is dropped.
            if id <= lastID { answers[id] = (head, bytes) }
        } else if head.type == "event", let id = head.id {
            events.append((Ticket(id: id), bytes))
        }
        return true
    }

    /// The id of an event in the form in which Home Assistant sends it: `{"id":7,"type":"event",…`.
    private static func eventID(_ bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: #"{"id":"#.utf8) else { return nil }
        let digits = bytes[6...].prefix { 0x30...0x39 ~= $0 }
        guard digits.count < 16, bytes[(6 + digits.count)...].starts(with: #","type":"event","#.utf8) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private func failure(_ error: Head.Failure?) -> HomeAssistantError {
        switch error?.code {
        case "unauthorized":
            return HomeAssistantError(
                .rights,
                "the token's user is not an administrator: in Home Assistant, make the user an administrator (Settings, People, "
                    + "Users), or use the token of one")
        case "unknown_command" where isStarting: return HomeAssistantError(.unreachable, "Home Assistant is still starting")
        case let code?: return HomeAssistantError(.command(code), "Home Assistant refuses a command (\(code))")
        case nil: return HomeAssistantError(.unfit, "Home Assistant \(version) answers in an unknown form")
        }
    }

    private static let late = HomeAssistantError(.unreachable, "Home Assistant does not answer in time")

    private static func head(_ bytes: [UInt8]) -> Head? { try? JSONDecoder().decode(Head.self, from: Data(bytes)) }
}
