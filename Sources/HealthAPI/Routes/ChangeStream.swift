import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// Changes as server-sent events. The stream holds only an anchor and borrows a reader while it reads. A waiting stream therefore
/// costs little, and a slow client blocks no other because unread changes remain in the store.
final class ChangeStream: BodyStream {
    private let site: APISite
    private var core: ServiceCore { site.core }
    private let caller: Caller
    private let types: Set<SampleType>?
    private var anchor: ClientAnchor
    private var number: UInt64?
    private var (hasBegun, hasEnded) = (false, false)
    private var lastWord = ContinuousClock.now
    let isLive = true

    /// The size of one piece in bytes.
    private static let piece = 32_768

    init(_ site: APISite, _ caller: Caller, after anchor: ClientAnchor, _ types: Set<SampleType>?) {
        (self.site, self.caller, self.anchor, self.types) = (site, caller, anchor, types)
    }

    // This precedes the first read, so that a commit in between is not missed.
    func begin(wake: @escaping @Sendable () -> Void) { number = core.bell.add(needsPromptCommits: false, wake) }

    func close() { if let number { core.bell.remove(number) } }

    // The client can continue after the last event that was sent.
    func farewell() -> [UInt8] {
        Array("event: gone\nid: \(site.anchors.text(anchor, for: caller))\ndata: {\"reason\":\"slow\"}\n\n".utf8)
    }

    /// The event for an invalid anchor: the store was restored from a backup, or changes were pruned that the client has not seen.
    /// When the client reconnects, it gets status 410.
    private static let unknown = Array("event: gone\ndata: {\"reason\":\"anchor\"}\n\n".utf8)

    func next() throws -> BodyPiece {
        var text: [UInt8] = []
        if !hasBegun {
            hasBegun = true
            // A client that is disconnected before the first change continues from here.
            text += "retry: 2000\nid: \(site.anchors.text(anchor, for: caller))\n\n".utf8
        }
        guard !hasEnded else { return .end }
        guard let look = try look() else {
            hasEnded = true
            return .bytes(text + Self.unknown)
        }
        for change in look.changes {
            text += "event: \(change.kind)\nid: \(site.anchors.text(change.anchor, for: caller))\ndata: ".utf8
            text += change.object + [0x0A, 0x0A]
        }
        if text.isEmpty, ContinuousClock.now - lastWord >= core.settings.heartbeat { text = Array(": no news\n\n".utf8) }
        guard text.isEmpty else {
            lastWord = .now
            return .bytes(text)
        }
        return .wait(atMost: max(.milliseconds(10), core.settings.heartbeat - (ContinuousClock.now - lastWord)))
    }

    /// Reads the next changes. Returns `nil` if the anchor is no longer valid.
    private func look() throws -> ChangeLook? {
        // The token is checked again, so that the stream ends with it.
        let current = try site.caller(bearing: caller.token)
        let rights = try site.grants.rights(of: current.client, bearing: current.token)
        if let number { core.bell.set(number, needsPromptCommits: rights.mayRead) }
        let reader = try site.reader(for: current)
        guard try reader.store.changes.knows(anchor.change) else { return nil }
        let look = ChangeLook(me: reader.store.owner, maximum: 100, bytes: Self.piece)
        try look.read(reader, of: current.client, after: anchor, types)
        // The grant may have been withdrawn before the last change was read.
        guard try site.grants.rights(of: current.client, bearing: current.token) == rights else { return try self.look() }
        // The next read skips changes that the client may not read.
        anchor = look.end ?? anchor
        return look
    }
}
