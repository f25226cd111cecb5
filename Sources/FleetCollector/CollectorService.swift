import Dispatch
import FleetProtocol
import HealthModel
import NATSKit
import PostgreSQLExport

/// Runs collectors side by side until it is stopped.
public final class CollectorService: Sendable {
    private let subscription: NATSSubscription
    private let connection: NATSConnection
    private let running = DispatchGroup()

    /// Subscribes to the requests of a fleet and begins to answer them.
    ///
    /// - Parameters:
    ///   - workers: The number of requests that are handled at the same time, each on a connection to the database.
    ///   - onFailure: Receives the words of each failed request and the hub's store, without any content. Called on any thread.
    /// - Throws: ``NATSError``.
    public init(
        _ broker: NATSSettings, _ subject: FleetSubject, database: PostgreSQLSettings, workers: Int,
        now: @escaping @Sendable () -> Instant, onFailure: @escaping @Sendable (_ store: String, _ words: String) -> Void
    ) throws(NATSError) {
        connection = try NATSConnection(broker, .forever)
        subscription = try connection.subscription(subject.allRequests, group: FleetSubject.collectors)
        // Once the broker knows the subscription, hubs find the collector. A broker that is not there yet learns it later.
        try? connection.flush(milliseconds: 2000)
        for number in 0..<workers {
            // A queue of its own, because a worker waits for requests all the time.
            DispatchQueue(label: "vitalgate.collector.\(number)").async(group: running) { [self] in
                let collector = Collector(database, now: now)
                while let message = subscription.next() {
                    guard let reply = message.reply, let store = subject.store(of: message.subject) else { continue }
                    let answer = collector.reply(to: message.octets, of: store)
                    if case .failure(let error) = answer { onFailure(store, error.reason) }
                    // A reply that gets lost costs the hub one question: whether its block was stored.
                    try? connection.publish(reply, answer.octets)
                }
            }
        }
    }

    /// Handles the requests that have arrived, and ends.
    public func stop() {
        subscription.end()
        running.wait()
        try? connection.flush(milliseconds: 2000)
    }
}
