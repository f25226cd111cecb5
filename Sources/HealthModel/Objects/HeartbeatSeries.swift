/// The times of heartbeats (`HKHeartbeatSeriesSample`). The beats are the points of its body.
public struct HeartbeatSeries: Hashable, Sendable, Codable {
    /// The beats, with their time, whether a gap precedes them, and the source's heart rate if it has one.
    public var points: Points

    /// The columns of a beat: `time` in microseconds after the series' start, and `gap` 1 if beats before it are missing.
    public static let columns: [Points.Column] = [.init(Points.time), .init("gap"), .init("heartRate", unit: "/min")]

    /// A series of these beats.
    public init(points: Points) { self.points = points }
}

extension HeartbeatSeries: ObjectBody {
    public var packedPoints: Points? { points }
}
