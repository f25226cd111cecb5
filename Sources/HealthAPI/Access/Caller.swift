import HealthModel
import SampleStore

/// A client that is authenticated by a valid token.
struct Caller: Sendable {
    let client: Client
    let token: String

    /// The id that sealed texts are bound to. No later client has the same one.
    var id: String { "\(client.id) \(client.added)" }
}
