import Hub
import PipelineTesting
import Testing

/// The roles of readers in the configuration of a collector.
@Suite struct CollectorConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(readers: String) throws -> Configuration {
        let text = """
            { collect: { broker: { fleet: "study", servers: ["nats://localhost"] }, database: { database: "study", user: "collector" },
                readers: \(readers) } }
            """
        try folder.write(Array(text.utf8), to: "config.json5")
        let now = FixedClock().now
        return try Configuration(
            path: folder.file("config.json5"),
            machine: Machine(environment: ["HOME": folder.path], now: { now }, zoneDirectory: folder.file("zones")))
    }

    @Test func rolesOfReaders() throws {
        #expect(try read(readers: "{}").collect?.readers?.analyst == nil)
        let both = try read(readers: "{ analyst: 'a_1', auditor: 'b' }").collect?.readers
        #expect(both?.analyst == "a_1" && both?.auditor == "b")
    }

    @Test(arguments: [
        ("{ reader: 'a' }", "'collect.readers.reader': unknown key, expected one of analyst, auditor"),
        ("{ analyst: 'a', auditor: 'a' }", "'collect.readers': expected two different roles"),
        ("{ analyst: 'a b' }", "'collect.readers.analyst': expected a name of a to z, 0 to 9 and _, at most 63 of them"),
        ("{ auditor: '' }", "'collect.readers.auditor': expected a name of a to z, 0 to 9 and _, at most 63 of them"),
        ("{ analyst: 5 }", "'collect.readers.analyst': expected a text"),
        ("{ analyst: ['a'] }", "'collect.readers.analyst': expected a text"),
        ("'a'", "'collect.readers': expected an object in braces"),
    ])
    func wrongReaders(text: String, words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(readers: text) }
        #expect(error?.description.hasSuffix(words) == true, "\(error?.description ?? "")")
    }
}
