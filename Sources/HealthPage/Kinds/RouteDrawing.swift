import Glibc
import HealthAnswers
import HealthModel

/// A map of a route, with north at the top and a scale. It is drawn from the locations alone, or over the tiles of the server that the
/// owner configured.
struct RouteDrawing {
    let tracks: [RouteTrack]
    /// The heart rate, whose four ranges color the route.
    var pulse: [Chart.Point] = []

    /// The number of ranges of the heart rate.
    private static let zones = 4

    /// The lowest and the highest heart rate. `nil` if they do not differ enough for colors.
    private var beats: (low: Double, high: Double)? {
        let values = pulse.map(\.middle)
        guard let low = values.min(), let high = values.max(), high - low >= 8 else { return nil }
        return (low, high)
    }

    /// The range of the heart rate at a time in microseconds, 0 for the lowest. `nil` if no reading is within a minute.
    private func zone(at time: Int64) -> Int? {
        guard let beats else { return nil }
        let nearest = pulse.min { abs($0.start * 1000 - time) < abs($1.start * 1000 - time) }
        guard let nearest, abs(nearest.start * 1000 - time) <= 60_000_000 else { return nil }
        return min(Self.zones - 1, Int((nearest.middle - beats.low) / (beats.high - beats.low) * Double(Self.zones)))
    }

    /// The parts of a track with one color each. Each begins with the last location of the one before.
    private func parts(of track: RouteTrack) -> [(zone: Int?, locations: [RouteTrack.Location])] {
        guard beats != nil else { return [(nil, track.locations)] }
        var parts: [(zone: Int?, locations: [RouteTrack.Location])] = []
        for location in track.locations {
            let zone = zone(at: location.time)
            if parts.last?.zone == zone, !parts.isEmpty {
                parts[parts.count - 1].locations.append(location)
            } else {
                let joint = parts.last?.locations.last
                if joint != nil { parts[parts.count - 1].locations.append(location) }
                parts.append((zone, [location]))
            }
        }
        return parts
    }

    /// The heart rates of the colors.
    private func legend(_ call: PageCall) -> HTML {
        guard let beats else { return "" }
        let step = (beats.high - beats.low) / Double(Self.zones)
        let keys: [HTML] = (0..<Self.zones).map { zone in
            let ends = [beats.low + Double(zone) * step, beats.low + Double(zone + 1) * step].map {
                PageValues.text($0, places: 0)
            }
            return "<span class=\"key z\(zone + 1)\">\(ends.joined(separator: "–")) /min</span> "
        }
        return "\(keys)"
    }

    private static let (width, margin, tallest) = (360.0, 16.0, 360.0)
    private static let metresPerDegree = 111_195.0

    /// The size of a drawing and the positions in it.
    private struct Frame {
        let height: Double
        let metresPerUnit: Double
        let place: (RouteTrack.Location) -> (x: Double, y: Double)
    }

    static func html(of route: Sample, _ call: PageCall) -> HTML {
        RouteTrack(route).map { RouteDrawing(tracks: [$0]).html(call) } ?? ""
    }

    func html(_ call: PageCall) -> HTML {
        let all = tracks.flatMap(\.locations)
        if let tiles = call.site.settings.tiles,
            let frame = TileFrame(around: all, width: Self.width, tallest: Self.tallest, margin: Self.margin)
        {
            let images: [HTML] = frame.tiles.map { tile in
                let address = tiles.address(zoom: frame.zoom, column: tile.column, row: tile.row)
                return """
                    <image href="\(address)" x="\(Coordinate.tenths(tile.x))" y="\(Coordinate.tenths(tile.y))" \
                    width="\(Int(TileFrame.side))" height="\(Int(TileFrame.side))"/>
                    """
            }
            let drawn = Frame(height: frame.height, metresPerUnit: frame.metresPerUnit, place: frame.place)
            return html(drawn, "\(images)", tiles.attribution, call)
        }
        return Self.plainFrame(of: all).map { html($0, "", nil, call) } ?? ""
    }

