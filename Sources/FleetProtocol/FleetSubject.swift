/// The subjects of a fleet: `vitalgate.FLEET.hub.STORE`. They contain no health values and no names of people.
public struct FleetSubject: Hashable, Sendable {
    /// The name of the fleet.
    public var fleet: String

    /// A fleet by its name, or `nil` if the name is not made of 1 to 64 letters, digits, `-`, and `_`.
    public init?(fleet: String) {
        guard Self.isToken(fleet) else { return nil }
        self.fleet = fleet
    }

    /// The subject of a hub's requests. `nil` if the store's identifier cannot be part of a subject.
    public func requests(of store: String) -> String? { Self.isToken(store) ? "vitalgate.\(fleet).hub.\(store)" : nil }

    /// The subject that a collector subscribes to: the requests of all hubs.
    public var allRequests: String { "vitalgate.\(fleet).hub.*" }

    /// The group of the collectors. The broker passes each request to one of them.
    public static let collectors = "collectors"

    /// The store that a request came from, or `nil` if the subject is not one of this fleet's.
    public func store(of subject: String) -> String? {
        let parts = subject.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "vitalgate", parts[1] == fleet, parts[2] == "hub", Self.isToken(String(parts[3]))
        else {
            return nil
        }
        return String(parts[3])
    }

    private static func isToken(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x5F
            }
    }
}
