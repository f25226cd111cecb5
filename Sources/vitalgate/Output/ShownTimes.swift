import CommandLineKit
import HealthModel

/// The time format of tables and reports. A reading is shown in the requested zone, or else in its own, or else in the default
/// zone.
struct ShownTimes {
    /// The zone from `--time-zone`, or the configured one, or the machine's.
    let zone: TimeZoneRules
    /// Whether the zone was set by `--time-zone`.
    let isExplicit: Bool

    /// The start of a reading, such as `2026-11-20 07:31:00 +01:00`.
    func start(of sample: Sample) -> String { time(sample.start, of: sample) }

    /// A time of a reading. It has milliseconds if the device measured them. A time of arrival is no more precise than a second.
    func time(_ instant: Instant, of sample: Sample) -> String {
        let offset = (isExplicit ? nil : sample.zone) ?? zone.offset(at: instant)
        return sample.timeOrigin == .receipt ? Readable.local(instant, at: offset) : Readable.precise(instant, at: offset)
    }

    /// An instant without its own zone in the same format.
    func local(_ instant: Instant) -> String { Readable.local(instant, at: zone.offset(at: instant)) }
}
