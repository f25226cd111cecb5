import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import MQTTExport

/// Discovery messages for Home Assistant, for every type.
@Suite struct DiscoveryTests {
    private static let facts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Facts")
    private static let snapshots = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")

    private func context(_ units: [SampleType: Unit] = [:], _ present: [PresentSample] = []) throws -> ExportContext {
        try ExportContext(
            name: "home", store: "1a2b3c4d-0000-4000-8000-000000000000", me: "11111111-2222-4333-8444-555555555555", units: units,
            present: { present }, now: { Instant(seconds: 1_790_000_000) })
    }

    private func sample(_ type: SampleType, _ value: String, _ unit: Unit, device: Device? = nil, person: String? = nil) throws
        -> Sample
    {
        let start = Instant(seconds: 1_789_999_000)
        let reading = Reading(
            origin: Origin(
                person: person ?? "11111111-2222-4333-8444-555555555555", type: type,
                source: SourceRevision(id: "ble.all", name: "All"), device: device),
            numeral: try Numeral(value), unit: unit,
            time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: start).first?.sample)
    }

    /// Device classes of Home Assistant 2026.11 with their units and state classes.
    private static func classes() throws -> [String: (units: [String], states: [String])] {
        let text = try String(
            decoding: Data(contentsOf: facts.appending(path: "home-assistant-device-classes.csv")), as: UTF8.self)
        var classes: [String: (units: [String], states: [String])] = [:]
        for line in text.split(separator: "\n").dropFirst() {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let states = cells[2] == "any" ? ["measurement", "total"] : cells[2].split(separator: " ").map(String.init)
            classes[cells[0] == "co2" ? "carbon_dioxide" : cells[0]] = (cells[1].split(separator: " ").map(String.init), states)
        }
        return classes
    }

    @Test func unitsFitDeviceClasses() throws {
        let classes = try Self.classes()
        var known = 0
        for type in SampleType.quantities {
            let kind = try SensorKind(type, context(), .newest)
            guard let name = kind.deviceClass else { continue }
            let expected = try #require(classes[name], "\(name)")
            let unit = try #require(kind.unit)
            #expect(expected.units.contains(unit.text), "\(type.id)")
            #expect(expected.states.contains(kind.stateClass.rawValue), "\(type.id): \(name)")
            // The unit is right: the type's own unit converts to it.
            _ = try type.canonicalUnit.conversion(to: Unit(ucum: unit.code), molarMass: type.molarMass)
            known += 1
        }
        #expect(known > 90)
    }

    @Test func unitsThatPeopleWant() throws {
        let weight = try #require(SampleType("bodyMass"))
        let pounds = try context([weight: Unit(ucum: "[lb_av]")])
        #expect(try SensorKind(weight, pounds, .newest).unit?.text == "lb")
        let shown = try RetainedMessages(
            [PresentSample(sample(weight, "80.5", Unit(ucum: "kg")), deviceName: "Scale")], MQTTSettings(), pounds)
        let state = try #require(shown.payloads.first { $0.key.hasSuffix("/bodyMass") }?.value)
        #expect(String(decoding: state, as: UTF8.self).hasPrefix(#"{"value":177.472"#))
        // Micrograms have two signs in Home Assistant's versions.
        let micrograms = try context([weight: Unit(ucum: "ug")])
        #expect(throws: DeliveryError.self) { try SensorKind(weight, micrograms, .newest) }
        let dust = try #require(SampleType("particulateMatter2_5"))
        #expect(try SensorKind(dust, context(), .newest).unit?.text == "\u{3BC}g/m³")
        #expect(try SensorKind(dust, context(), #require(HomeAssistantVersion("2025.4.4"))).unit?.text == "\u{B5}g/m³")
    }

    /// Names are for people. The id of a device in Home Assistant does not change.
    @Test func namesAreNoIds() throws {
        func shown(_ name: String, firmware: String, person: String? = nil, personID: String? = nil) throws -> RetainedMessages {
            let device = Device(key: "A&D/UA-651BLE/Ä 5", name: "x", manufacturer: "A&D", model: "UA-651BLE", firmware: firmware)
            return try RetainedMessages(
                [
                    PresentSample(
                        sample(.heartRate, "60", Unit(ucum: "/min"), device: device, person: personID), deviceName: name,
                        person: person)
                ],
                MQTTSettings(), context())
        }
        let (one, other) = (try shown("Cuff", firmware: "1"), try shown("Großmutters \"Cuff\"", firmware: "2"))
        #expect(one.payloads.keys == other.payloads.keys)
        #expect(one.payloads != other.payloads)
        let theirs = try shown("Cuff", firmware: "1", person: "Anna", personID: "22222222-2222-4333-8444-555555555555")
        #expect(Set(theirs.devices.keys).isDisjoint(with: one.devices.keys))
        #expect(theirs.devices.values.map(\.name) == ["Cuff (Anna)"])
        for topic in one.payloads.keys {
            #expect(
                topic.utf8.allSatisfy {
                    $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") || (0x30...0x7A).contains($0)
                })
        }
    }

    private func object(_ id: String, _ number: Int, _ range: ClosedRange<Int64>, _ body: SampleBody? = nil) throws -> Sample {
        let reading = Reading(
            origin: Origin(
                person: "11111111-2222-4333-8444-555555555555", type: try #require(SampleType(id)),
                source: SourceRevision(id: "file.apple-health", name: "Watch")),
            numeral: Numeral(coefficient: Int64(number)), unit: .one,
            time: .instants(
                start: Instant(seconds: 1_790_000_000 + range.lowerBound),
                end: Instant(seconds: 1_790_000_000 + range.upperBound),
                offset: .utc), body: body, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_790_000_000))
                .first?
                .sample)
    }

    /// On during a stage of sleep and for a quarter of an hour after it, by the clock: 1,790,000,000.
    @Test(
        arguments: [
            (3, -600...0, "ON", 900), (4, -1800...(-899), "ON", 1), (5, -1800...(-900), "OFF", 85_500),
            (1, -600...600, "ON", 1500),
            (2, -600...0, "OFF", 86_400), (3, 60...600, "OFF", 60), (3, -200_000...(-190_000), "OFF", nil),
        ] as [(Int, ClosedRange<Int64>, String, Int64?)])
    func asleep(stage: Int, range: ClosedRange<Int64>, state: String, next: Int64?) throws {
        let present = PresentSample(try object("sleepAnalysis", stage, range), deviceName: "Watch")
        let shown = try RetainedMessages([present], MQTTSettings(), context())
        let reported = try #require(shown.payloads.first { $0.key.hasSuffix("/sleepAnalysis") }?.value)
        #expect(String(decoding: reported, as: UTF8.self).hasPrefix(#"{"value":"\#(state)","stage":"a"#))
        #expect(shown.nextChange?.microseconds == next.map { (1_790_000_000 + $0) * 1_000_000 })
        let availability = shown.payloads.first { $0.key.hasSuffix("/sleepAnalysis/availability") }?.value
        #expect(availability == (next == nil ? RetainedMessages.offline : RetainedMessages.online))
        let device = try #require(shown.devices.values.first)
        #expect(String(decoding: device.payload(), as: UTF8.self).contains(#""sleepAnalysis":{"platform":"binary_sensor""#))
        #expect(
            String(decoding: device.payload(without: ["sleepAnalysis"]), as: UTF8.self).contains(#""platform":"binary_sensor"}"#))
    }

    /// The last workout stays the last, however long ago it was.
    @Test func lastWorkout() throws {
        var reported = Workout(totalDistance: Amount(try Numeral("5.2"), try Unit(ucum: "km")))
        reported.statistics = [
            Workout.Statistics(type: "activeEnergyBurned", sum: Amount(try Numeral("310"), try Unit(ucum: "kcal")))
        ]
        let workout = try object("workout", 37, -2_000_000...(-1_998_200), try SampleBody(encoding: reported))
        let shown = try RetainedMessages([PresentSample(workout, deviceName: "Watch")], MQTTSettings(), context())
        let state = try #require(shown.payloads.first { $0.key.hasSuffix("/workout") }?.value)
        #expect(
            String(decoding: state, as: UTF8.self).hasPrefix(
                #"{"value":"running","duration":1800.0,"distance":5200.0,"energy":310.0,"start":"#))
        #expect(!shown.payloads.keys.contains { $0.hasSuffix("/workout/availability") })
        #expect(shown.nextChange == nil)
    }

    @Test func noMoreThanAThousand() throws {
        let present = try (0..<1200).map { number in
            PresentSample(
                try sample(.heartRate, "60", Unit(ucum: "/min"), device: Device(key: "strap \(number)")), deviceName: "\(number)")
        }
        #expect(try RetainedMessages(present, MQTTSettings(), context()).devices.count == 1000)
    }

    /// Home Assistant's own schemas accept these recorded messages: `scripts/check-home-assistant`.
    @Test(arguments: ["2025.4", "2026.11"]) func matchesRecordedMessages(version: String) throws {
        var settings = MQTTSettings()
        settings.homeAssistant = try #require(HomeAssistantVersion(version))
        let device = Device(
            key: "all", manufacturer: "Maker", model: "All", serial: "1", hardware: "2", firmware: "3")
        let types = SampleType.quantities + ["sleepAnalysis", "workout"].compactMap { SampleType($0) }
        let present = try types.map {
            PresentSample(try sample($0, "1", $0.canonicalUnit, device: device), deviceName: "Everything")
        }
        let shown = try RetainedMessages(present, settings, context())
        let payload = try #require(shown.devices.keys.first.flatMap { shown.payloads[$0] })
        let file = Self.snapshots.appending(path: "discovery-\(version).json")
        if getenv("VITALGATE_RECORD") != nil { try Data(payload + [0x0A]).write(to: file) }
        #expect(try Data(contentsOf: file) == Data(payload + [0x0A]))
    }

    // MARK: Meters

    private func meter(_ present: [PresentSample], _ total: DayTotal?) throws -> RetainedMessages {
        let context = try ExportContext(
            name: "home", store: "1a2b3c4d-0000-4000-8000-000000000000", me: "11111111-2222-4333-8444-555555555555",
            present: { present }, today: { $0.origin.type.aggregation == .cumulative ? total : nil },
            now: { Instant(seconds: 1_790_000_000) })
        return try RetainedMessages(present, MQTTSettings(), context)
    }

    /// Cumulative values are the day's total since midnight. It begins at zero and starts again at the next midnight.
    @Test func aDaysTotal() throws {
        let steps = try #require(SampleType("stepCount"))
        let midnight = Instant(seconds: 1_789_948_800)
        let next = Instant(seconds: 1_790_035_200)
        let shown = try meter(
            [PresentSample(sample(steps, "950", steps.canonicalUnit), deviceName: "Watch")],
            DayTotal(sum: 3250, start: midnight, end: next))
        let (topic, state) = try #require(shown.payloads.first { $0.key.hasSuffix("/stepCount") })
        let text = String(decoding: state, as: UTF8.self)
        #expect(text.hasPrefix(#"{"value":3250.0,"#) && text.contains(#""start":"\#(midnight)""#), "\(text)")
        let zero = try #require(shown.zeros[topic])
        #expect(String(decoding: zero, as: UTF8.self).hasPrefix(#"{"value":0.0,"#))
        let device = try #require(shown.devices.values.first)
        let payload = String(decoding: device.payload(), as: UTF8.self)
        #expect(
            payload.contains(#""state_class":"total""#)
                && payload.contains(#""last_reset_value_template":"{{ value_json.start }}""#))
        #expect(payload.contains(#""suggested_display_precision":0"#))
        #expect(shown.nextChange == next)
    }

    /// The battery of a scale that three persons use is shown once, and a single person's with the person.
    @Test(arguments: [1, 3]) func aSharedDevicesBattery(persons: Int) throws {
        let scale = Device(key: "scale", name: "Scale")
        var present: [PresentSample] = []
        for number in 0..<persons {
            let person = "2222222\(number)-2222-4333-8444-555555555555"
            present.append(
                PresentSample(
                    try sample(.bodyMass, "80", Unit(ucum: "kg"), device: scale, person: person), deviceName: "Scale",
                    person: "P\(number)"))
            present.append(
                PresentSample(
                    try sample(.batteryLevel, "90", Unit(ucum: "%"), device: scale, person: person), deviceName: "Scale",
                    person: "P\(number)"))
        }
        let shown = try RetainedMessages(present, MQTTSettings(), context())
        let batteries = shown.devices.values.filter { $0.components.contains { $0.type == .batteryLevel } }
        #expect(batteries.count == 1)
        #expect(shown.devices.count == (persons == 1 ? 1 : persons + 1))
        #expect(batteries.first?.name == (persons == 1 ? "Scale (P0)" : "Scale"))
        // A scale's value stays.
        #expect(!shown.payloads.keys.contains { $0.hasSuffix("/bodyMass/availability") })
    }
}
