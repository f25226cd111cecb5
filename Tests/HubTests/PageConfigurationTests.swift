import FoundationEssentials
import HealthAnswers
import Pipeline
import PipelineTesting
import Testing

@testable import Hub

/// The key `page` of the configuration.
@Suite struct PageConfigurationTests {
    private func configuration(_ text: String) throws -> Configuration {
        let folder = try TemporaryFolder()
        try folder.write(Array(text.utf8), to: "config.json5")
        let now = FixedClock().now
        let machine = Machine(environment: ["HOME": folder.path], now: { now }, zoneDirectory: folder.file("zones"))
        return try Configuration(path: folder.file("config.json5"), machine: machine)
    }

    @Test func optionsAreOffByDefault() throws {
        for text in ["", "{}", "{ page: {} }"] {
            let page = try configuration(text).page
            #expect(page.bloodPressure == nil && page.tiles == nil, "\(text)")
        }
    }

    @Test func aGuidelineAndTilesAreRead() throws {
        let page = try configuration(
            #"{ page: { bloodPressure: "esc-2024", tiles: { url: "http://nas.lan/{z}/{x}/{y}.png", attribution: "© Example" } } }"#
        ).page
        #expect(
            page.bloodPressure == .esc2024 && page.tiles?.origin == "http://nas.lan" && page.tiles?.attribution == "© Example")
    }

    @Test(arguments: [
        (#"bloodPressure: "who""#, "'page.bloodPressure': expected one of acc-aha-2017, esc-esh-2018, esc-2024"),
        (#"colour: "red""#, "'page.colour': unknown key, expected one of bloodPressure, tiles"),
        (#"tiles: { url: "https://a.org/{z}/{x}/{y}" }"#, "'page.tiles': 'url' and 'attribution' must be set together"),
        (#"tiles: { key: "a" }"#, "'page.tiles.key': unknown key, expected one of url, attribution"),
        (#"tiles: { url: "http://a.org/{z}/{x}/{y}", attribution: "a" }"#, "'page.tiles': expected an address such as"),
    ])
    func mistakesAreNamed(_ text: String, _ message: String) throws {
        do {
            _ = try configuration("{ page: { \(text) } }")
            Issue.record("no error: \(text)")
        } catch let error as ConfigurationError {
            #expect(error.description.contains(message), "\(error.description)")
        }
    }
}
