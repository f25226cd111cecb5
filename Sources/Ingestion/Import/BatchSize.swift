/// The number of samples of one commit of an import.
///
/// No device and no other person can save while a commit runs. It takes far longer if many sources have measured at the same time, because
/// each two of their samples are compared. A commit that took too long is therefore followed by smaller ones.
final class BatchSize {
    /// Two batches are in memory: small enough for a small machine, and large enough that commits do not wear out an SD card.
    private static let maximum = 6144
    private static let mostOfMember = 1024
    private static let least = 32
    /// The time in microseconds that a commit should take at most.
    private static let time: Int64 = 500_000

    private let maximum: Int
    private(set) var samples: Int

    /// - Parameter isOfMember: Whether a member of the household brought the file, who must not stop the others.
    init(isOfMember: Bool) {
        maximum = isOfMember ? Self.mostOfMember : Self.maximum
        samples = maximum
    }

    /// Adapts the number to the time in microseconds that the last commit took.
    func adapt(to duration: Int64) {
        if duration > Self.time {
            samples = max(Self.least, Int(Int64(samples) * Self.time / duration))
        } else {
            samples = min(maximum, samples * 2)
        }
    }
}
