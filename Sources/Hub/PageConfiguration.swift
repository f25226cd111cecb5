import FoundationEssentials
import HealthAnswers
import HealthModel

/// The settings of the web page: the key `page` of the configuration.
///
///     page: {
///         bloodPressure: "esc-esh-2018",      // the guideline whose categories are shown
///         tiles: { url: "https://tiles.example.org/{z}/{x}/{y}.png", attribution: "© Example" },
///     }
package struct PageConfiguration: Decodable, Sendable {
    /// The guideline for blood pressures, or `nil` to show no category.
    package var bloodPressure: PressureGuideline?
    /// The server of map tiles, or `nil` to draw routes without a map.
    package var tiles: MapTiles?

    /// The keys of the object `page`.
    static let knownKeys = ["bloodPressure", "tiles"]
    /// The keys of the object `page.tiles`.
    static let tileKeys = ["url", "attribution"]

    /// Settings without a category and a map.
    init() {}

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(hasOnly: Self.knownKeys)
        bloodPressure = try members.word("bloodPressure")
        guard let fields = try members.members("tiles", hasOnly: Self.tileKeys) else { return }
        guard let url: String = try fields["url"], let attribution: String = try fields["attribution"] else {
            throw fields.fault("'url' and 'attribution' must be set together")
        }
        guard let tiles = MapTiles(url: url, attribution: attribution) else {
            throw fields.fault(
                "expected an address such as https://tiles.example.org/{z}/{x}/{y}.png (http only for a host in the "
                    + "local network) of at most \(MapTiles.maximumLength.url) bytes, and an attribution in one line of at most "
                    + "\(MapTiles.maximumLength.attribution) bytes")
        }
        self.tiles = tiles
    }
}
