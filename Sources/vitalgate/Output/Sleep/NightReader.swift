import HealthModel
import SampleStore

/// Combines sleep samples into nights.
struct NightReader {
    let store: SampleStore
    /// Source and device ids or names in the configured order, the best first.
    let priority: [String]

    private struct Origin: Hashable {
        var subject: String
        var source: String
        var device: String
    }

    /// The nights of a query, sorted by start.
    ///
    /// - Parameters:
    ///   - from, to: Nights that end after `from` and begin before `to` are returned. They are read completely.
    func nights(_ query: SampleQuery, from: Instant?, to: Instant?) throws -> [Night] {
        var ranks: [Origin: Int] = [:]
        for (rank, series) in try store.seriesByPriority(matching: query, priority).enumerated() {
            ranks[Origin(subject: series.subject, source: series.source, device: series.device)] = rank
        }
        var nights: [Night] = []
        var open: [String: Night] = [:]
        let cursor = try store.samples(matching: query)
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            let name = sample.origin.type.caseName(of: sample.value)
            let stage = Night.Stage(case: name)
            guard stage != nil || name == "inBed" else { continue }
            let origin = Origin(
                subject: sample.origin.subject, source: sample.origin.source.id, device: sample.origin.device?.key ?? "")
            let told = Night.StageSample(
                stretch: Night.Stretch(start: sample.start.microseconds, end: sample.end.microseconds), stage: stage,
                rank: ranks[origin] ?? ranks.count, source: sample.origin.source.name)
            let subject = sample.origin.subject
            // The limit bounds the memory for implausibly long nights.
            if open[subject]?.told.count ?? 0 < 100_000, open[subject]?.take(told) == true { continue }
            if let night = open[subject] { nights.append(night) }
            open[subject] = Night(told, subject: subject, zone: sample.zone)
        }
        nights += open.values
        return nights.filter { night in
            night.end > from?.microseconds ?? .min && night.start < to?.microseconds ?? .max
        }.sorted { ($0.start, $0.subject) < ($1.start, $1.subject) }
    }
}

extension ObjectPage {
    /// Adds the night that contains a sleep sample.
    mutating func night(around sample: Sample) throws {
        guard sample.origin.type.id == "sleepAnalysis" else { return }
        let reach: Int64 = 18 * 3_600_000_000
        let query = SampleQuery(
            types: [sample.origin.type], from: Instant(microseconds: sample.start.microseconds &- reach),
            to: Instant(microseconds: sample.end.microseconds &+ reach), subject: sample.origin.subject)
        let nights = try NightReader(store: store, priority: priority).nights(query, from: nil, to: nil)
        let start = sample.start.microseconds
        guard let night = nights.first(where: { $0.start <= start && start <= $0.end }) else { return }
        let zone = (times.isAskedFor ? nil : night.zone) ?? times.zone.offset(at: Instant(microseconds: night.start))
        let drawing = Hypnogram(night: night, zone: zone, width: page.width - 2, isUnicode: page.isUnicode)
        page.drawing("the night around it", drawing.lines())
    }
}
