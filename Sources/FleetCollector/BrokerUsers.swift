import FleetProtocol

/// The part of nats-server's configuration that lets in the collectors, the enrolled hubs, and hubs with a valid code. Each hub can send
/// only as itself, and receive only its own replies.
package struct BrokerUsers: Sendable {
    /// The public keys of the collectors.
    package var collectors: [String]
    /// The public keys of the hubs with their stores.
    package var hubs: [(key: String, store: String)]
    /// The public keys of codes.
    package var codes: [String]

    /// The seconds that a client has to prove who it is. nats-server's two are too few for a small computer under load.
    private static let timeout = 15

    /// Users with their keys.
    package init(collectors: [String], hubs: [(key: String, store: String)], codes: [String]) {
        (self.collectors, self.hubs, self.codes) = (collectors, hubs, codes)
    }

    /// The configuration of the users.
    package func text(_ fleet: FleetSubject) -> String {
        var lines = collectors.map { key in
            Self.line(
                key, publish: ["\(fleet.allReplies).>", fleet.allNudges, fleet.changed],
                subscribe: [fleet.allRequests, fleet.allJoining, fleet.changed])
        }
        for hub in hubs {
            guard let requests = fleet.requests(of: hub.store) else { continue }
            lines.append(
                Self.line(
                    hub.key, publish: [requests], subscribe: ["\(fleet.replies(to: hub.store)).>", fleet.nudge(of: hub.store)]))
        }
        for key in codes {
            lines.append(Self.line(key, publish: [fleet.joining(with: key)], subscribe: ["\(fleet.replies(to: key)).>"]))
        }
        let users = lines.map { "        \($0)\n" }.joined()
        return "# Written by Vitalgate, which replaces it whenever a hub joins or is revoked.\n"
            + "authorization {\n    timeout: \(Self.timeout)\n    users: [\n\(users)    ]\n}\n"
    }

    private static func line(_ key: String, publish: [String], subscribe: [String]) -> String {
        func list(_ subjects: [String]) -> String { "[" + subjects.map { "\"\($0)\"" }.joined(separator: ", ") + "]" }
        return "{ nkey: \"\(key)\", permissions: { publish: \(list(publish)), subscribe: \(list(subscribe)) } }"
    }
}
