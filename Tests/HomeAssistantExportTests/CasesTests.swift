import ExportTesting
import FoundationEssentials
import PipelineTesting
import Testing
import WebSocketKit

/// The double answers as Home Assistant 2026.2.3 did when the cases were recorded, through the WebSocket client.
@Suite struct CasesTests {
    private struct Case: Decodable {
        struct Step: Decodable {
            var send: [String: JSON]
            var answer: [String: JSON]
            var note: String?
        }
        var steps: [Step]
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases")

    private func steps(_ name: String) throws -> [Case.Step] {
        try JSONDecoder().decode(Case.self, from: Data(contentsOf: Self.folder.appending(path: name + ".json"))).steps
    }

    /// Sends steps over one connection and returns the answers without their ids.
    private func answers(_ steps: [Case.Step], _ server: HomeAssistantServer) throws -> [[String: JSON]] {
        let socket = try WebSocket(server.url + "/api/websocket")
        _ = try #require(try socket.receive(within: .seconds(10)))
        try socket.send(Array(#"{"type":"auth","access_token":"good"}"#.utf8))
        _ = try #require(try socket.receive(within: .seconds(10)))
        return try steps.enumerated().map { index, step in
            var message = step.send
            message["id"] = .number(Double(index + 1))
            try socket.send(Array(JSONEncoder().encode(JSON.object(message))))
            let bytes = try #require(try socket.receive(within: .seconds(30)))
            var answer = try JSONDecoder().decode([String: JSON].self, from: Data(bytes))
            answer["id"] = nil
            return answer
        }
    }

    @Test func doubleAnswersAsRecorded() throws {
        let server = try HomeAssistantServer()
        for name in [
            "01-new-hour", "02-correction", "03-last-reading-deleted", "04-sum-march", "06-unit-relabelled", "08-refused",
        ] {
            let steps = try steps(name)
            for (step, answer) in zip(steps, try answers(steps, server)) {
                #expect(
                    JSON.object(answer).rounded == JSON.object(step.answer).rounded, "\(name): \(step.send["type"] ?? .null)")
            }
        }
    }

    @Test func rangeIsDeletedOnlyByNewVersion() throws {
        let steps = try steps("11-delete-range-2026.11")
        #expect(try answers([steps[0]], HomeAssistantServer()) == [steps[0].answer])
        let new = try HomeAssistantServer(version: "2026.11.0")
        #expect(try answers(Array(steps[1...]), new) == steps[1...].map(\.answer))
    }
}

extension JSON {
    /// The value with numbers that differ in their last digits made equal.
    fileprivate var rounded: JSON {
        switch self {
        case .number(let value): .number((value * 1e6).rounded() / 1e6)
        case .list(let values): .list(values.map(\.rounded))
        case .object(let values): .object(values.mapValues(\.rounded))
        default: self
        }
    }
}
