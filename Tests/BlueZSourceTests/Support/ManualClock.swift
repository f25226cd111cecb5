import EventLoopKit
import HealthModel

@testable import BlueZSource

/// Stands until the test moves it.
final class ManualClock: SourceClock {
    var uptime: Duration = .seconds(1000)
    /// 2026-11-20T06:31:00Z
    var start = Instant(seconds: 1_795_156_260)

    var now: Instant {
        let (seconds, attoseconds) = (uptime - .seconds(1000)).components
        return Instant(microseconds: start.microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
