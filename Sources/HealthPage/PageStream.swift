import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// A person's new samples as server-sent events: the latest of each type with changes. A slow browser gets fewer events.
///
/// The events contain no change numbers, since these would reveal how much data other people have. After a lost connection, the
/// browser reloads the whole page.
final class PageStream: BodyStream {
    private let call: PageCall
    private let token: String
    private let session: PageSession
    private var anchor: Anchor
    private var number: UInt64?
    private var hasBegun = false
    private var lastWord = ContinuousClock.now
    let isLive = true

    /// The maximum number of changes to read individually. If there are more, the browser reloads everything.
    private static let maximum = 2000

    init(_ call: PageCall) throws {
        (self.call, token, session) = (call, call.token ?? "", try call.person())
        let reader = try call.core.readers.lend(to: session)
        anchor = try withExtendedLifetime(reader) { try reader.store.changes.latestAnchor() }
    }

    // This precedes the first read, so that a commit in between is not missed.
    // An open page does not make the hub commit early, because a tablet on the wall would wear out the card.
    func begin(wake: @escaping @Sendable () -> Void) { number = call.core.bell.add(needsPromptCommits: false, wake) }

    func close() { if let number { call.core.bell.remove(number) } }

    private struct Enough: Error {}

    func next() throws -> BodyPiece {
        var text = ""
        if !hasBegun {
            hasBegun = true
            text = "retry: 2000\n\n"
        }
        // The stream ends with its session.
        guard try isOpen() else { return hasEnded ? .end : end() }
        text += try updates()
        // The session may have ended before the last of these samples was added.
        guard try isOpen() else { return end() }
        if text.isEmpty, ContinuousClock.now - lastWord >= call.core.settings.heartbeat { text = ": no news\n\n" }
        guard text.isEmpty else {
            lastWord = .now
            return .bytes(Array(text.utf8))
        }
        return .wait(atMost: max(.milliseconds(10), call.core.settings.heartbeat - (ContinuousClock.now - lastWord)))
    }

    private func isOpen() throws -> Bool { try call.site.session(bearing: token)?.person == session.person }

    private var hasEnded = false

    private func end() -> BodyPiece {
        hasEnded = true
        return .bytes(Array("event: ended\ndata: {}\n\n".utf8))
    }

    private func updates() throws -> String {
        let reader = try call.core.readers.lend(to: session)
        return try withExtendedLifetime(reader) {
            let latest = try reader.store.changes.latestAnchor()
            var (newest, count): ([SampleType: Sample], Int) = ([:], 0)
            var isMuch = false
            func take() throws {
                count += 1
                if count > Self.maximum { throw Enough() }
            }
            do {
                try reader.store.changes.read(
                    after: anchor, types: nil, pruned: { _, _ in isMuch = true },
                    { change, _ in
                        try take()
                        guard case .added(let stored) = change else {
                            isMuch = true
                            return
                        }
                        let sample = stored.sample
                        if let other = newest[sample.origin.type], other.start > sample.start { return }
                        newest[sample.origin.type] = sample
                    })
            } catch is Enough {
                isMuch = true
            }
            anchor = latest
            if isMuch { return "event: much\ndata: {}\n\n" }
            let events = try PageLocale.language.withValue(call.texts.language) {
                try newest.values.sorted { $0.origin.type.id < $1.origin.type.id }.map { sample in
                    "event: latest\ndata: " + String(decoding: try TypeCard.json(sample, reader, call).closed, as: UTF8.self)
                        + "\n\n"
                }
            }
            return events.joined()
        }
    }
}
