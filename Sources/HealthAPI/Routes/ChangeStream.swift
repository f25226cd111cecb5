import HTTPServerKit
import HealthModel
import SampleStore

/// Changes as server-sent events. It holds an anchor, and a reader only while it looks: so a stream that waits costs next to nothing, and one whose
/// client is slow holds up nobody, since what it has not taken is still in the store.
final class ChangeStream: BodyStream {
    private let core: ServiceCore
    private let caller: Caller
    private let types: Set<SampleType>?
    private var anchor: ClientAnchor
    private var number: UInt64?
    private var (hasBegun, hasEnded) = (false, false)
    private var lastWord = ContinuousClock.now
    let isLive = true

    /// Octets that are made at once.
    private static let piece = 32_768

    init(_ core: ServiceCore, _ caller: Caller, after anchor: ClientAnchor, _ types: Set<SampleType>?) {
        (self.core, self.caller, self.anchor, self.types) = (core, caller, anchor, types)
    }

    // Before the first look, so that no commit falls between the two.
    func begin(wake: @escaping @Sendable () -> Void) { number = core.bell.add(isHurried: false, wake) }

    func close() { if let number { core.bell.remove(number) } }

    // It goes on behind what it was told last.
    func farewell() -> [UInt8] {
        Array("event: gone\nid: \(core.anchors.text(anchor, for: caller))\ndata: {\"reason\":\"slow\"}\n\n".utf8)
    }

    /// The store was put back from a copy, or something was removed for good that the client has not seen: coming again it is told so (410).
    private static let unknown = Array("event: gone\ndata: {\"reason\":\"anchor\"}\n\n".utf8)

    func next() throws -> BodyPiece {
        var text: [UInt8] = []
        if !hasBegun {
            hasBegun = true
            // A client that is cut off before the first change goes on from here.
            text += "retry: 2000\nid: \(core.anchors.text(anchor, for: caller))\n\n".utf8
        }
        guard !hasEnded else { return .end }
        guard let look = try look() else {
            hasEnded = true
            return .octets(text + Self.unknown)
        }
        for change in look.changes {
            text += "event: \(change.kind)\nid: \(core.anchors.text(change.anchor, for: caller))\ndata: ".utf8
            text += change.object + [0x0A, 0x0A]
        }
        if text.isEmpty, ContinuousClock.now - lastWord >= core.settings.heartbeat { text = Array(": no news\n\n".utf8) }
        guard text.isEmpty else {
            lastWord = .now
            return .octets(text)
        }
        return .wait(atMost: max(.milliseconds(10), core.settings.heartbeat - (ContinuousClock.now - lastWord)))
    }

    /// `nil` where nobody knows any more how far it has come.
    private func look() throws -> ChangeLook? {
        // Whoever was let in is looked at again: a token ends, and so does what was begun with it.
        let current = try core.caller(bearing: caller.token)
        let rights = try core.grants.rights(of: current)
        if let number { core.bell.set(number, isHurried: rights.mayRead) }
        let reader = try core.reader(for: current)
        guard try reader.store.knows(anchor.change) else { return nil }
        let look = ChangeLook(me: reader.store.subject, most: 100, octets: Self.piece)
        try look.read(reader, of: current.client, after: anchor, types)
        // The grant may have been withdrawn before the last change that was read.
        guard try core.grants.rights(of: current) == rights else { return try self.look() }
        // What one may not read is not read again with each look.
        anchor = look.end ?? anchor
        return look
    }
}
