import HealthModel

/// Takes samples for good.
public protocol SampleSink: AnyObject {
    /// Keeps a batch durably, or nothing of it.
    /// - Returns: what became of each sample, in the order given.
    func store(_ batch: [GatedSample]) throws -> [SampleOutcome]
}

/// A sample and the gate's judgement of it.
public struct GatedSample: Sendable {
    /// The sample.
    public var sample: Sample
    /// The rule that holds it back, where one does.
    public var rule: GateRule?
    /// What it is counted as where it is stored already, if its source repeats itself.
    public var repeats: SkipKind?
    /// Where in the source it stands.
    public var place: Place
    /// What arrived, kept where the gate holds the sample back.
    public var frame: FrameText?
    /// What is known of the device's timestamp; `nil` for a reading without one.
    public var stamp: StampEvidence?

    /// A sample with the gate's word.
    @inlinable public init(sample: consuming Sample, rule: GateRule?, repeats: SkipKind?, place: Place) {
        self.sample = sample
        self.rule = rule
        self.repeats = repeats
        self.place = place
    }
}

/// What is known of the timestamp that a device gave a measurement. All samples of one frame have the same.
public struct StampEvidence: Hashable, Sendable {
    /// Why the clock that made it is not trusted for that moment; `nil` if it is. Only then is the timestamp the identity of the measurement.
    public var doubt: ClockDoubt?
    /// Whether the timestamp is trusted.
    public var isTrusted: Bool { doubt == nil }
    /// Whether the measurement arrived as it was taken, by the time that it has.
    public var isFresh: Bool
    /// The number that the device gave its record, if it numbers them.
    public var number: Int64?
    /// When the measurement arrived first; `nil` for one that a device has in its memory and may send again at any time.
    public var receipt: Instant?

    /// Puts together what is known.
    public init(doubt: ClockDoubt? = nil, isFresh: Bool, number: Int64?, receipt: Instant?) {
        (self.doubt, self.isFresh, self.number, self.receipt) = (doubt, isFresh, number, receipt)
    }
}

/// Where a reading ended.
public enum SampleOutcome: Hashable, Sendable {
    case stored
    /// Its UUID is stored already, or was and is deleted.
    case duplicate
    case quarantined
    /// It ended before its type's earliest permitted date.
    case refused
}
