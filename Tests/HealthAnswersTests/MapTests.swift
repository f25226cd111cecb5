import Testing

@testable import HealthAnswers

/// Map tiles below a route.
@Suite struct MapTests {
    private func tiles(_ url: String, _ attribution: String = "© Example") -> MapTiles? {
        MapTiles(url: url, attribution: attribution)
    }

    @Test func tileAddressHasOriginAndCoordinates() throws {
        let server = try #require(tiles("https://tiles.example.org:8443/map/{z}/{x}/{y}@2x.png?key=a1"))
        #expect(server.origin == "https://tiles.example.org:8443")
        #expect(server.address(zoom: 3, column: 4, row: 5) == "https://tiles.example.org:8443/map/3/4/5@2x.png?key=a1")
        #expect(tiles("https://[2001:db8::1]/{z}/{x}/{y}")?.origin == "https://[2001:db8::1]")
        #expect(tiles("https://[2001:db8::1]:443/{z}/{x}/{y}")?.origin == "https://[2001:db8::1]:443")
    }

    @Test func onlyTheLocalNetworkIsUsedWithoutTLS() {
        for host in [
            "localhost", "127.0.0.1:8080", "10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.1.20", "169.254.1.1", "nas",
            "nas.local",
            "nas.home.arpa", "router.lan", "[::1]", "[fd12::1]:80", "[fe80::1]",
        ] {
            #expect(tiles("http://\(host)/{z}/{x}/{y}.png") != nil, "\(host)")
        }
        for host in [
            "tiles.example.org", "8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "2130706433", "[2001:db8::1]",
            "evil.org:80", "127.0.0.1.evil.org",
        ] {
            #expect(tiles("http://\(host)/{z}/{x}/{y}.png") == nil, "\(host)")
        }
    }

    /// Nothing but a host can get into the page's policy.
    @Test func otherAddressesAreRefused() {
        for url in [
            "", "https://", "https:///{z}/{x}/{y}", "ftp://a.org/{z}/{x}/{y}", "https://a.org/{z}/{x}",
            "https://a.org/{z}/{x}/{y}/{z}",
            "https://a.org/{z}/{x}/{y}/{s}", "https://{z}.org/{x}/{y}", "https://a.org/{z}/{x}/{y}#top",
            "https://a.org/{z}/{x}/ {y}",
            "https://user@a.org/{z}/{x}/{y}", "https://a.org:0/{z}/{x}/{y}", "https://a.org:65536/{z}/{x}/{y}",
            "https://a.org:/{z}/{x}/{y}", "https://a..org/{z}/{x}/{y}", "https://-a.org/{z}/{x}/{y}", "https://*.org/{z}/{x}/{y}",
            "https://a.org;b/{z}/{x}/{y}", "https://a.org/{z}/{x}/{y};'", "https://a.org/{z}/{x}/{y}\"",
            "https://ä.org/{z}/{x}/{y}",
            "https://a.org?/{z}/{x}/{y}", "https://[::g]/{z}/{x}/{y}",
            "https://a.org/{z}/{x}/{y}" + String(repeating: "a", count: 500),
        ] {
            #expect(tiles(url) == nil, "\(url)")
        }
        for attribution in ["", "a\nb", String(repeating: "a", count: 201)] {
            #expect(tiles("https://a.org/{z}/{x}/{y}", attribution) == nil)
        }
    }

    private func location(_ latitude: Double, _ longitude: Double) -> RouteTrack.Location {
        RouteTrack.Location(time: 0, latitude: latitude, longitude: longitude, altitude: nil, distance: 0)
    }

    private func frame(_ locations: [RouteTrack.Location]) throws -> TileFrame {
        try #require(TileFrame(around: locations, width: 360, tallest: 360, margin: 16))
    }

    /// The example of the OpenStreetMap wiki (Slippy map tilenames): zoom 18, tile 232798/103246.
    @Test func locationIsInExpectedTile() throws {
        let place = location(35.659_069_9, 139.700_679_3)
        let frame = try frame([place])
        let (x, y) = frame.place(place)
        #expect(frame.zoom == 18 && abs(x - 180) < 0.001 && abs(y - 60) < 0.001 && frame.height == 120)
        let tile = try #require(
            frame.tiles.first { ($0.x...$0.x + TileFrame.side).contains(x) && ($0.y...$0.y + TileFrame.side).contains(y) })
        #expect(tile.column == 232_798 && tile.row == 103_246)
    }

    @Test(arguments: [
        [(52.51, 13.37), (52.53, 13.40)], [(52.0, 13.0), (48.0, 11.5)], [(-33.9, 151.2), (-33.8, 151.2)],
        [(0.0, 179.99), (0.0, 180.01)],
        [(70.0, -179.0), (-60.0, 170.0)], [(90.0, 0.0), (-90.0, 1.0)], [(52.5, 13.4)],
    ])
    func tilesCoverTheFrame(_ route: [(Double, Double)]) throws {
        let locations = route.map { location($0.0, $0.1) }
        let frame = try frame(locations)
        #expect((1...16).contains(frame.tiles.count) && (120...360).contains(frame.height))
        let count = 1 << frame.zoom
        #expect(frame.tiles.allSatisfy { (0..<count).contains($0.column) && (0..<count).contains($0.row) })
        for location in locations where frame.zoom > 0 {
            let (x, y) = frame.place(location)
            #expect((16...344).contains(x.rounded()) && (0...frame.height).contains(y.rounded()))
        }
        // A corner of the frame is in a tile, unless the map of the world ends before it.
        let covered = frame.tiles.map { ($0.x, $0.y) }
        #expect(covered.contains { $0.0 <= 0 } && covered.contains { $0.0 + TileFrame.side >= 360 })
    }

    @Test func scaleUsesMiddleLatitude() throws {
        // A degree of latitude has about 111.2 km at 52 degrees.
        let ends = [location(52.5, 13), location(52.51, 13)]
        let frame = try frame(ends)
        let length = (frame.place(ends[0]).y - frame.place(ends[1]).y) * frame.metresPerUnit
        #expect(abs(length - 1112) < 8)
    }
}
