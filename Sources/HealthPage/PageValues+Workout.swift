import HealthModel

/// Distances, durations, and paces.
extension PageValues {
    /// The length of a mile in metres.
    static let mile = 1609.344

    var usesMiles: Bool { SampleType("distanceWalkingRunning").map { unit(of: $0).code == "[mi_i]" } ?? false }

    /// A distance, such as `10.3 km` or `450 m`.
    func distance(_ metres: Double) -> String {
        if usesMiles { return "\(Self.text(metres / Self.mile, places: 2)) mi" }
        return metres < 1000 ? "\(Self.text(metres, places: 0)) m" : "\(Self.text(metres / 1000, places: 2)) km"
    }

    /// A duration on a clock, such as `1:02:05` or `29:02`.
    func clock(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds.rounded(), 0), 1e9))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(whole % 60))" : "\(minutes):\(two(whole % 60))"
    }

    /// A pace, such as `5:12 /km`.
    func pace(seconds: Double, metres: Double) -> String {
        let length = usesMiles ? Self.mile : 1000
        return metres > 0 ? "\(clock(seconds / metres * length)) /\(usesMiles ? "mi" : "km")" : "–"
    }
}
