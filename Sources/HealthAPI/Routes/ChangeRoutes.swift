import Formats
import HTTPServerKit
import HealthModel
import SampleStore

/// The routes for changes, since an anchor or as a live stream.
enum ChangeRoutes {
    private static let after = Parameter(
        name: "after", form: .text(like: "0"), help: "Anchor of the last response or event, or 0 for all changes.")

    static let changes = Route(
        method: "GET", path: "/v1/changes", name: "changes", summary: "List additions and deletions since an anchor.",
        discussion: """
            A client that keeps the anchor of each response gets every change exactly once. If it is granted more access, it gets the \
            newly readable samples as added. If more is true, further changes are already available. An anchor is valid for one client \
            and one store. If it belongs to another, or to changes that the store no longer has, the response is 410, and the client \
            must start again without an anchor.
            """,
        parameters: [after, .types, .limit(10_000, "Maximum number of changes (default: 1000).")],
        isSlow: true, answers: [.json], key: "changes", problems: [410], answer: changes)

    static let stream = Route(
        method: "GET", path: "/v1/changes/stream", name: "changeStream", summary: "Stream changes as server-sent events.",
        discussion: """
            The events are added, deleted, and pruned. The id of an event is the anchor after it. Send it as Last-Event-ID to resume the \
            stream after that event, however long ago it was. The stream starts with the next change if you send no anchor. A comment is \
            sent every 15 seconds if nothing changes. If a client leaves more than 32 KiB unread for 30 seconds, the stream ends with the \
            event gone, and the client can reconnect.
            """,
        parameters: [after, .types], answers: [.events], problems: [410, 429], answer: stream)

    @Sendable private static func changes(_ call: Call) throws -> HTTPResponse {
        let (reader, caller) = (try call.reader(), try call.caller())
        let (start, types, seal) = (try anchor(call, call.text("after") ?? "0"), try call.types(), call.site.anchors)
        guard try reader.store.changes.knows(start.change) else { throw expiredAnchor }
        let look = ChangeLook(me: reader.store.owner, maximum: call.number("limit") ?? 1000)
        try look.read(reader, of: caller.client, after: start, types)
        var bytes = Array("{\"changes\":[".utf8)
        bytes += look.changes.map(\.object).joined(separator: Array(",\n".utf8))
        let tail = JSONObject(["anchor": seal.text(look.end ?? start, for: caller), "more": look.isCut])
        bytes += "],".utf8 + tail.line.dropFirst()
        return HTTPResponse(type: call.form.type, bytes)
    }

    @Sendable private static func stream(_ call: Call) throws -> HTTPResponse {
        let given = call.header("last-event-id") ?? call.text("after")
        let start: ClientAnchor
        do {
            let reader = try call.reader()
            start =
                try given.map { try anchor(call, $0) }
                ?? ClientAnchor(reader.store.changes.latestAnchor(), widening: lastWidening(call))
            guard try reader.store.changes.knows(start.change) else { throw expiredAnchor }
        }
        var response = HTTPResponse(
            type: call.form.type, ChangeStream(call.site, try call.caller(), after: start, try call.types()))
        response.headers.append(("Cache-Control", "no-store"))
        return response
    }

    private static func anchor(_ call: Call, _ text: String) throws -> ClientAnchor {
        guard let anchor = call.site.anchors.anchor(text, for: try call.caller(), widening: try lastWidening(call)) else {
            throw expiredAnchor
        }
        return anchor
    }

    private static func lastWidening(_ call: Call) throws -> Int64 {
        try call.reader().store.clients.widenings(of: call.caller().client, after: .max).last
    }

    private static var expiredAnchor: Problem {
        Problem(
            410,
            "The anchor is not valid for this client and store. Start again without it, and drop local objects that are not sent again."
        )
    }
}
