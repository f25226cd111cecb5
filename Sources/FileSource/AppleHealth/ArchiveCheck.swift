import Dispatch
import Pipeline
import Synchronization

/// Unpacks half of the archive's other files on a second thread, while the caller unpacks the rest.
///
///     let half = ArchiveCheck(directory, limits, unpacked)
///     defer { half.cancel() }
///     … if half.isNextOurs() { try archive.drain() } …
///     try half.wait()
final class ArchiveCheck {
    private let unpacked: UnpackedCount
    private let thread = DispatchQueue(label: "vitalgate.check")
    private let failure = FailureBox()
    private var turn = Turn()

    /// Alternates between the two threads.
    private struct Turn {
        private var isOthers = true

        mutating func next() -> Bool {
            isOthers.toggle()
            return isOthers
        }
    }

    private final class FailureBox: Sendable {
        let error = Mutex<SourceError?>(nil)
    }

    /// Starts the second thread.
    ///
    /// - Parameter unpacked: counts the bytes that both threads unpack.
    init(_ directory: ZipDirectory, _ limits: ZipArchive.Limits, _ unpacked: UnpackedCount) {
        self.unpacked = unpacked
        thread.async { [failure] in
            do throws(SourceError) {
                var turn = Turn()
                let archive = ZipArchive(directory, limits: limits, unpacked: unpacked)
                while let member = try archive.nextMember() {
                    if ExportArchive.Kind(member) != nil, turn.next() { try archive.drain() }
                }
            } catch {
                failure.error.withLock { $0 = error }
            }
        }
    }

    /// Whether the caller must unpack the next of the other files.
    func isNextOurs() -> Bool { !turn.next() }

    /// Waits until the second thread has finished.
    ///
    /// - Throws: the error of the second thread.
    func wait() throws(SourceError) {
        thread.sync {}
        if let error = failure.error.withLock({ $0 }) { throw error }
    }

    /// Cancels the second thread.
    func cancel() {
        unpacked.cancel()
        thread.sync {}
    }
}
