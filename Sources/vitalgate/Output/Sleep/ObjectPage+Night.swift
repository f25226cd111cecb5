import HealthAnswers
import HealthModel
import SampleStore

extension ObjectPage {
    /// Adds the night that contains a sleep sample.
    mutating func night(around sample: Sample) throws {
        guard sample.origin.type.id == "sleepAnalysis" else { return }
        let reach: Int64 = 18 * 3_600_000_000
        let query = SampleQuery(
            types: [sample.origin.type], from: Instant(microseconds: sample.start.microseconds &- reach),
            to: Instant(microseconds: sample.end.microseconds &+ reach), person: sample.origin.person)
        let nights = try NightReader(store, priority: priority).nights(query, from: nil, to: nil)
        let start = sample.start.microseconds
        guard let night = nights.first(where: { $0.start <= start && start <= $0.end }) else { return }
        let zone = (times.isExplicit ? nil : night.zone) ?? times.zone.offset(at: Instant(microseconds: night.start))
        let drawing = Hypnogram(night: night, zone: zone, width: page.width - 2, isUnicode: page.isUnicode)
        page.drawing("the night around it", drawing.lines())
    }
}
