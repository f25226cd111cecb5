import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The readings of a type that cards, charts, averages and tables show: all but those that look as if they were in another unit. These are
/// counted in words, and a person decides about them on the page for data quality.
struct TrustedReadings {
    private let suspicions: [Suspicion]

    init(of type: SampleType, _ call: PageCall) throws {
        suspicions = try call.suspicions().all.filter { $0.series.type == type }
    }

    /// The condition on a sample, or `nil` if all readings are shown.
    func condition() throws -> SamplePredicate? {
        suspicions.isEmpty ? nil : .not(.or(try suspicions.map(Self.condition)))
    }

    /// The conditions on a person's samples, for types of which not all readings are shown.
    static func conditions(of person: String, _ call: PageCall) throws -> [SampleType: SamplePredicate] {
        let found = try person == call.person().person ? call.suspicions().all : call.site.suspicions.known(of: person)
        return try Dictionary(grouping: found, by: \.series.type).mapValues { .not(.or(try $0.map(Self.condition))) }
    }

    /// Reads the types that a person has data of today.
    static func today(_ reader: Reader, of person: String, _ call: PageCall) throws -> TodayReader {
        TodayReader(
            reader.store, zone: call.zone, priority: call.core.settings.priority, conditions: try conditions(of: person, call))
    }

    private static func condition(_ suspicion: Suspicion) throws -> SamplePredicate {
        let (range, series) = (suspicion.range, suspicion.series)
        let device = SamplePredicate.comparison(.device(.key), .equal, series.device.isEmpty ? .present : .text(series.device))
        var parts: [SamplePredicate] = [
            .comparison(.source(.id), .equal, .text(series.source)), series.device.isEmpty ? .not(device) : device,
            .comparison(.start, .atLeast, .instant(range.from)), .comparison(.start, .atMost, .instant(range.to)),
        ]
        if let condition = suspicion.condition { parts.append(try SamplePredicate(condition)) }
        return .and(parts)
    }

    /// A sentence about the readings of a period that are left out, with a link to decide about them.
    func note(from start: Instant, to end: Instant, _ call: PageCall) -> HTML {
        let count = suspicions.filter { $0.range.from < end && $0.range.to >= start }.reduce(0) {
            $0 + $1.range.count
        }
        guard count > 0 else { return "" }
        return
            "<p class=\"note\">\(call.texts("sum.leftOut", "\(count)")) <a href=\"/page/care\">\(call.texts("needs.review"))</a></p>"
    }
}
