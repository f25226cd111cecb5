import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import ExportEngine

/// How things are now, for targets that show nothing else.
@Suite struct PresentSamplesTests {
    private let test: ExportedStore
    private let address = "bluetooth:C0:01:02:03:04:01"

    init() throws { test = try ExportedStore() }

    private func sample(_ value: Int, at second: Int, _ source: String, device: String?, person: String? = nil) throws
        -> GatedSample
    {
        let start = Instant(seconds: 1_790_000_000 + Int64(second))
        let origin = Origin(
            person: person ?? test.origin.person, type: .heartRate, source: SourceRevision(id: source, name: "A source"),
            device: device.map { Device(key: $0, name: "says of itself") })
        let reading = Reading(
            origin: origin, numeral: try Numeral("\(value)"), unit: try Unit(ucum: "/min"),
            time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
    }

    private func present(_ settings: TargetSettings = TargetSettings(name: "home")) throws -> [String: Double] {
        let all = try PresentSamples(test.store, settings).all()
        return Dictionary(
            uniqueKeysWithValues: all.map { ("\($0.deviceName)\($0.person.map { " of \($0)" } ?? "")", $0.sample.value) })
    }

    @Test func theLastOfEachSeries() throws {
        try test.add([try sample(60, at: 5, "file.app", device: "watch"), try sample(61, at: 3, "file.app", device: "watch")])
        try test.add([try sample(70, at: 1, "file.other", device: nil)])
        #expect(try present() == ["says of itself": 60, "A source": 70])
        let low = TargetSettings(name: "home", filter: try .init("value > 60", instant: { _ in nil }, person: { _ in nil }))
        #expect(try present(low) == ["says of itself": 61, "A source": 70])
        try test.delete(try sample(60, at: 5, "file.app", device: "watch"))
        #expect(try present() == ["says of itself": 61, "A source": 70])
    }

    /// A device that is no longer read has no current values. Its samples stay.
    @Test func adoptedRenamedAndForgotten() throws {
        var device = AdoptedDevice(
            address: address, key: "maker/strap/1", profiles: ["sig-heart-rate"], name: "Strap", person: test.origin.person,
            adopted: 0)
        try test.store.devices.save(device)
        try test.add([try sample(60, at: 5, "ble.heart-rate", device: "maker/strap/1")])
        #expect(try present() == ["Strap": 60])
        device.name = "Anna's strap"
        try test.store.devices.save(device)
        #expect(try present() == ["Anna's strap": 60])
        // Its readings go by an earlier key.
        try test.store.devices.merge(device: "maker/strap/1", into: "strap")
        try test.add([try sample(61, at: 6, "ble.heart-rate", device: "strap")])
        #expect(try present()["Anna's strap"] == 61)
        try test.store.devices.forget(device: address)
        #expect(try present().isEmpty)
        #expect(try test.contents().count == 2)
    }

    @Test func othersByName() throws {
        let anna = "22222222-2222-4333-8444-555555555555"
        try test.store.people.save(Person(id: anna, name: "Anna"))
        try test.add([try sample(60, at: 5, "file.app", device: "watch", person: anna)])
        #expect(try present() == ["says of itself of Anna": 60])
    }
}
