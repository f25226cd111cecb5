/// The subjects of a fleet. They contain no health values and no names of people.
///
/// | Subject | Sender | Receiver |
/// | --- | --- | --- |
/// | `vitalgate.FLEET.hub.STORE` | the hub with this store | a collector |
/// | `vitalgate.FLEET.join.KEY` | a hub that joins, with the key of its code | a collector |
/// | `vitalgate.FLEET.reply.STORE` or `.KEY`, and more tokens | a collector | the sender of the request |
/// | `vitalgate.FLEET.nudge.STORE` | the center, without content | the hub with this store |
/// | `vitalgate.FLEET.changed` | the center, without content | all collectors |
package struct FleetSubject: Hashable, Sendable {
    package var fleet: String

    /// A fleet by its name, or `nil` if the name is not made of 1 to 64 letters, digits, `-`, and `_`.
    package init?(fleet: String) {
        guard Self.isToken(fleet) else { return nil }
        self.fleet = fleet
    }

    /// The subject of a hub's requests. `nil` if the store's identifier cannot be part of a subject.
    package func requests(of store: String) -> String? { Self.isToken(store) ? "vitalgate.\(fleet).hub.\(store)" : nil }

    /// The subject that a collector subscribes to: the requests of all hubs.
    package var allRequests: String { "vitalgate.\(fleet).hub.*" }

    /// The subject on which a hub joins.
    ///
    /// - Parameter key: the public key of its code.
    package func joining(with key: String) -> String { "vitalgate.\(fleet).join.\(key)" }

    /// The subject that a collector subscribes to: all hubs that join.
    package var allJoining: String { "vitalgate.\(fleet).join.*" }

    /// The beginning of the subjects of replies to a client, which only this client may receive.
    ///
    /// - Parameter client: a store, or the public key of a code.
    package func replies(to client: String) -> String { "vitalgate.\(fleet).reply.\(client)" }

    /// Whether a collector may reply on this subject to the request of a client. A client can name any subject, also one that only
    /// collectors may publish to.
    package func isReply(_ subject: String, to client: String) -> Bool {
        subject.hasPrefix("\(replies(to: client)).") && !subject.contains { $0 == "*" || $0 == ">" }
    }

    package var allReplies: String { "vitalgate.\(fleet).reply" }

    /// The subject of a message that asks a hub to report.
    package func nudge(of store: String) -> String { "vitalgate.\(fleet).nudge.\(store)" }

    /// The subjects of the messages that ask any hub to report.
    package var allNudges: String { "vitalgate.\(fleet).nudge.*" }

    /// The subject of a message to all collectors after the hubs in the database have changed.
    package var changed: String { "vitalgate.\(fleet).changed" }

    /// The group of the collectors. The broker passes each request to one of them.
    package static let collectors = "collectors"

    /// The store that a request came from, or `nil` if the subject is not one of this fleet's.
    package func store(of subject: String) -> String? { last(of: subject, after: "hub") }

    /// The public key of the code that a join was sent with, or `nil` if the subject is not one of this fleet's.
    package func codeKey(of subject: String) -> String? { last(of: subject, after: "join") }

    private func last(of subject: String, after kind: String) -> String? {
        let parts = subject.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "vitalgate", parts[1] == fleet, parts[2] == kind, Self.isToken(String(parts[3]))
        else {
            return nil
        }
        return String(parts[3])
    }

    static func isToken(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F
            }
    }
}
