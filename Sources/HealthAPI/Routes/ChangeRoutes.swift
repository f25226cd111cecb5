import Formats
import HTTPServerKit
import HealthModel
import SampleStore

/// The routes for changes, since an anchor or as a live stream.
enum ChangeRoutes {
    private static let after = Parameter(
        name: "after", form: .text(like: "0"), help: "The anchor of the last answer or event; 0 for all there is.")

    static let changes = Route(
        method: "GET", path: "/v1/changes", name: "changes", summary: "What was added and deleted since an anchor.",
        discussion: """
            A reader that keeps the answer's anchor sees every change exactly once. If it is granted more meanwhile, it is told as added what it may \
            read now. Where more is true there is more behind it already. An anchor is \
            of one client and one store; where it is of another, or of changes that the store no longer has, the answer is 410: begin again.
            """,
        parameters: [after, .types, .limit(10_000, "At most so many; 1000 without it.")],
        isSlow: true, answers: [.json], key: "changes", problems: [410], answer: changes)

    static let stream = Route(
        method: "GET", path: "/v1/changes/stream", name: "changeStream", summary: "Changes as they happen: server-sent events.",
        discussion: """
            Events added, deleted and pruned; an event's id is the anchor behind it, and with Last-Event-ID the stream goes on there, over any \
            distance. Without an anchor it begins with the next change. When there is no news, a comment comes every 15 seconds. A client that \
            leaves more than 32 KiB untaken for 30 seconds is told so by an event gone, and the stream ends; it may come again.
            """,
        parameters: [after, .types], answers: [.events], problems: [410], answer: stream)

    @Sendable private static func changes(_ call: Call) throws -> HTTPResponse {
        let (reader, caller) = (try call.reader(), try call.caller())
        let (start, types, seal) = (try anchor(call, call.text("after") ?? "0"), try call.types(), call.core.anchors)
        guard try reader.store.knows(start.change) else { throw gone }
        let look = ChangeLook(me: reader.store.subject, most: call.number("limit") ?? 1000)
        try look.read(reader, of: caller.client, after: start, types)
        var bytes = Array("{\"changes\":[".utf8)
        bytes += look.changes.map(\.object).joined(separator: Array(",\n".utf8))
        var tail = JSONObject()
        tail.set("anchor", seal.text(look.end ?? start, for: caller))
        tail.set("more", look.isCut)
        bytes += "],".utf8 + tail.line.dropFirst()
        return HTTPResponse(type: call.form.type, bytes)
    }

    @Sendable private static func stream(_ call: Call) throws -> HTTPResponse {
        let given = call.header("last-event-id") ?? call.text("after")
        let start: ClientAnchor
        do {
            let reader = try call.reader()
            start =
                try given.map { try anchor(call, $0) } ?? ClientAnchor(reader.store.latestAnchor(), widening: lastWidening(call))
            guard try reader.store.knows(start.change) else { throw gone }
        }
        var response = HTTPResponse(
            type: call.form.type, ChangeStream(call.core, try call.caller(), after: start, try call.types()))
        response.headers.append(("Cache-Control", "no-store"))
        return response
    }

    private static func anchor(_ call: Call, _ text: String) throws -> ClientAnchor {
        guard let anchor = call.core.anchors.anchor(text, for: try call.caller(), widening: try lastWidening(call)) else {
            throw gone
        }
        return anchor
    }

    private static func lastWidening(_ call: Call) throws -> Int64 {
        try call.reader().store.widenings(of: call.caller().client, after: .max).last
    }

    private static var gone: Problem {
        Problem(410, "this is no anchor of this client and store; begin again without it, and forget what is not told then")
    }
}
