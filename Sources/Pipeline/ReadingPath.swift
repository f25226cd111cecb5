import HealthModel

/// The way from readings to samples that everything goes: files, live devices, what `decode` shows. Times, units and identity are settled,
/// and the gate judges.
///
///     let path = ReadingPath(zone: berlin, received: now)
///     path.process(readings, of: frame, into: &output)   // for each frame, in the order in which they were made
///     path.finish(into: &output)                      // what waited for its local time to be settled
public final class ReadingPath {
    /// Settles times, units and identity.
    public let normaliser: Normaliser
    @usableFromInline let gate = Gate()

    /// - Parameters:
    ///   - zone: of local times.
    ///   - received: when the readings arrived, where ``process(_:of:received:into:)`` does not say it.
    public init(zone: TimeZoneRules, received: Instant) { normaliser = Normaliser(zone: zone, received: received) }

    /// Takes the readings of one frame: they become samples, or one refusal says why not, or they wait for their time to be settled.
    ///
    /// - Parameter received: when they arrived, where each frame comes at a time of its own.
    @inlinable public func process(
        _ readings: [Reading], of frame: RawFrame, received: Instant? = nil, into output: inout Normaliser.Output
    ) {
        let first = output.samples.count
        if let received {
            normaliser.normalise(readings, received: received, into: &output)
        } else {
            normaliser.normalise(readings, into: &output)
        }
        gate.judge(&output.samples, from: first, of: frame)
    }

    /// Takes readings that were made of several frames, and belong to none.
    public func process(_ readings: [Reading], received: Instant, into output: inout Normaliser.Output) {
        let first = output.samples.count
        normaliser.normalise(readings, received: received, into: &output)
        gate.judge(&output.samples, from: first)
    }

    /// Settles what was held back for its time. It belongs to no frame any more.
    public func finish(into output: inout Normaliser.Output) {
        let first = output.samples.count
        normaliser.finish(into: &output)
        gate.judge(&output.samples, from: first)
    }

    /// The samples that the readings of one frame alone become.
    ///
    /// - Throws: ``Refusal`` where they become none.
    public static func samples(
        of readings: [Reading], zone: TimeZoneRules, received: Instant
    ) throws(Refusal) -> [GatedSample] {
        let path = ReadingPath(zone: zone, received: received)
        var output = Normaliser.Output()
        path.normaliser.normalise(readings, into: &output)
        path.normaliser.finish(into: &output)
        path.gate.judge(&output.samples)
        if let refusal = output.refusals.first { throw refusal }
        return output.samples
    }
}
