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
/// same id. A receiver that is away gets the events of the last week. An event that it refuses does not delay the later ones.
public final class AlertDelivery {
    /// The result of a step.
    public enum Outcome: Hashable, Sendable {
        /// The receiver has everything.
        case upToDate
        /// The receiver did not acknowledge a message. Try again after this pause.
        case wait(Duration)
    }

    /// The receiver's progress after the last step.
    public private(set) var receiver: AlertReceiver
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
    public init(
        _ name: String, sender: any AlertSender, store: SampleStore, text: AlertText,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: @escaping () -> Instant
    ) throws {
        (self.sender, self.store, self.text, self.generator, self.now) = (sender, store, text, generator, now)
        // No target has a dot in its name.
        lock = try TargetLock(store: store.path, target: "alerts.\(name)")
        receiver = try store.alerts.receiver(named: name)
    }

    /// Delivers all events that the receiver does not have.
    public func step() throws -> Outcome {
        try lock.holding {
            // Another process may have delivered in the meantime.
            receiver = try store.alerts.receiver(named: receiver.name)
            do {
                try show()
                while let event = try store.alerts.events(after: receiver.delivered, limit: 1).first {
                    let message = try text.message(event)
                    do throws(DeliveryError) {
                        try sender.send(message)
                    } catch {
                        guard error.isRefusal else { throw error }
                        try refuse(event.id, error)
                        continue
                    }
                    hasRefused = false
                    try succeed(event.id)
                }
                if !hasRefused { try succeed(receiver.delivered) }
                return .upToDate
            } catch let error as DeliveryError {
                return .wait(try fail(error))
            }
        }
    }

    /// Ends the connection.
    public func finish() { sender.finish() }

    private func show() throws {
        let states = try store.alerts.all().map(text.state)
        guard states != shown else { return }
        shown = nil
        try sender.show(states)
        shown = states
    }

    private func succeed(_ event: Int64) throws {
        backoff.succeed()
        var receiver = receiver
        (receiver.delivered, receiver.failing, receiver.words) = (event, nil, nil)
        try save(receiver)
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

    private func save(_ receiver: AlertReceiver) throws {
        guard receiver != self.receiver else { return }
        try store.alerts.save(receiver)
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
