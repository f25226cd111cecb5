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

    /// A sample with the gate's word.
    @inlinable public init(sample: consuming Sample, rule: GateRule?, repeats: SkipKind?, place: Place) {
        self.sample = sample
        self.rule = rule
        self.repeats = repeats
        self.place = place
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
