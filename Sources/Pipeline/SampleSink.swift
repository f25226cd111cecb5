import HealthModel

/// Stores samples durably.
public protocol SampleSink: AnyObject {
    /// Stores a batch durably, or nothing of it.
    /// - Returns: The outcome of each sample, in the order given.
    func store(_ batch: [GatedSample]) throws -> [SampleOutcome]
}

/// A sample with the gate's judgement.
public struct GatedSample: Sendable {
    /// The sample.
    public var sample: Sample
    /// The rule that quarantines it, if any.
    public var rule: GateRule?
    /// The kind under which it is counted if it is already stored and its source repeats itself.
    public var repeats: SkipKind?
    /// The place in the source.
    public var place: Place
    /// The received frame, kept if the gate quarantines the sample.
    public var frame: FrameText?
    /// The evidence about the device's timestamp, or `nil` for a reading without one.
    public var stamp: StampEvidence?

    /// A sample with the gate's judgement.
    @inlinable public init(sample: consuming Sample, rule: GateRule?, repeats: SkipKind?, place: Place) {
        self.sample = sample
        self.rule = rule
        self.repeats = repeats
        self.place = place
    }
}

/// The evidence about the timestamp that a device gave a measurement. All samples of one frame share it.
public struct StampEvidence: Hashable, Sendable {
    /// The reason to distrust the clock at that moment, or `nil` if it is trusted. Only a trusted timestamp identifies the measurement.
    public var doubt: ClockDoubt?
    /// Whether the timestamp is trusted.
    public var isTrusted: Bool { doubt == nil }
    /// Whether the measurement arrived when it was taken, according to its timestamp.
    public var isFresh: Bool
    /// The device's number for its record, if it numbers them.
    public var number: Int64?
    /// The time of first receipt, or `nil` if the device has the measurement in its memory and may send it again at any time.
    public var receipt: Instant?
    /// The time of first receipt, if the measurement was sent before.
    public var first: Instant?

    /// Evidence with its parts.
    public init(doubt: ClockDoubt? = nil, isFresh: Bool, number: Int64?, receipt: Instant?) {
        (self.doubt, self.isFresh, self.number, self.receipt) = (doubt, isFresh, number, receipt)
    }
}

/// The outcome for a sample.
public enum SampleOutcome: Hashable, Sendable {
    case stored
    /// Its UUID is already stored, or was stored and is deleted.
    case duplicate
    case quarantined
    /// It ended before its type's earliest permitted date.
    case refused
}
