import HealthModel

/// The path from readings to samples, shared by files, live devices and `decode`. It resolves times, units and identity, and lets the gate
/// judge.
///
///     let path = ReadingPath(zone: berlin, received: now)
///     path.process(readings, of: frame, into: &output)   // for each frame, in the order in which they were made
///     path.finish(into: &output)                         // releases readings whose local time was ambiguous
public final class ReadingPath {
    /// Resolves times, units and identity.
    public let normaliser: Normaliser
    @usableFromInline let gate = Gate()

    /// - Parameters:
    ///   - zone: The zone of local times.
    ///   - received: The time of receipt, unless ``process(_:of:received:into:)`` gets one.
    public init(zone: TimeZoneRules, received: Instant) { normaliser = Normaliser(zone: zone, received: received) }

    /// Processes the readings of one frame. They become samples, or one refusal gives the reason, or they wait until their time is
    /// resolved.
    ///
    /// - Parameter received: The time of receipt, if each frame has its own.
    @inlinable public func process(
        _ readings: [Reading], of frame: RawFrame, received: Instant? = nil, into output: inout Normaliser.Output
    ) {
        let first = output.samples.count
        if let received {
            normaliser.normalise(readings, received: received, into: &output)
        } else {
            normaliser.normalise(readings, into: &output)
        }
        gate.evaluate(&output.samples, from: first, of: frame)
    }

    /// Processes readings that were combined from several frames and belong to none.
    public func process(_ readings: [Reading], received: Instant, into output: inout Normaliser.Output) {
        let first = output.samples.count
        normaliser.normalise(readings, received: received, into: &output)
        gate.evaluate(&output.samples, from: first)
    }

    /// Releases the readings that waited for their time. They no longer belong to a frame.
    public func finish(into output: inout Normaliser.Output) {
        let first = output.samples.count
        normaliser.finish(into: &output)
        gate.evaluate(&output.samples, from: first)
    }

    /// The samples made from the readings of a single frame.
    ///
    /// - Throws: ``Refusal`` if they become none.
    public static func samples(
        of readings: [Reading], zone: TimeZoneRules, received: Instant
    ) throws(Refusal) -> [GatedSample] {
        let path = ReadingPath(zone: zone, received: received)
        var output = Normaliser.Output()
        path.normaliser.normalise(readings, into: &output)
        path.normaliser.finish(into: &output)
        path.gate.evaluate(&output.samples)
        if let refusal = output.refusals.first { throw refusal }
        return output.samples
    }
}
