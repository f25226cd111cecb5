import HealthModel

/// The ids of the sources of samples that clients write.
enum ClientSource {
    static let prefix = ReferenceRule.clientPrefix

    /// Returns the source of a client.
    static func id(of client: Int64) -> String { prefix + "\(client)" }

    /// Whether a source belongs to a client.
    static func contains(_ id: String) -> Bool { ReferenceRule.isClient(id) }
}
