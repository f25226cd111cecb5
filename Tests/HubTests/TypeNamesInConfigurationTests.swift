import HealthModel
import Hub
import PipelineTesting
import Testing

/// Types in the configuration have the names that people use.
@Suite struct TypeNamesInConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ text: String) throws -> Configuration {
        try folder.write(Array(text.utf8), to: "config.json5")
        let now = FixedClock().now
        return try Configuration(
            path: folder.file("config.json5"),
            machine: Machine(environment: ["HOME": folder.path], now: { now }, zoneDirectory: folder.file("zones")))
    }

    @Test(arguments: ["bodyMass", "HKQuantityTypeIdentifierBodyMass", "weight", "Weight", "WEIGHT"])
    func anyNameIsAccepted(name: String) throws {
        let configuration = try read(
            """
            { units: { "\(name)": "[lb_av]" }, retention: { "\(name)": "1d" }, targets: {
                a: { kind: "files", folder: "/a", types: ["\(name)", "Blood Pressure", "steps"], units: { "\(name)": "kg" } },
                b: { kind: "mqtt", url: "mqtt://h", staleAfter: { "\(name)": 60, other: 5 } } } }
            """)
        #expect(configuration.unit(of: .bodyMass)?.code == "[lb_av]")
        let dates = configuration.retention.dates(of: [.bodyMass, .heartRate], now: Instant(seconds: 0))
        #expect(dates.keys.map(\.id) == ["bodyMass"])
        #expect(configuration.targets.count == 2)
    }

    @Test(arguments: [
        ("units: { temperature: 'Cel' }", "'units': 'temperature' means several types"),
        ("units: { weight: 'kg', bodyMass: 'kg' }", "'bodyMass' occurs twice"),
        ("units: { workout: '1' }", "not a quantity type"),
        ("units: { weight: 'mm' }", "'units.bodyMass'"), ("retention: { temperature: '1d' }", "retention"),
        ("targets: { a: { kind: 'files', folder: '/a', types: ['fat'] } }", "'targets.a.types': 'fat' means several types"),
        ("targets: { a: { kind: 'files', folder: '/a', units: { waits: 'kg' } } }", "'targets.a.units': unknown type 'waits'"),
        ("targets: { a: { kind: 'mqtt', url: 'mqtt://h', staleAfter: { sensor: 5 } } }", "'targets.a.staleAfter': unknown type"),
        ("targets: { a: { kind: 'mqtt', url: 'mqtt://h', staleAfter: { weight: 5, bodyMass: 5 } } }", "occurs twice"),
    ])
    func errorNamesUnknownType(text: String, words: String) {
        #expect {
            try read("{ \(text) }")
        } throws: { "\($0)".contains(words) }
    }
}
