import FoundationEssentials
import HealthAnswers
import HealthModel
import PipelineTesting
import Testing

@testable import Hub
@testable import Pipeline

/// `docs/reference/configuration.md` lists the keys that the program accepts, and no others.
@Suite struct ConfigurationReferenceTests {
    private let page: [Substring]

    init() throws {
        let path = Checkout.root + "/docs/reference/configuration.md"
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        page = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func thePageListsTheKeys() {
        var accepted: [String: [String]] = [
            "Top level": Configuration.knownKeys, "hub": HubConfiguration.knownKeys, "hub.sources": HubConfiguration.sources,
            "api": APIConfiguration.knownKeys, "metrics": MetricsConfiguration.knownKeys, "page": PageConfiguration.knownKeys,
            "page.tiles": PageConfiguration.tileKeys,
            "Keys of every target": TargetConfiguration.settings.map(\.key),
            "Passwords and tokens": Secret.knownKeys, "collect": CollectorConfiguration.knownKeys,
            "collect.brokerUsers": CollectorConfiguration.brokerUsersKeys,
            "collect.readers": CollectorConfiguration.readersKeys,
            "collect.commands": CollectorConfiguration.commandsKeys, "collect.page": CenterPageConfiguration.knownKeys,
            "collect.sealing": CollectorConfiguration.sealingKeys,
            "sources": SourceConfiguration.knownKeys, "alerts": Array(AlertReceiverConfiguration.keys),
            "backup": BackupConfiguration.knownKeys, "update": UpdateConfiguration.knownKeys,
            "backup.keep": BackupConfiguration.keepKeys, "backup.locations": BackupLocationConfiguration.knownKeys,
        ]
        for kind in ExporterKind.allCases { accepted[kind.rawValue] = kind.settings.map(\.key) }
        let listed = tables()
        #expect(listed.keys.sorted() == accepted.keys.sorted())
        for (heading, keys) in accepted {
            #expect(listed[heading, default: []].sorted() == keys.sorted(), "\(heading)")
        }
    }

    @Test func thePageListsTheValues() {
        let words: [[String]] = [
            ExporterKind.allCases.map(\.rawValue), HubConfiguration.Heartbeats.allCases.map(\.rawValue),
            SourceConfiguration.Kind.allCases.map { $0.rawValue }, StartPolicy.allCases.map(\.rawValue),
            PressureGuideline.allCases.map(\.rawValue),
            AlertReceiverConfiguration.Kind.allCases.map { $0.rawValue },
        ]
        for word in words.joined() {
            #expect(page.contains { $0.hasPrefix("|") && $0.contains("`\"\(word)\"`") }, "\(word)")
        }
        for formula in ImpedanceFormula.allCases {
            #expect(page.contains { $0.hasPrefix("| `bodyComposition` |") && $0.contains("`\(formula.rawValue)`") })
        }
    }

    /// As written, and with the settings that are comments.
    @Test func theExampleIsAcceptedAndHasEveryKey() throws {
        let example = self.example
        let whole = example.map(Self.uncommented)
        let folder = try TemporaryFolder()
        let now = FixedClock().now
        let machine = Machine(environment: ["HOME": folder.path], now: { now }, zoneDirectory: folder.file("zones"))
        for lines in [example.map(String.init), whole] {
            try folder.write(Array(lines.joined(separator: "\n").utf8), to: "config.json5")
            _ = try Configuration(path: folder.file("config.json5"), machine: machine)
        }
        for key in tables().values.joined() {
            #expect(whole.contains { $0.contains("\(key):") }, "\(key)")
        }
    }

    /// The first columns of the page's tables of keys, by the heading before each table.
    private func tables() -> [String: [String]] {
        var tables: [String: [String]] = [:]
        var heading = ""
        var isInside = false
        for line in page {
            if line.hasPrefix("#") {
                heading = String(line.drop { $0 == "#" || $0 == " " }).replacing("`", with: "")
            } else if line.hasPrefix("| key |") {
                isInside = true
            } else if !line.hasPrefix("|") {
                isInside = false
            } else if isInside, line.hasPrefix("| `") {
                tables[heading, default: []].append(String(line.dropFirst(3).prefix { $0 != "`" }))
            }
        }
        return tables
    }

    /// The lines of the page's example.
    private var example: [Substring] {
        let rest = page.drop { $0 != "```json5" }.dropFirst()
        return Array(rest.prefix { $0 != "```" })
    }

    /// Returns a line without its `//` if that precedes a setting. A space follows the `//` of other comments.
    private static func uncommented(_ line: Substring) -> String {
        let text = line.drop { $0 == " " }
        return String(text.hasPrefix("//") && !text.hasPrefix("// ") ? text.dropFirst(2) : line)
    }
}
