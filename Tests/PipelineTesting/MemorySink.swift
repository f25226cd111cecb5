import HealthModel
import Pipeline

/// A sink that keeps samples in memory with the guarantees of the store: each UUID once, and quarantined samples separate.
package final class MemorySink: SampleSink {
    package struct Failure: Error, Hashable, Sendable {
        package init() {}
    }

    package private(set) var samples: [SampleIdentity: Sample] = [:]
    package private(set) var stored: [SampleIdentity: Sample] = [:]
    /// Every batch and its outcomes, in order. A failed batch has no outcomes.
    package private(set) var batches: [(samples: [GatedSample], outcomes: [SampleOutcome]?)] = []
    /// Which batches fail, counted from 0.
    package var failing: Set<Int> = []

    package init() {}

    package func store(_ batch: [GatedSample]) throws -> [SampleOutcome] {
        guard !failing.contains(batches.count) else {
            batches.append((batch, nil))
            throw Failure()
        }
        var outcomes: [SampleOutcome] = []
        for gated in batch {
            let identity = gated.sample.identity
            if samples[identity] != nil || stored[identity] != nil {
                outcomes.append(.duplicate)
            } else if gated.rule != nil {
                stored[identity] = gated.sample
                outcomes.append(.quarantined)
            } else {
                samples[identity] = gated.sample
                outcomes.append(.stored)
            }
        }
        batches.append((batch, outcomes))
        return outcomes
    }
}
