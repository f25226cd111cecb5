/// Whose share of something the server uses: memory, connections, streams, places in a queue. Each payer has a share of its own, so nobody
/// can use up what others need.
package enum Payer: Hashable, Sendable {
    /// All unauthenticated clients together.
    case unauthenticated
    /// A client, identified by a unique name.
    case client(String)
    /// A person who uses the web page, identified by their UUID.
    case person(String)
}
