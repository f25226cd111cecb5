import HealthModel
import Pipeline
import SampleStore

/// Delivers the events of alerts to one receiver, in order.
///
///     let delivery = try AlertDelivery("phone", sender: sender, store: store, text: AlertText(store), now: now)
///     while case .wait(let pause) = try delivery.step() { sleep(pause) }
///     // Again after the next check of the alerts.
///
/// The store has the events and the number of the last one that the receiver acknowledged. A kill between the two repeats an event with the
/// same id. If a receiver was away and missed many events, it gets one summary of them, after the beginnings of the alerts that are still
/// raised. An event that it refuses does not delay the later ones.
package final class AlertDelivery {
    package enum Outcome: Hashable, Sendable {
        /// The receiver has everything.
        case upToDate
        /// The receiver did not acknowledge a message. Try again after this pause.
        case wait(Duration)
    }

    /// The receiver's progress after the last step.
    package private(set) var receiver: AlertReceiver
    private let sender: any AlertSender
    private let store: SampleStore
    private let text: AlertText
    private let lock: TargetLock
    private let now: () -> Instant
    private var backoff = Backoff()
    private var generator: any RandomNumberGenerator
    private var shown: [AlertState]?
    /// Whether the receiver refused the last event, which stays visible until it accepts one.
    private var hasRefused = false

    /// Creates a delivery. A new receiver gets the events from now on.
    ///
    /// - Throws: ``StoreError``.
    package init(
        _ name: String, sender: any AlertSender, store: SampleStore, text: AlertText,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: @escaping () -> Instant
    ) throws {
        (self.sender, self.store, self.text, self.generator, self.now) = (sender, store, text, generator, now)
        // No target has a dot in its name.
        lock = try TargetLock(store: store.path, target: "alerts.\(name)")
        receiver = try store.alerts.receiver(named: name)
    }

    /// Delivers all events that the receiver does not have.
    package func step() throws -> Outcome {
        try lock.withLock {
            // Another process may have delivered in the meantime.
            receiver = try store.alerts.receiver(named: receiver.name)
            do {
                try show()
                try deliverWaiting()
                if !hasRefused { try succeed(receiver.delivered) }
                return .upToDate
            } catch let error as DeliveryError {
                return .wait(try fail(error))
            }
        }
    }

    /// Reports that alerts cannot be evaluated, or that they are evaluated again. It does not need the store.
    ///
    /// - Returns: Whether the receiver acknowledged it.
    package func report(_ event: AlertMessage.Event) -> Bool {
        do throws(DeliveryError) {
            try sender.send(text.evaluation(event, at: now()))
            return true
        } catch {
            return false
        }
    }

    /// Sends messages that are not about readings, such as about backups. It does not need the store.
    ///
    /// - Parameters:
    ///   - due: Returns the messages that the receiver does not have yet, asked when no other process delivers to it.
    ///   - sent: Called after the receiver has acknowledged a message, or refused it.
    /// - Returns: Whether the receiver has everything.
    package func notify(
        due: (AlertText) throws -> [AlertMessage], sent: (AlertMessage) throws -> Void
    ) throws -> Bool {
        try lock.withLock {
            for message in try due(text) {
                do throws(DeliveryError) {
                    try sender.send(message)
                } catch {
                    guard error.isRefusal else { return false }
                }
                try sent(message)
            }
            return true
        }
    }

    package func finish() { sender.finish() }

    /// The number of waiting events that a receiver gets one by one.
    private static let maximumSingle = 4
    private static let maximumWaiting = 1000

    private func deliverWaiting() throws {
        while true {
            let waiting = try store.alerts.events(after: receiver.delivered, limit: Self.maximumWaiting)
            guard let last = waiting.last else { return }
            guard waiting.count > Self.maximumSingle else {
                for event in waiting { try send(try text.message(event), of: [event], upTo: event.id) }
                continue
            }
            for event in Self.current(waiting) { try send(try text.message(event), of: [event], upTo: receiver.delivered) }
            try send(try text.summary(waiting), of: waiting, upTo: last.id)
        }
    }

    /// The last beginnings of the alerts that are still raised. A summary does not delay them.
    private static func current(_ waiting: [AlertEvent]) -> [AlertEvent] {
        waiting.enumerated().filter { index, event in
            event.kind == .began && event.alert.raised != nil
                && !waiting[(index + 1)...].contains { $0.alert.id == event.alert.id }
        }.map(\.element)
    }

    /// Sends a message.
    ///
    /// - Parameter number: The last event that the receiver has afterwards.
    private func send(_ message: AlertMessage, of events: [AlertEvent], upTo number: Int64) throws {
        do throws(DeliveryError) {
            try sender.send(message)
        } catch {
            guard error.isRefusal else { throw error }
            return try refuse(number, error)
        }
        hasRefused = false
        try succeed(number, events)
    }

    private func show() throws {
        let states = try store.alerts.all().map(text.state)
        guard states != shown else { return }
        shown = nil
        try sender.show(states)
        shown = states
    }

    private func succeed(_ event: Int64, _ events: [AlertEvent] = []) throws {
        backoff.succeed()
        var receiver = receiver
        (receiver.delivered, receiver.failing, receiver.words) = (event, nil, nil)
        try save(receiver, events)
    }

    /// Goes on to the next event, because the receiver will never accept this one.
    private func refuse(_ event: Int64, _ error: DeliveryError) throws {
        hasRefused = true
        var receiver = receiver
        (receiver.delivered, receiver.failing, receiver.words) = (event, receiver.failing ?? now(), error.reason)
        try save(receiver)
    }

    private func fail(_ error: DeliveryError) throws -> Duration {
        // The next attempt shows everything again.
        shown = nil
        var receiver = receiver
        (receiver.failing, receiver.words) = (receiver.failing ?? now(), error.reason)
        try save(receiver)
        let pause = backoff.pause(using: &generator)
        if case .busy(let asked) = error.kind { return max(pause, asked) }
        return pause
    }

    private func save(_ receiver: AlertReceiver, _ events: [AlertEvent] = []) throws {
        guard receiver != self.receiver || !events.isEmpty else { return }
        try store.alerts.save(receiver, acknowledged: events, at: now())
        self.receiver = receiver
    }
}

extension DeliveryError {
    /// Whether the same request will never be accepted.
    fileprivate var isRefusal: Bool {
        switch kind {
        case .refused, .refusedSome, .tooLarge: true
        default: false
        }
    }
}
