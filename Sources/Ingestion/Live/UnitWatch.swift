import HealthModel
import Pipeline
import SampleStore

/// Checks incoming readings for a unit that would fit far better, so that a wrong profile is noticed on the first day.
///
/// It checks after the third reading of a series, when the count has grown by half, and at least every 64 readings. Only the last
/// readings are checked. A suspicion is reported once in each run of the hub.
final class UnitWatch {
    private struct Notice: Hashable {
        var series: Int64
        var taken: String
        var fits: String
    }

    private struct Series {
        /// The number of readings since the hub started.
        var count = 0
        var next = MisunitDetector.shortest
        var first: Instant
    }

    private let types = MisunitDetector.types
    private var series: [Origin: Series] = [:]
    private var due: Set<Origin> = []
    private var reported: Set<Notice> = []

    /// The maximum number of series. Beyond it all counts start again.
    private static let maximum = 1024

    func count(_ batch: [GatedSample]) {
        for gated in batch where gated.rule == nil && types.contains(gated.sample.origin.type) {
            let origin = gated.sample.origin
            var entry = series[origin] ?? Series(first: gated.sample.start)
            entry.count += 1
            entry.first = min(entry.first, gated.sample.start)
            if entry.count >= entry.next {
                entry.next = entry.count + min(max(1, entry.count / 2), 64)
                due.insert(origin)
            }
            series[origin] = entry
        }
        if series.count > Self.maximum { series.removeAll() }
    }

    /// Checks the series that are due, and returns new suspicions.
    func look(in store: SampleStore) throws -> [Suspicion] {
        var found: [Suspicion] = []
        defer { due.removeAll() }
        for origin in due {
            guard let first = series[origin]?.first else { continue }
            for suspicion in try store.repairs.suspicions(amongLatestOf: origin) where suspicion.range.to >= first {
                let (range, series) = (suspicion.range, suspicion.series.id)
                guard reported.insert(Notice(series: series, taken: range.taken.code, fits: range.fits.code)).inserted else {
                    continue
                }
                found.append(suspicion)
            }
        }
        return found
    }
}
