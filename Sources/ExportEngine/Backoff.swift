/// How long to wait before a target that failed is asked again: at random between nothing and a bound that doubles with each failure, up to five
/// minutes, so that many hubs do not come back to a server that has just recovered all at once.
public struct Backoff: Sendable {
    /// The bound of the first pause.
    public static let first = Duration.seconds(1)
    /// The bound of all.
    public static let longest = Duration.seconds(300)
    private var failures = 0

    /// Nothing has failed.
    public init() {}

    /// It works again.
    public mutating func succeed() { failures = 0 }

    /// The pause after one more failure.
    public mutating func pause(using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = min(Self.longest, Self.first * (1 << min(failures, 16)))
        failures += 1
        return bound * Double.random(in: 0...1, using: &generator)
    }
}