    /// A frame without tiles. Degrees of longitude are shorter by the cosine of the latitude.
    private static func plainFrame(of all: [RouteTrack.Location]) -> Frame? {
        guard let first = all.first, let south = all.map(\.latitude).min(), let north = all.map(\.latitude).max() else {
            return nil
        }
        let narrow = max(cos((south + north) / 2 * .pi / 180), 0.01)
        let (xs, ys) = (all.map { ($0.longitude - first.longitude) * narrow }, all.map { -$0.latitude })
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else { return nil }
        let inner = width - 2 * margin
        let scale = min(inner / max(right - left, 1e-5), (tallest - 2 * margin) / max(bottom - top, 1e-5))
        let height = max(120, (bottom - top) * scale + 2 * margin + 20)
        return Frame(height: height, metresPerUnit: metresPerDegree / scale) { location in
            let x = ((location.longitude - first.longitude) * narrow - left) * scale
            return ((width - (right - left) * scale) / 2 + x, margin + (-location.latitude - top) * scale)
        }
    }

    /// - Parameters:
    ///   - tiles: The map below the route, or empty.
    ///   - attribution: The text of the tiles' operator.
    private func html(_ frame: Frame, _ tiles: HTML, _ attribution: String?, _ call: PageCall) -> HTML {
        let lines: [HTML] = tracks.flatMap { track in
            parts(of: track).map { zone, locations in
                let corners = locations.map(frame.place).map { "\(Coordinate.tenths($0.x)),\(Coordinate.tenths($0.y))" }
                let points = corners.joined(separator: " ")
                let edge: HTML = attribution == nil ? "" : "<polyline class=\"edge\" points=\"\(points)\"/>"
                let line: HTML = "\(edge)<polyline class=\"way\" points=\"\(points)\"/>"
                return zone.map { "<g class=\"z\($0 + 1)\">\(line)</g>" } ?? line
            }
        }
        let ends: [HTML] = [("start", tracks.first?.locations.first), ("end", tracks.last?.locations.last)].compactMap {
            name, end in
            guard let point = end.map(frame.place) else { return nil }
            return "<circle class=\"\(name)\" cx=\"\(Coordinate.tenths(point.x))\" cy=\"\(Coordinate.tenths(point.y))\" r=\"6\"/>"
        }
        let (texts, values, height) = (call.texts, call.values, Int(frame.height))
        let length = values.distance(tracks.reduce(0) { $0 + $1.length })
        let bar = Self.bar(atMost: (Self.width - 2 * Self.margin) / 3 * frame.metresPerUnit)
        let end = Self.margin + bar / frame.metresPerUnit
        let figure: HTML = attribution == nil ? "<figure class=\"map\">" : "<figure class=\"map tiled\">"
        let credit: HTML = attribution.map { " <span class=\"credit\">\($0)</span>" } ?? ""
        return """
            \(figure)<svg viewBox="0 0 \(Int(Self.width)) \(height)" role="img" aria-label="\(texts("route.label", length))">\
            \(tiles)\(lines)\(ends)<path class="scale" d="M\(Int(Self.margin)) \(height - 14)v6H\(Coordinate.tenths(end))v-6"/>\
            <text x="\(Coordinate.tenths(end + 6))" y="\(height - 6)">\(values.distance(bar))</text>\
            <path class="north" d="M344 8l5 12-5-3-5 3Z"/><text x="344" y="32" text-anchor="middle">\(texts("route.north"))</text></svg>
            <figcaption class="note"><span class="key start">\(texts("route.start"))</span> <span class="key end">\(texts("route.end"))</span> \(legend(call))\(credit)</figcaption></figure>
            """
    }

    /// The longest length of 1, 2, or 5 times a power of ten metres that is not above a limit.
    private static func bar(atMost limit: Double) -> Double {
        var length = 1.0
        for factor in [2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2] where length * factor <= limit { length *= factor }
        return length
    }
}
