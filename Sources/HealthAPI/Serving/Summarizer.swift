import Dispatch
import Glibc
import SampleStore
import Synchronization

/// Has dense series summed up behind what is written, so that whoever asks for a year waits for none of its seconds. It writes a little at a time, with
/// pauses in which others may.
final class Summarizer: Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "vitalgate.summaries", qos: .utility)
    private let isStopped = Mutex(false)
    /// Until the first time, when a hub that starts has better to do, and between two.
    private static let (start, pause) = (DispatchTimeInterval.seconds(10), DispatchTimeInterval.seconds(600))
    private static let breath = 20_000 as UInt32

    /// - Parameter path: the store's file.
    init(path: String) {
        self.path = path
        queue.asyncAfter(deadline: .now() + Self.start) { [weak self] in self?.work() }
    }

    private func work() {
        guard !isStopped.withLock({ $0 }) else { return }
        // Where the store is busy, another time will do: what is not summed up is read.
        if let store = try? SampleStore(path: path, access: .write) {
            while !isStopped.withLock({ $0 }), (try? store.summarize()) == true { usleep(Self.breath) }
        }
        queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.work() }
    }

    /// Ends what is being done.
    func stop() {
        isStopped.withLock { $0 = true }
        queue.sync {}
    }
}
