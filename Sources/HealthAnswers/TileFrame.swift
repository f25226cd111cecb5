import Glibc

/// The part of a map around a route, in the projection of map tiles (Web Mercator, EPSG:3857).
package struct TileFrame: Sendable {
    /// A tile and its upper left corner in the frame.
    package struct Tile: Hashable, Sendable {
        /// The tile's number from west to east.
        package let column: Int
        /// The tile's number from north to south.
        package let row: Int
        /// The corner's distance from the left edge.
        package let x: Double
        /// The corner's distance from the upper edge.
        package let y: Double
    }

    /// The side of a tile in the frame. Tiles have 256 pixels, so they are sharp on dense screens too.
    package static let side = 128.0
    /// The latitude at which the map of the world is a square.
    private static let northmost = 85.051_128_78
    /// The levels that tile servers commonly have.
    private static let zooms = 0...18
    /// The length of the equator of WGS 84 in metres.
    private static let equator = 40_075_016.685_6

    package let zoom: Int
    /// The height. It is at least 120.
    package let height: Double
    package let tiles: [Tile]
    /// The length of a unit in the middle of the frame, in metres.
    package let metresPerUnit: Double
    private let left, top: Double

    /// Returns `nil` without locations.
    ///
    /// - Parameters:
    ///   - width: The width of the frame, at most 512.
    ///   - tallest: The maximum height, at most 512.
    ///   - margin: The minimum distance of the locations from the edges.
    package init?(around locations: [RouteTrack.Location], width: Double, tallest: Double, margin: Double) {
        guard !locations.isEmpty, width <= 512, tallest <= 512 else { return nil }
        // Positions on the map of the world, from 0 to 1. East of 180 degrees they are above 1.
        let (xs, ys) = (locations.map { Self.x($0.longitude) }, locations.map { Self.y($0.latitude) })
        guard let west = xs.min(), let east = xs.max(), let north = ys.min(), let south = ys.max() else { return nil }
        func fits(_ zoom: Int) -> Bool {
            let scale = Self.side * Double(1 << zoom)
            return (east - west) * scale <= width - 2 * margin && (south - north) * scale <= tallest - 2 * margin
        }
        zoom = Self.zooms.last(where: fits) ?? 0
        let count = 1 << zoom
        let scale = Self.side * Double(count)
        height = min(tallest, max(120, ((south - north) * scale + 2 * margin).rounded(.up)))
        (left, top) = ((east + west) / 2 * scale - width / 2, (south + north) / 2 * scale - height / 2)
        let (columns, rows) = (Self.range(left, width), Self.range(top, height))
        var tiles: [Tile] = []
        for row in rows where (0..<count).contains(row) {
            for column in columns {
                let wrapped = (column % count + count) % count
                tiles.append(
                    Tile(column: wrapped, row: row, x: Double(column) * Self.side - left, y: Double(row) * Self.side - top))
            }
        }
        self.tiles = tiles
        let latitude = atan(sinh(.pi * (1 - (north + south))))
        metresPerUnit = cos(latitude) * Self.equator / scale
    }

    package func place(_ location: RouteTrack.Location) -> (x: Double, y: Double) {
        let scale = Self.side * Double(1 << zoom)
        return (Self.x(location.longitude) * scale - left, Self.y(location.latitude) * scale - top)
    }

    /// The numbers of the tiles between an edge and the opposite one.
    private static func range(_ edge: Double, _ length: Double) -> ClosedRange<Int> {
        let first = Int((edge / side).rounded(.down))
        return first...max(first, Int(((edge + length) / side).rounded(.up)) - 1)
    }

    private static func x(_ longitude: Double) -> Double { (longitude + 180) / 360 }

    private static func y(_ latitude: Double) -> Double {
        let radians = min(max(latitude, -northmost), northmost) * .pi / 180
        return (1 - asinh(tan(radians)) / .pi) / 2
    }
}
