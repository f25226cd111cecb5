import Glibc
import HealthAnswers
import HealthModel

/// A map of a route from its locations alone, with north at the top and a scale.
struct RouteDrawing {
    let tracks: [RouteTrack]

    private static let (width, margin, tallest) = (360.0, 16.0, 360.0)
    private static let metresPerDegree = 111_195.0

    static func html(of route: Sample, _ call: PageCall) -> HTML {
        RouteTrack(route).map { RouteDrawing(tracks: [$0]).html(call) } ?? ""
    }

    func html(_ call: PageCall) -> HTML {
        let all = tracks.flatMap(\.locations)
        guard let first = all.first, let south = all.map(\.latitude).min(), let north = all.map(\.latitude).max() else {
            return ""
        }
        // Degrees of longitude are shorter by the cosine of the latitude.
        let narrow = max(cos((south + north) / 2 * .pi / 180), 0.01)
        let (xs, ys) = (all.map { ($0.longitude - first.longitude) * narrow }, all.map { -$0.latitude })
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else { return "" }
        let inner = Self.width - 2 * Self.margin
        let scale = min(inner / max(right - left, 1e-5), (Self.tallest - 2 * Self.margin) / max(bottom - top, 1e-5))
        let height = max(120, (bottom - top) * scale + 2 * Self.margin + 20)
        func place(_ location: RouteTrack.Location) -> (x: Double, y: Double) {
            let x = ((location.longitude - first.longitude) * narrow - left) * scale
            return ((Self.width - (right - left) * scale) / 2 + x, Self.margin + (-location.latitude - top) * scale)
        }
        let lines: [HTML] = tracks.map { track in
            let corners = track.locations.map(place).map { "\(Coordinate.tenths($0.x)),\(Coordinate.tenths($0.y))" }
            return "<polyline class=\"way\" points=\"\(corners.joined(separator: " "))\"/>"
        }
        let ends: [HTML] = [("start", tracks.first?.locations.first), ("end", tracks.last?.locations.last)].compactMap {
            name, end in
            guard let point = end.map(place) else { return nil }
            return "<circle class=\"\(name)\" cx=\"\(Coordinate.tenths(point.x))\" cy=\"\(Coordinate.tenths(point.y))\" r=\"6\"/>"
        }
        let length = call.values.distance(tracks.reduce(0) { $0 + $1.length })
        let bar = Self.bar(atMost: inner / 3 / scale * Self.metresPerDegree)
        let end = Self.margin + bar / Self.metresPerDegree * scale
        return """
            <figure class="map"><svg viewBox="0 0 \(Int(Self.width)) \(Int(height))" role="img" aria-label="\(call.texts("route.label", length))">\
            \(lines)\(ends)<path class="scale" d="M\(Int(Self.margin)) \(Int(height) - 14)v6H\(Coordinate.tenths(end))v-6"/>\
            <text x="\(Coordinate.tenths(end + 6))" y="\(Int(height) - 6)">\(call.values.distance(bar))</text></svg>
            <figcaption class="note"><span class="key start">\(call.texts("route.start"))</span> <span class="key end">\(call.texts("route.end"))</span></figcaption></figure>
            """
    }

    /// The longest length of 1, 2, or 5 times a power of ten metres that is not above a limit.
    private static func bar(atMost limit: Double) -> Double {
        var length = 1.0
        for factor in [2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2] where length * factor <= limit { length *= factor }
        return length
    }
}
