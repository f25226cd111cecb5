import Dispatch
import Synchronization

@testable import HTTPServerKit

/// Knows some answers, and what became of its streams.
final class TestHandler: HTTPHandler {
    let bell = TestBell()

    /// Held up by the tests.
    let later = DispatchQueue(label: "later")
    private let turns: FairQueue

    init() { turns = FairQueue(on: later) }

    func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest {
        let body = BodyAllowance(maximum: ["echo", "later"].contains(head.path.first) ? 100_000 : 0, payer: .client("test"))
        return ResolvedRequest(body: body, queue: head.path == ["later"] ? turns : nil) { self.answer($0) }
    }

    private static var slowed: HTTPResponse {
        var problem = Problem(401, "guessed")
        problem.delay = .milliseconds(20)
        return problem.response
    }

    private static var tagged: HTTPResponse {
        var response = HTTPResponse(type: "text/plain", Array(String(repeating: "heart\n", count: 1000).utf8))
        response.headers.append(("ETag", "\"own\""))
        return response
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch request.head.path.first {
        case "echo": HTTPResponse(type: "application/octet-stream", request.body)
        case "long": HTTPResponse(type: "text/plain", Array(String(repeating: "heart\n", count: 10_000).utf8))
        case "path": HTTPResponse(type: "text/plain", Array(request.head.path.joined(separator: "|").utf8))
        case "count": HTTPResponse(type: "text/plain", CountingStream(bell))
        case "events": HTTPResponse(type: "text/event-stream", EventStream(bell))
        case "looks": HTTPResponse(type: "text/plain", LookingStream(bell))
        case "later": HTTPResponse(type: "text/plain", request.body)
        case "slowed": Self.slowed
        case "tagged": Self.tagged
        case "fails": HTTPResponse(type: "text/plain", FailingStream())
        case nil: HTTPResponse(type: "text/plain", Array("hello".utf8))
        default: Problem(404, "there is nothing here").response
        }
    }
}

/// The number of streams, and the events that they wait for.
final class TestBell: Sendable {
    struct State {
        var open = 0
        var updates = 0
        var wakes: [@Sendable () -> Void] = []
    }
    let state = Mutex(State())

    var open: Int { state.withLock { $0.open } }

    func ring() {
        let wakes = state.withLock { state in
            state.updates += 1
            return state.wakes
        }
        for wake in wakes { wake() }
    }
}

/// A line after the other, 64 MB.
final class CountingStream: BodyStream {
    private let bell: TestBell
    private var count = 0
    init(_ bell: TestBell) {
        self.bell = bell
        bell.state.withLock { $0.open += 1 }
    }
    func next() throws -> BodyPiece {
        guard count < 1000 else { return .end }
        count += 1
        return .bytes([UInt8](repeating: UInt8(ascii: "a"), count: 65_536))
    }
    func close() { bell.state.withLock { $0.open -= 1 } }
}

/// Tells each ring.
final class EventStream: BodyStream {
    private let bell: TestBell
    private var reported = 0
    let isLive = true
    init(_ bell: TestBell) {
        self.bell = bell
        bell.state.withLock { $0.open += 1 }
    }
    func begin(wake: @escaping @Sendable () -> Void) { bell.state.withLock { $0.wakes.append(wake) } }
    func next() throws -> BodyPiece {
        let updates = bell.state.withLock { $0.updates }
        guard updates == reported else {
            reported = updates
            return .bytes(Array("id: \(updates)\n\n".utf8))
        }
        return .wait(atMost: .seconds(15))
    }
    func close() { bell.state.withLock { $0.open -= 1 } }
}

/// Reads endlessly and finds nothing.
final class LookingStream: BodyStream {
    private let bell: TestBell
    init(_ bell: TestBell) {
        self.bell = bell
        bell.state.withLock { $0.open += 1 }
    }
    func next() throws -> BodyPiece { .wait(atMost: .zero) }
    func close() { bell.state.withLock { $0.open -= 1 } }
}

final class FailingStream: BodyStream {
    private var count = 0
    struct Failed: Error {}
    func next() throws -> BodyPiece {
        count += 1
        guard count < 2 else { throw Failed() }
        return .bytes(Array("so far".utf8))
    }
}
