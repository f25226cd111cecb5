import Dispatch
import FleetProtocol
import HealthModel
import NATSKit
import Pipeline
import PostgreSQLExport

/// Runs collectors side by side until it is stopped.
package final class CollectorService: Sendable {
    private let connection: NATSConnection
    private let subscriptions: [NATSSubscription]
    private let running = DispatchGroup()
    /// Is signalled at the end.
    private let ending = DispatchSemaphore(value: 0)

    /// The shortest time between two looks for days that are due.
    private static let dayPause = Duration.seconds(1)
    /// The time in seconds from a day's first mark to its computation while hubs send. A block after the other changes the same day.
    private static let dayDelay = 10
    /// The part of the time in which days are computed, so that it delays no delivery for long.
    private static let dayShare = 4

    /// Subscribes to the requests of a fleet and begins to answer them.
    ///
    /// - Parameters:
    ///   - opener: Opens sealed requests, or `nil` if the collector has no key.
    ///   - workers: The number of requests that are handled at the same time, each on a connection to the database.
    ///   - onFailure: Receives the words of each failed request and the hub's store, without any content. Called on any thread.
    ///   - onChange: Called on any thread when a hub has joined, or was enrolled or revoked.
    /// - Throws: ``NATSError``.
    package init(
        _ broker: NATSSettings, _ subject: FleetSubject, opener: RequestOpener? = nil, database: PostgreSQLSettings, workers: Int,
        now: @escaping @Sendable () -> Instant, onFailure: @escaping @Sendable (_ store: String, _ words: String) -> Void,
        onChange: @escaping @Sendable () -> Void = {}
    ) throws(NATSError) {
        let connection = try NATSConnection(broker, .forever)
        self.connection = connection
        let opener = opener ?? RequestOpener(fleet: subject)
        let requests = try connection.subscription(subject.allRequests, group: FleetSubject.collectors)
        let joins = try connection.subscription(subject.allJoining, group: FleetSubject.collectors)
        let changes = try connection.subscription(subject.changed)
        subscriptions = [requests, joins, changes]
        // Once the broker knows the subscriptions, hubs find the collector. A broker that is not there yet learns them later.
        try? connection.flush(milliseconds: 2000)
        let queue = RequestQueue(now: now)
        DispatchQueue(label: "vitalgate.collector.requests").async(group: running) {
            while let message = requests.next() {
                // The broker does not check a hub's reply subject, and the collector may publish to all hubs.
                guard let store = subject.store(of: message.subject), let reply = message.reply,
                    subject.isReply(reply, to: store)
                else { continue }
                queue.add(ArrivedRequest(message, subject: reply, of: store, opener), bytes: message.bytes.count, of: store)
            }
            queue.end()
        }
        for number in 0..<workers {
            DispatchQueue(label: "vitalgate.collector.worker.\(number)").async(group: running) {
                let collector = Collector(database, requiresEnrollment: opener.isRequired, now: now)
                collector.connect()
                queue.work { turns in
                    var requests: [ReceivedRequest] = []
                    var replies: [(subject: String, seal: ReplySeal?)] = []
                    for turn in turns {
                        do throws(SealFault) {
                            let opened = try turn.request.read().get()
                            requests.append(opened.request)
                            replies.append((turn.request.subject, opened.seal))
                        } catch {
                            onFailure(turn.store, error.words)
                            try? connection.publish(
                                turn.request.subject, FleetReply.failure(DeliveryError(.unreachable, error.words)).bytes)
                        }
                    }
                    collector.carryOut(requests) { index, answer in
                        if case .failure(let error) = answer { onFailure(requests[index].store, error.reason) }
                        let (reply, seal) = replies[index]
                        // A reply that gets lost costs the hub one question: whether its block was stored.
                        try? connection.publish(reply, seal?.sealed(answer.bytes) ?? answer.bytes)
                    }
                }
            }
        }
        work("joins", on: joins) {
            let collector = Collector(database, now: now)
            return { message in
                guard let reply = message.reply, let key = subject.codeKey(of: message.subject),
                    subject.isReply(reply, to: key)
                else { return }
                let answer = collector.reply(toJoin: message.bytes, with: key)
                if case .failure(let error) = answer { onFailure("that joins", error.reason) }
                try? connection.publish(reply, answer.bytes(forCode: key, subject))
                if case .joined = answer { try? connection.publish(subject.changed, []) }
            }
        }
        work("changes", on: changes) { { _ in onChange() } }
        computeDays(database, queue, now: now, onFailure: onFailure)
    }

    /// Handles the messages of a subscription one by one on a queue of its own, because it waits for them all the time.
    ///
    /// - Parameter make: Returns the handler. It and the handler run on the queue.
    private func work(
        _ label: String, on subscription: NATSSubscription, _ make: @escaping @Sendable () -> (NATSMessage) -> Void
    ) {
        DispatchQueue(label: "vitalgate.collector.\(label)").async(group: running) {
            let handle = make()
            while let message = subscription.next() { handle(message) }
        }
    }

    /// Computes the days that deliveries have changed, beside the workers.
    private func computeDays(
        _ database: PostgreSQLSettings, _ queue: RequestQueue, now: @escaping @Sendable () -> Instant,
        onFailure: @escaping @Sendable (_ store: String, _ words: String) -> Void
    ) {
        let ending = ending
        DispatchQueue(label: "vitalgate.collector.days").async(group: running) {
            let collector = Collector(database, now: now)
            var pause = Self.dayPause
            while ending.wait(timeout: .now() + pause / .seconds(1)) == .timedOut {
                let start = ContinuousClock.now
                do throws(DeliveryError) {
                    _ = try collector.computeDays(after: queue.hasWorked() ? Self.dayDelay : 0)
                } catch {
                    // The deliveries report a database that is gone.
                    if error.kind != .unreachable { onFailure("days", error.reason) }
                }
                pause = max(Self.dayPause, (ContinuousClock.now - start) * (Self.dayShare - 1))
            }
        }
    }

    /// Handles the requests that have arrived, and ends.
    package func stop() {
        ending.signal()
        for subscription in subscriptions { subscription.end() }
        running.wait()
        try? connection.flush(milliseconds: 2000)
    }
}
