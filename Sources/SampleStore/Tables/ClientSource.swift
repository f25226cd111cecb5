import HealthModel

/// The ids of the sources of samples that clients write.
enum ClientSource {
    static let prefix = ReferenceRule.clientPrefix

    /// Returns the source of a client.
    static func id(of client: Int64) -> String { prefix + "\(client)" }

    /// Returns the number of the client in the id of a source, or `nil` if it is not the source of a client.
    static func number(in id: String) -> Int64? { contains(id) ? Int64(id.dropFirst(prefix.count)) : nil }

    /// Whether a source belongs to a client.
    static func contains(_ id: String) -> Bool { ReferenceRule.isClient(id) }
}
