import Dispatch
import Pipeline
import Synchronization

/// Unpacks every second of an archive's other files on a thread of its own, for whoever unpacks the rest.
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

    /// Whose turn it is: every second member is the other thread's.
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

    /// Begins.
    ///
    /// - Parameter unpacked: counts what both unpack.
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

    /// Whether the next of the other files is to be unpacked here.
    func isNextOurs() -> Bool { !turn.next() }

    /// Waits until the other half is through.
    ///
    /// - Throws: what is wrong with it.
    func wait() throws(SourceError) {
        thread.sync {}
        if let error = failure.error.withLock({ $0 }) { throw error }
    }

    /// Ends it wherever it is.
    func cancel() {
        unpacked.cancel()
        thread.sync {}
    }
}
