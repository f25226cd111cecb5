import HTTPServerKit
import HealthModel
import SampleStore

package struct ServiceSettings: Sendable {
    /// The path of the store's file.
    package var store: String
    /// The listening address and the limits of the server.
    package var server: ServerSettings
    /// The time zone of requests that name none.
    package var zone: TimeZoneRules
    /// Returns the rules of a zone by name, or `nil` if the name is unknown.
    package var zones: @Sendable (String) -> TimeZoneRules?
    /// Source and device ids or names, the best first.
    package var priority: [String]
    package var now: @Sendable () -> Instant
    /// The interval between heartbeats of a live stream without news.
    package var heartbeat = Duration.seconds(15)

    /// Returns the delay of the answer to an invalid token, from the number of invalid tokens within the last minute.
    package var delayOfGuess: @Sendable (Int) -> Duration = { GuessCounter.defaultDelay(of: $0) }

    /// Called after each invalid token or code with their number since the start.
    package var onWrongToken: @Sendable (Int) -> Void = { _ in }

    /// Called serially with whether there are live listeners: when the first one starts, when the last one ends, and after each
    /// commit in between. The writer can then commit early.
    package var following: @Sendable (Bool) -> Void = { _ in }

    /// Imports what a phone posted, and returns the account of this post. All of it is durable then. `nil` if the service accepts no posts.
    package var intake: (@Sendable (IntakePost) throws -> IngestAccount)?

    /// Whether the service checks the alerts. It does not need to if another process does, such as the hub's.
    package var checksAlerts = true

    package init(
        store: String, server: ServerSettings, zone: TimeZoneRules, zones: @escaping @Sendable (String) -> TimeZoneRules?,
        priority: [String], now: @escaping @Sendable () -> Instant
    ) {
        (self.store, self.server, self.zone, self.zones) = (store, server, zone, zones)
        (self.priority, self.now) = (priority, now)
    }
}

/// The HTTP service of a store, with access control. It has its own threads and readers, so that writers never wait for it.
///
///     let service = try HealthService(settings) { try [APISite($0)] }
///     // … until it is asked to stop:
///     service.stop()
package final class HealthService {
    package let server: HTTPServer
    package let core: ServiceCore

    /// Starts listening.
    ///
    /// - Parameter sites: Returns the parts of the service. The first that has a path gets its requests.
    /// - Throws: `StoreError`, `ServerError`.
    package init(_ settings: ServiceSettings, _ sites: (ServiceCore) throws -> [any Site]) throws {
        // This fails if there is no store.
        let store = try SampleStore(path: settings.store, access: .read)
        core = try ServiceCore(settings, owner: store.owner)
        server = try HTTPServer(settings.server, Sites(all: try sites(core)))
    }

    /// The listening address, with the actual port if a free one was requested.
    package var address: ListeningAddress { server.address }
    package var connections: Int { server.connections }
    /// The number of requests with invalid tokens or codes.
    package var wrongTokens: Int { core.guesses.count }
    package var readers: Int { core.readers.lent }

    /// Ends live streams, gives other answers some time to finish, and stops.
    package func stop() {
        server.stop()
        core.alerts?.stop()
        core.summarizer.stop()
        core.tally.enter()
    }
}
