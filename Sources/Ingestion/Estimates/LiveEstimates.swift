import HealthModel
import Pipeline
import SampleStore

/// The weighings that a hub has committed but not estimated yet, and the missing facts that it has already reported.
struct LiveEstimates {
    /// The times of the first and last weighing of each person.
    private var weighed: [String: ClosedRange<Instant>] = [:]
    private var reported: Set<BodyEstimates.Missing> = []

    /// The weight and the impedance may arrive in either order.
    private static let types = Set(["bodyMass", "bodyImpedance"].compactMap { SampleType($0) })
    /// The maximum age in microseconds. Older weighings from a scale's memory are only estimated by the command.
    private static let recent = 7 * Calendar.day
    private static let around: Int64 = 120_000_000

    /// Adds the weighings of a committed batch.
    mutating func count(_ batch: [GatedSample], of estimates: [String: [ImpedanceFormula]]) {
        for gated in batch where gated.rule == nil && Self.types.contains(gated.sample.origin.type) {
            let (person, start) = (gated.sample.origin.person, gated.sample.start)
            guard estimates[person] != nil else { continue }
            let span = weighed[person] ?? start...start
            weighed[person] = min(span.lowerBound, start)...max(span.upperBound, start)
        }
    }

    /// Estimates the added weighings.
    ///
    /// - Returns: a text for each missing fact that was not reported before, without a name or a value.
    mutating func make(
        _ estimates: [String: [ImpedanceFormula]], in store: SampleStore, zone: TimeZoneRules, now: Instant
    ) throws -> [String] {
        let waiting = weighed.sorted { $0.key < $1.key }
        weighed.removeAll()
        var texts: [String] = []
        for (person, span) in waiting {
            let first = max(span.lowerBound.microseconds, now.microseconds &- Self.recent)
            guard first <= span.upperBound.microseconds else { continue }
            let range =
                Instant(microseconds: first &- Self.around)...Instant(microseconds: span.upperBound.microseconds &+ Self.around)
            for formula in estimates[person] ?? [] {
                let account = try BodyEstimates(store: store, person: person, formula: formula, zone: zone).make(
                    in: range, now: now)
                for missing in BodyEstimates.Missing.allCases
                where account.missing.contains(missing) && reported.insert(missing).inserted {
                    texts.append("body composition is not estimated for a person without " + missing.advice)
                }
            }
        }
        return texts
    }
}
