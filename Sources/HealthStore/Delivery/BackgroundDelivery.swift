import HealthModel
import SampleStore

/// Notifies a command or a socket when samples of some types were added or deleted, as HealthKit's
/// `enableBackgroundDelivery(for:frequency:)` wakes an app.
///
/// ```swift
/// let scale = try BackgroundDelivery(
///     name: "scale", types: [.bodyMass], frequency: .hourly, receiver: .command(["/usr/local/bin/weighed"]))
/// try await scale.run(for: store)   // until its task is cancelled
/// ```
///
/// The receiver gets a ``Message``, which is one line of JSON. It contains the types and the anchor to query from, with an
/// ``AnchoredObjectQueryDescriptor`` or `vitalgate changes --after`. Each message is delivered at least once. It is repeated until
/// the receiver acknowledges it, after 1 s, 2 s, 4 s and so on, up to an hour. The progress is stored beside the store under the
/// delivery's name, so that it survives a restart or a power cut.
public struct BackgroundDelivery: Sendable {
    /// The maximum rate of messages.
    public enum Frequency: String, Hashable, Sendable, CaseIterable {
        /// A message as soon as a change is committed.
        case immediate
        /// At most one message an hour.
        case hourly
        /// At most one message a day.
        case daily
    }

    /// The receiver of the messages.
    public enum Receiver: Hashable, Sendable {
        /// A program and its arguments, started for each message with the line as standard input. Exit status 0 acknowledges the
        /// message.
        case command([String])
        /// A Unix stream socket. The receiver acknowledges the line by answering with a line `ok`.
        case socket(path: String)
    }

    /// A message to the receiver.
    public struct Message: Hashable, Sendable, Codable {
        /// The delivery's name.
        public var observer: String
        /// The ids of the types with added or deleted samples.
        public var types: [String]
        /// The anchor to query the changes from.
        public var after: QueryAnchor
        /// The anchor after these changes.
        public var anchor: QueryAnchor
        /// Whether the store was restored from a backup. The receiver then has to read everything again and drop samples that are
        /// no longer in the store.
        public var resynchronise: Bool

        /// Creates a message.
        public init(observer: String, types: [String], after: QueryAnchor, anchor: QueryAnchor, resynchronise: Bool = false) {
            (self.observer, self.types, self.after, self.anchor) = (observer, types, after, anchor)
            self.resynchronise = resynchronise
        }
    }

    /// The result of one delivery, for a log.
    public enum Event: Hashable, Sendable {
        /// The receiver acknowledged the message.
        case delivered(Message)
        /// The delivery failed: the reason, and the time until the next attempt.
        case failed(String, again: Duration)
    }

    /// The name under which the progress is stored: at most 64 letters, digits, `-`, `_` and `.`.
    public let name: String
    /// The observed types, or `nil` for all types.
    public let types: Set<SampleType>?
    /// The maximum rate of messages.
    public let frequency: Frequency
    /// The receiver of the messages.
    public let receiver: Receiver
    /// The time that the receiver has to acknowledge a message. After it, the message is sent again.
    public var timeout = Duration.seconds(60)
    /// Waits for a duration. Tests replace it.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Creates a delivery to one receiver.
    ///
    /// - Throws: ``HealthStoreError/unsuitable(_:)`` for an invalid name or a command without a program.
    public init(
        name: String, types: Set<SampleType>? = nil, frequency: Frequency = .immediate, receiver: Receiver
    ) throws(HealthStoreError) {
        guard Self.isName(name) else {
            throw .unsuitable("a delivery's name has at most 64 letters, digits, '-', '_' and '.'")
        }
        if case .command(let words) = receiver, words.first?.isEmpty ?? true {
            throw .unsuitable("a delivery's command needs a program")
        }
        (self.name, self.types, self.frequency, self.receiver) = (name, types, frequency, receiver)
    }

    /// Whether the name is valid: at most 64 letters, digits, `-`, `_` and `.`, and not starting with `.`.
    public static func isName(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 64, !name.hasPrefix(".") else { return false }
        return name.utf8.allSatisfy { byte in
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            return isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.".utf8.contains(byte)
        }
    }

    /// Delivers until the task is cancelled. A new delivery starts with the changes that are committed from now on.
    ///
    /// - Parameters:
    ///   - store: A store that is open for reading or writing.
    ///   - report: Called with the result of each delivery.
    /// - Throws: `StoreError`, of the kind `busy` if another process already runs this delivery.
    public func run(for store: HealthStore, report: @Sendable (Event) -> Void = { _ in }) async throws {
        let file = try ProgressFile(store: store.path, name: name)
        var progress: DeliveryProgress
        if let known = try file.read() {
            progress = known
        } else {
            progress = DeliveryProgress(anchor: try await store.currentAnchor())
            try file.write(progress)
        }
        do {
            while !Task.isCancelled {
                // This precedes the query, so that a commit in between is not missed.
                let received = try await store.commits.listen()
                guard let message = try await message(after: &progress, of: store) else {
                    guard try await store.commits.next(after: received) else { return }
                    continue
                }
                let pause = progress.pause(for: frequency, now: store.now())
                if pause > .zero {
                    // Changes that arrive during the pause are part of the next message.
                    try await sleep(pause)
                    continue
                }
                let failure = await receiver.take(try message.line, within: timeout)
                try Task.checkCancellation()
                if let failure {
                    let again = progress.fail()
                    try file.write(progress)
                    report(.failed(failure, again: again))
                    try await sleep(again)
                } else {
                    progress.succeed(with: message.anchor, at: store.now())
                    try file.write(progress)
                    report(.delivered(message))
                }
            }
        } catch is CancellationError {}
    }

    /// The next message, or `nil` if there is nothing to report.
    private func message(after progress: inout DeliveryProgress, of store: HealthStore) async throws -> Message? {
        let (start, types, name) = (progress.anchor, types, name)
        let (message, anchor) = try await store.readers.read { store -> (Message?, QueryAnchor) in
            do {
                let update = try store.update(after: start, of: types)
                guard !update.types.isEmpty else { return (nil, update.anchor) }
                let ids = update.types.map(\.id).sorted()
                return (Message(observer: name, types: ids, after: start, anchor: update.anchor), start)
            } catch HealthStoreError.unknownAnchor {
                let all = try types ?? Set(store.samples.series(matching: SampleQuery()).map(\.type))
                let last = QueryAnchor(try store.changes.lastAnchor())
                return (
                    Message(
                        observer: name, types: all.map(\.id).sorted(), after: .beginning, anchor: last, resynchronise: true),
                    start
                )
            }
        }
        progress.anchor = anchor
        return message
    }
}
