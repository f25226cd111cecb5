import FoundationEssentials
import HealthModel
import Ingestion
import PipelineTesting
import SampleStore
import Testing

/// Frames that hubs received in the machine of `scripts/bluez-vm`, with the real bluetoothd. Replaying them gives exactly the samples in
/// their stores. `Captures/README.md` describes how they were made.
@Suite struct ScenarioCaptureTests {
    private static let folder = Checkout.root + "/Tests/HubTests/Captures/"
    private static let samples = ".samples.txt"

    /// The scenarios by their names.
    private static func scenarios() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(samples) }
            .map { String($0.dropLast(samples.count)) }.sorted()
    }

    private static func captures(of scenario: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix(scenario + ".") && $0.hasSuffix(".ndjson") }.sorted().map { folder + $0 }
    }

    private static func text(of sample: Sample) -> String {
        "\(sample.identity) \(sample.origin.type.id) \(sample.numeral.text) \(sample.unit.code) \(sample.start) \(sample.end)"
    }

    @Test func thereAreSome() throws { #expect(try Self.scenarios().count >= 8) }

    @Test(arguments: try scenarios()) func theSameSamplesAsThen(scenario: String) throws {
        let folder = try TemporaryFolder()
        let captures = try Self.captures(of: scenario)
        let library = try Checkout.library
        let expected = String(
            decoding: try #require(FileManager.default.contents(atPath: Self.folder + scenario + Self.samples)), as: UTF8.self)
        var store: SampleStore?
        for path in captures {
            let reader = try CaptureReader(path: path)
            let into =
                try store
                ?? SampleStore(
                    path: folder.file("store.db"), access: .write, creation: .init(person: reader.head.person, time: 0))
            store = into
            let replay = Replay(
                reader: reader,
                settings: Replay.Settings(
                    library: library, keys: Self.keys, now: { Instant(seconds: 2_000_000_000) },
                    zone: { $0 == "UTC" ? TimeZoneRules(fixed: .utc) : nil }))
            try replay.check()
            #expect(try replay.run(into: into, name: path).state == "done")
        }
        let filled = try #require(store)
        var lines: [String] = []
        let cursor = try filled.samples.cursor(matching: SampleQuery())
        while let stored = try cursor.next() { lines.append(Self.text(of: stored.sample)) }
        #expect(lines.sorted() == expected.split(separator: "\n").map(String.init).sorted())
        #expect(!lines.isEmpty)
        #expect(try filled.check().isEmpty)
    }

    /// Of the encrypted sensor (`Tests/BluetoothVM/vitalgate/adverts.py`).
    private static let keys = ["bluetooth:C0:01:02:03:04:09": "231d39c1d7cc1ab1aee224cd096db932"]
}
