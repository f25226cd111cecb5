import FoundationEssentials

/// The protocol of the status socket, in lines: one request, and one answer or, for a follower, an answer for each change.
///
///     ▶ {"vitalgate":1,"ask":"status"}
///     ◀ {"vitalgate":1,"status":{"time":"2026-11-20T06:31:00.000000Z",…}}
///     ◀ {"vitalgate":1,"error":{"kind":"busy","message":"…"}}
enum StatusMessage {
    /// The protocol version. It increases when an old program could misread a new message. Additional keys do not change it.
    static let version = 1
    static let maximumRequestLength = 256
    /// An answer with the most devices, all names of the longest, is below half of it.
    static let maximumAnswerLength = 1 << 20

    enum Question: String, Codable, Sendable {
        case status, follow
        /// As long as the connection is open, readings are wanted when they come: all are committed within a second.
        case hurry
    }

    struct Request: Codable {
        var vitalgate: Int
        var ask: String
    }

    struct Answer: Codable {
        var vitalgate: Int
        var status: HubStatus?
        var error: Problem?
    }

    struct Problem: Codable {
        /// `version`, `request` or `busy`.
        var kind: String
        var message: String
    }

    static func line(asking question: Question) -> [UInt8] { encode(Request(vitalgate: version, ask: question.rawValue)) }
    static func line(_ status: HubStatus) -> [UInt8] { encode(Answer(vitalgate: version, status: status)) }
    static func line(_ problem: Problem) -> [UInt8] { encode(Answer(vitalgate: version, error: problem)) }

    /// Reads a request without its newline.
    static func question(_ line: some Collection<UInt8>) throws(StatusProblem) -> Question {
        guard let request = decode(Request.self, line) else {
            throw StatusProblem("request", "not a valid request")
        }
        guard request.vitalgate == version else {
            throw StatusProblem("version", "this hub speaks version \(version), not \(request.vitalgate)")
        }
        guard let question = Question(rawValue: request.ask) else {
            throw StatusProblem("request", "this hub answers status, follow and hurry")
        }
        return question
    }

    /// Decodes an answer without its newline, or returns `nil`.
    static func answer(_ line: some Collection<UInt8>) -> Answer? { decode(Answer.self, line) }

    /// Returns the version of a message, whatever else it contains, or `nil`.
    static func version(_ line: some Collection<UInt8>) -> Int? { decode(Version.self, line)?.vitalgate }

    private struct Version: Codable {
        var vitalgate: Int
    }

    /// Decodes a message, or returns `nil`. Invalid UTF-8 is rejected first because the decoder does not expect it in a key.
    private static func decode<Message: Decodable>(_ type: Message.Type, _ line: some Collection<UInt8>) -> Message? {
        guard String(validating: line, as: UTF8.self) != nil else { return nil }
        return try? JSONDecoder().decode(type, from: Data(line))
    }

    private static func encode(_ message: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ((try? encoder.encode(message)).map(Array.init) ?? []) + "\n".utf8
    }
}

/// The reason why a request is rejected.
struct StatusProblem: Error {
    let problem: StatusMessage.Problem
    init(_ kind: String, _ message: String) { problem = .init(kind: kind, message: message) }
}
