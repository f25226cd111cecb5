import HealthModel
import SampleStore

/// Who asks: a client, by a token that it has now.
struct Caller: Sendable {
    let client: Client
    let token: String

    /// By which sealed texts are bound to it: no later client has it.
    var id: String { "\(client.id) \(client.added)" }
}
