/// When a heart beat (`HKHeartbeatSeriesSample`): its beats are the points of its body.
public struct HeartbeatSeries: Hashable, Sendable, Codable {
    /// The beats: when each was, whether a gap lies before it, and the rate that the source reckons there, where it does.
    public var points: Points

    /// What a beat tells; `time` in microseconds after the series' start, `gap` 1 where beats are missing before it.
    public static let columns: [Points.Column] = [.init(Points.time), .init("gap"), .init("heartRate", unit: "/min")]

    /// A series of these beats.
    public init(points: Points) { self.points = points }
}
