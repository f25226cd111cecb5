/// The time to wait before a failed target or receiver is tried again: a random pause below a bound that doubles with each failure, up to
/// five minutes. The randomness keeps many hubs from returning at once to a server that has just recovered.
package struct Backoff: Sendable {
    /// The upper bound of the first pause.
    package static let first = Duration.seconds(1)
    /// The largest upper bound.
    package static let maximumDelay = Duration.seconds(300)
    private var failures = 0

    /// Creates a backoff without failures.
    package init() {}

    /// Resets the bound after a success.
    package mutating func succeed() { failures = 0 }

    /// Returns the pause after one more failure.
    package mutating func pause(using generator: inout some RandomNumberGenerator) -> Duration {
        pause(upTo: Self.maximumDelay, using: &generator)
    }

    /// Returns the pause after one more failure, with another upper bound.
    package mutating func pause(upTo maximumDelay: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = min(maximumDelay, Self.first * (1 << min(failures, 16)))
        failures += 1
        return bound * Double.random(in: 0...1, using: &generator)
    }
}
