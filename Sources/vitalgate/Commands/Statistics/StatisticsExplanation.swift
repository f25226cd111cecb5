import CommandLineKit
import HealthModel
import SampleStore

/// Explains on standard error how statistics are computed.
struct StatisticsExplanation {
    let store: SampleStore
    let context: CommandContext

    func write(_ query: StatisticsQuery) throws {
        let sources = try store.sources.counting(
            matching: SampleQuery(types: [query.type], person: query.person), query.priority)
        let way: String
        if query.bySource {
            way = "each source separately"
        } else if query.countsEvery {
            way = "all sources counted"
        } else {
            way = "the first with data counts at each time"
        }
        context.note("\(query.type.id): \(Readable.count(sources.count)) series, \(way)")
        let persons = Set(sources.map(\.series.person)).count > 1 ? try store.people.names() : [:]
        for (index, source) in sources.enumerated() {
            var line = "  \(index + 1) \(SourceRevision.displayName(ofID: source.series.source, name: source.sourceName))"
            if let device = source.deviceName ?? source.model { line += ", \(device)" }
            if let person = persons[source.series.person] { line += " (\(person))" }
            if source.series.maximumDuration > 0 {
                line +=
                    ", lasting up to \(Readable.duration(nanoseconds: UInt64(clamping: source.series.maximumDuration) * 1000))"
            }
            context.note(line)
        }
        let zone =
            query.usesSampleZones
            ? "each sample's own zone, else \(query.intervals.zone.identifier)" : query.intervals.zone.identifier
        context.note("  by \(query.intervals.interval) in \(zone), reading only the requested range")
    }
}
