import Dispatch
import Glibc
import SampleStore
import Synchronization

/// Computes summaries of dense series in the background, so that statistics over a year are fast. It works in small steps with
/// pauses in which others can write.
final class Summarizer: Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "vitalgate.summaries", qos: .utility)
    private let isStopped = Mutex(false)
    /// The delay before the first run, so that a hub can start undisturbed, and the pause between runs.
    private static let (start, pause) = (DispatchTimeInterval.seconds(10), DispatchTimeInterval.seconds(600))
    private static let breath = 20_000 as UInt32

    /// Starts the background work.
    ///
    /// - Parameter path: The path of the store's file.
    init(path: String) {
        self.path = path
        queue.asyncAfter(deadline: .now() + Self.start) { [weak self] in self?.work() }
    }

    private func work() {
        guard !isStopped.withLock({ $0 }) else { return }
        // If the store is busy, the next run continues. Queries read the samples of series without summaries.
        if let store = try? SampleStore(path: path, access: .write) {
            while !isStopped.withLock({ $0 }), (try? store.summarize()) == true { usleep(Self.breath) }
        }
        queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.work() }
    }

    /// Stops the work and waits for the current step.
    func stop() {
        isStopped.withLock { $0 = true }
        queue.sync {}
    }
}
