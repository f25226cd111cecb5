import HealthModel

/// When and how often a device delivers, and its battery level, but never its measurements.
package struct DeviceActivity: Sendable {
    /// The time of its last reading by the hub's clock, and by the uptime, which does not jump.
    package private(set) var last: (time: Instant, uptime: Duration)?
    package var battery: Double?
    /// The number of readings for each of the last minutes of uptime.
    private var minutes: [(minute: Int64, readings: Int)] = []

    private static let window: Int64 = 5

    /// Creates the activity of a device that has not delivered yet.
    package init() {}

    mutating func count(_ readings: Int, at time: Instant, uptime: Duration) {
        last = (time, uptime)
        let minute = uptime.components.seconds / 60
        if let index = minutes.indices.last, minutes[index].minute == minute {
            minutes[index].readings += readings
        } else {
            minutes.append((minute, readings))
            minutes.removeAll { $0.minute <= minute - Self.window }
        }
    }

    /// Returns the readings per minute over the last five minutes, or since the first of them with a reading. `nil` if there were
    /// no readings.
    package func rate(at uptime: Duration) -> Double? {
        let now = uptime.components.seconds / 60
        let recent = minutes.filter { $0.minute > now - Self.window }
        guard let first = recent.first else { return nil }
        let seconds = Double(uptime.components.seconds - first.minute * 60)
        return Double(recent.reduce(0) { $0 + $1.readings }) * 60 / max(seconds, 60)
    }

    /// Whether the device has been silent for three expected intervals and at least 30 seconds.
    package func isSilent(expecting interval: Duration?, at uptime: Duration) -> Bool {
        guard let end = silence(expecting: interval) else { return false }
        return uptime >= end
    }

    /// Returns the uptime from which the device counts as silent if nothing arrives.
    package func silence(expecting interval: Duration?) -> Duration? {
        guard let interval, let last else { return nil }
        return last.uptime + max(interval * 3, .seconds(30))
    }
}
