import HealthModel

/// When and how often a device delivers, and how full its battery is: never what it measures.
public struct DeviceActivity: Sendable {
    /// When its last reading came, by the hub's clock, and by the uptime, which does not jump.
    public private(set) var last: (time: Instant, uptime: Duration)?
    /// In percent.
    public var battery: Double?
    /// Readings by minute of uptime, of the last minutes.
    private var minutes: [(minute: Int64, readings: Int)] = []

    private static let window: Int64 = 5

    /// Of a device that has not delivered yet.
    public init() {}

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

    /// Readings a minute over the last five whole minutes, or those since the first of them; nothing where none came.
    public func rate(at uptime: Duration) -> Double? {
        let now = uptime.components.seconds / 60
        let recent = minutes.filter { $0.minute > now - Self.window }
        guard let first = recent.first else { return nil }
        let seconds = Double(uptime.components.seconds - first.minute * 60)
        return Double(recent.reduce(0) { $0 + $1.readings }) * 60 / max(seconds, 60)
    }

    /// Whether nothing came for three of the expected intervals, and at least half a minute.
    public func isSilent(expecting interval: Duration?, at uptime: Duration) -> Bool {
        guard let end = silence(expecting: interval) else { return false }
        return uptime >= end
    }

    /// The uptime from which on it counts as silent, if nothing comes until then.
    public func silence(expecting interval: Duration?) -> Duration? {
        guard let interval, let last else { return nil }
        return last.uptime + max(interval * 3, .seconds(30))
    }
}
