import CommandLineKit
import HealthModel

/// How tables and reports show times: a reading's in the zone that was asked for, else in its own, else in the one that is set.
struct ShownTimes {
    /// The zone asked for by `--time-zone`, else the configured one, else the machine's.
    let zone: TimeZoneRules
    /// Whether `--time-zone` names it.
    let isAskedFor: Bool

    /// `2026-11-20 07:31:00 +01:00`, when the reading began.
    func start(of sample: Sample) -> String {
        Readable.local(sample.start, at: (isAskedFor ? nil : sample.zone) ?? zone.offset(at: sample.start))
    }

    /// The same of an instant that has no zone of its own.
    func local(_ instant: Instant) -> String { Readable.local(instant, at: zone.offset(at: instant)) }
}
