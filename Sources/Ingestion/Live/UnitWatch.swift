import HealthModel
import Pipeline
import SampleStore

/// Looks, while readings come, for those that would fit far better in another unit: so that a wrong profile is noticed on the first day.
///
/// It looks after the third reading of a series, whenever there are half as many again, and after every 64 at the latest; each time at the
/// last readings alone. What it has told once is not told again while the hub runs.
final class UnitWatch {
    private struct Told: Hashable {
        var series: Int64
        var taken: String
        var fits: String
    }

    private struct Series {
        /// Since the hub started.
        var count = 0
        var next = MisunitDetector.shortest
        var first: Instant
    }

    private let types = MisunitDetector.types
    private var series: [Origin: Series] = [:]
    private var due: Set<Origin> = []
    private var told: Set<Told> = []

    /// Devices that come and go over the years; beyond that all begin anew.
    private static let maximum = 1024

    /// Counts readings that were committed.
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

    /// Looks where it is time to; tells what it has not told yet.
    func look(in store: SampleStore) throws -> [Suspicion] {
        var found: [Suspicion] = []
        defer { due.removeAll() }
        for origin in due {
            guard let first = series[origin]?.first else { continue }
            for suspicion in try store.suspicions(amongLatestOf: origin) where suspicion.stretch.to >= first {
                let (stretch, series) = (suspicion.stretch, suspicion.series.id)
                guard told.insert(Told(series: series, taken: stretch.taken.code, fits: stretch.fits.code)).inserted else {
                    continue
                }
                found.append(suspicion)
            }
        }
        return found
    }
}
