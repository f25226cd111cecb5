import HealthModel
import SampleStore

/// Tells a command or a socket that something of some types came or went, as HealthKit's `enableBackgroundDelivery(for:frequency:)` wakes an app.
///
/// ```swift
/// let scale = try BackgroundDelivery(
///     name: "scale", types: [.bodyMass], frequency: .hourly, receiver: .command(["/usr/local/bin/weighed"]))
/// try await scale.run(for: store)      // until its task is cancelled
/// ```
///
/// What is told is a ``Message``, one line of JSON: which types, and the anchor behind which an ``AnchoredObjectQueryDescriptor``, or `vitalgate changes --after`, finds what it
/// was. It is told at least once: until the receiver has acknowledged it, it comes again, after a second, two, four, and so on up to an hour, for as long as that takes. How far
/// the receiver has come is kept beside the store under the delivery's name, so that a restart, or a power cut, goes on from there.
public struct BackgroundDelivery: Sendable {
    /// How often at most something is told.
    public enum Frequency: String, Hashable, Sendable, CaseIterable {
        /// As soon as it is committed.
        case immediate
        /// Once an hour.
        case hourly
        /// Once a day.
        case daily
    }

    /// Who is told.
    public enum Receiver: Hashable, Sendable {
        /// A program and its arguments, started each time; the line is its standard input. It acknowledges by ending with status 0.
        case command([String])
        /// A Unix stream socket that somebody listens at; the line is sent, and a line `ok` acknowledges it.
        case socket(path: String)
    }

    /// What is told.
    public struct Message: Hashable, Sendable, Codable {
        /// The delivery's name.
        public var observer: String
        /// Ids of the types that came or went.
        public var types: [String]
        /// Behind which the changes are.
        public var after: QueryAnchor
        /// Of a reader who knows them.
        public var anchor: QueryAnchor
        /// Whether the store was put back from a backup, so that the receiver has to read everything again and forget what that does not tell.
        public var resynchronise: Bool

        /// A message of its parts.
        public init(observer: String, types: [String], after: QueryAnchor, anchor: QueryAnchor, resynchronise: Bool = false) {
            (self.observer, self.types, self.after, self.anchor) = (observer, types, after, anchor)
            self.resynchronise = resynchronise
        }
    }

    /// How a delivery went, for a log.
    public enum Event: Hashable, Sendable {
        /// It was acknowledged.
        case delivered(Message)
        /// It was not, why, and after how long it comes again.
        case failed(String, again: Duration)
    }

    /// Under which its progress is kept: letters, digits, `-`, `_` and `.`, 64 at most.
    public let name: String
    /// Which types; all of them without.
    public let types: Set<SampleType>?
    /// How often at most.
    public let frequency: Frequency
    /// Who is told.
    public let receiver: Receiver
    /// How long the receiver may take to acknowledge; then it is told again.
    public var patience = Duration.seconds(60)
    /// Waits; tests have no time.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// A delivery to one receiver.
    ///
    /// - Throws: ``HealthStoreError/unsuitable(_:)`` for a name that is none, and for a command without a program.
    public init(
        name: String, types: Set<SampleType>? = nil, frequency: Frequency = .immediate, receiver: Receiver
    ) throws(HealthStoreError) {
        guard Self.isName(name) else {
            throw .unsuitable("a delivery's name has letters, digits, '-', '_' and '.', and no more than 64 of them")
        }
        if case .command(let words) = receiver, words.first?.isEmpty ?? true {
            throw .unsuitable("a delivery's command has a program")
        }
        (self.name, self.types, self.frequency, self.receiver) = (name, types, frequency, receiver)
    }

    /// Whether a delivery may be called so: letters, digits, `-`, `_` and `.`, 64 at most, and no `.` first.
    public static func isName(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 64, !name.hasPrefix(".") else { return false }
        return name.utf8.allSatisfy { byte in
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            return isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.".utf8.contains(byte)
        }
    }

    /// Delivers until the task is cancelled. A delivery that was never made begins with what is committed from now on.
    ///
    /// - Parameters:
    ///   - store: opened for reading or writing.
    ///   - tell: hears how each delivery went.
    /// - Throws: `StoreError`, of the kind `busy` where another process is at this delivery already.
    public func run(for store: HealthStore, tell: @Sendable (Event) -> Void = { _ in }) async throws {
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
                // Before the look, so that no commit falls between the two.
                let heard = try await store.commits.listen()
                guard let message = try await message(behind: &progress, of: store) else {
                    guard try await store.commits.next(after: heard) else { return }
                    continue
                }
                let pause = progress.pause(for: frequency, now: store.now())
                if pause > .zero {
                    // What comes meanwhile is told with it.
                    try await sleep(pause)
                    continue
                }
                let failure = await receiver.take(try message.line, within: patience)
                try Task.checkCancellation()
                if let failure {
                    let again = progress.fail()
                    try file.write(progress)
                    tell(.failed(failure, again: again))
                    try await sleep(again)
                } else {
                    progress.succeed(with: message.anchor, at: store.now())
                    try file.write(progress)
                    tell(.delivered(message))
                }
            }
        } catch is CancellationError {}
    }

    /// What there is to tell; `nil` where nothing is.
    private func message(behind progress: inout DeliveryProgress, of store: HealthStore) async throws -> Message? {
        let (start, types, name) = (progress.anchor, types, name)
        let (message, anchor) = try await store.readers.read { store -> (Message?, QueryAnchor) in
            do {
                let update = try store.update(after: start, of: types)
                guard !update.types.isEmpty else { return (nil, update.anchor) }
                let ids = update.types.map(\.id).sorted()
                return (Message(observer: name, types: ids, after: start, anchor: update.anchor), start)
            } catch HealthStoreError.unknownAnchor {
                let all = try types ?? Set(store.series(matching: SampleQuery()).map(\.type))
                let last = QueryAnchor(try store.lastAnchor())
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
