import HealthModel
import Pipeline
import SampleStore

/// Which weighings a hub has committed and not estimated yet, and what it told about them.
struct LiveEstimates {
    /// By person, from the first to the last.
    private var weighed: [String: ClosedRange<Instant>] = [:]
    private var told: Set<BodyEstimates.Missing> = []

    /// A scale may tell the weight first and the impedance later, or the other way round.
    private static let types = Set(["bodyMass", "bodyImpedance"].compactMap { SampleType($0) })
    /// What comes of a scale's memory later than so, in microseconds, is left to the command: a person's past is estimated when asked.
    private static let recent = 7 * Calendar.day
    private static let around: Int64 = 120_000_000

    /// Notes what was committed.
    mutating func count(_ batch: [GatedSample], of estimates: [String: [ImpedanceFormula]]) {
        for gated in batch where gated.rule == nil && Self.types.contains(gated.sample.origin.type) {
            let (subject, start) = (gated.sample.origin.subject, gated.sample.start)
            guard estimates[subject] != nil else { continue }
            let span = weighed[subject] ?? start...start
            weighed[subject] = min(span.lowerBound, start)...max(span.upperBound, start)
        }
    }

    /// Estimates them.
    ///
    /// - Returns: what is missing, each once; without a name, and without a value.
    mutating func make(
        _ estimates: [String: [ImpedanceFormula]], in store: SampleStore, zone: TimeZoneRules, now: Instant
    ) throws -> [String] {
        let waiting = weighed.sorted { $0.key < $1.key }
        weighed.removeAll()
        var texts: [String] = []
        for (subject, span) in waiting {
            let first = max(span.lowerBound.microseconds, now.microseconds &- Self.recent)
            guard first <= span.upperBound.microseconds else { continue }
            let range =
                Instant(microseconds: first &- Self.around)...Instant(microseconds: span.upperBound.microseconds &+ Self.around)
            for formula in estimates[subject] ?? [] {
                let account = try BodyEstimates(store: store, subject: subject, formula: formula, zone: zone).make(
                    in: range, now: now)
                for missing in BodyEstimates.Missing.allCases
                where account.missing.contains(missing) && told.insert(missing).inserted {
                    texts.append("a weighing is not estimated: of a person it is not known " + missing.advice)
                }
            }
        }
        return texts
    }
}
