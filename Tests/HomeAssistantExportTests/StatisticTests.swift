import FoundationEssentials
import HealthModel
import Pipeline
import Testing

@testable import HomeAssistantExport
@testable import HomeAssistantKit

/// Ids, units and addresses.
@Suite struct StatisticTests {
    private static let person = "3F2A91BC-2222-4333-8444-555555555555"

    @Test func idsAreValidAndDistinct() throws {
        // Home Assistant's VALID_STATISTIC_ID.
        let types = SampleType.all.filter { $0.kind == .quantity }
        for person in [Self.person, Origin.unassigned] {
            let ids = types.map { Statistic(HourSeries(person: person, type: $0)).id }
            #expect(Set(ids).count == types.count)
            for id in ids {
                let parts = id.split(separator: ":", omittingEmptySubsequences: false)
                #expect(parts.count == 2 && id.utf8.count <= 255, "\(id)")
                for part in parts {
                    #expect(part.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") }, "\(id)")
                    #expect(!part.hasPrefix("_") && !part.hasSuffix("_") && !part.contains("__"), "\(id)")
                }
            }
        }
        #expect(
            Statistic(HourSeries(person: Self.person, type: .bodyMass)).id
                == "vitalgate:3f2a91bc222243338444555555555555_body_mass")
    }

    @Test func unitsCanBeReadBack() throws {
        for type in SampleType.all where type.kind == .quantity {
            let unit = StatisticUnit(type, type.canonicalUnit.code)
            #expect(StatisticUnit(type, text: unit.text) == unit, "\(type.id)")
        }
        #expect(StatisticUnit(.bodyMass, "[lb_av]") == StatisticUnit(.bodyMass, text: "lb"))
        #expect(StatisticUnit(.bodyMass, text: "mmHg") == nil)
        #expect(StatisticUnit(.bodyMass, wanted: "[lb_av]").text == "lb")
        // Its text would not be found again, and the statistic would be replaced each time.
        #expect(StatisticUnit(.heartRate, wanted: "Hz").text == "bpm")
    }

    /// Classes and units as in Home Assistant's `util/unit_conversion.py`.
    @Test(
        arguments: [
            ("bodyMass", "kg", "mass"), ("bodyTemperature", "°C", "temperature"), ("bloodPressureSystolic", "mmHg", "pressure"),
            ("bloodGlucose", "mg/dL", "blood_glucose_concentration"), ("distanceWalkingRunning", "m", "distance"),
            ("activeEnergyBurned", "kcal", "energy"), ("oxygenSaturation", "%", "unitless"), ("heartRate", "bpm", nil),
            ("stepCount", "steps", nil),
        ] as [(String, String, String?)])
    func unitOfType(_ name: String, _ text: String, _ unitClass: String?) throws {
        let type = try #require(SampleType(name))
        let unit = StatisticUnit(type, type.canonicalUnit.code)
        #expect(unit.text == text && unit.unitClass == unitClass)
    }

    @Test func addressesAreSafeOrNot() throws {
        for text in [
            "https://ha.example.org", "http://localhost:8123", "ws://127.0.0.1:8123/", "http://supervisor/core/websocket",
        ] {
            #expect(try HomeAssistantAddress(text).isSafe, "\(text)")
        }
        for text in [
            "http://homeassistant.local:8123", "http://127.evil.example", "ws://192.168.1.2:8123", "http://localhost.evil",
        ] {
            #expect(try !HomeAssistantAddress(text).isSafe, "\(text)")
        }
        for text in ["ha.example.org", "ftp://x", "https://u:p@x", "https://x/?token=1", "https://", "https:// x"] {
            #expect(throws: HomeAssistantAddress.Fault.self, "\(text)") { try HomeAssistantAddress(text) }
        }
        #expect(try HomeAssistantAddress("wss://x:1/").webSocket == "https://x:1/api/websocket")
        #expect(try HomeAssistantAddress("ws://supervisor/core/websocket").webSocket == "http://supervisor/core/websocket")
    }

    @Test func settingsRefuseUnencryptedToken() throws {
        let text = #"{"url":"http://homeassistant.local:8123","token":{"environment":"TOKEN"}}"#
        #expect { try JSONDecoder().decode(HomeAssistantSettings.self, from: Data(text.utf8)) } throws: {
            ($0 as? SettingsFault)?.key == "url"
        }
        let allowed = text.dropLast() + #","allowUnencrypted":true}"#
        #expect(try JSONDecoder().decode(HomeAssistantSettings.self, from: Data(allowed.utf8)).address.isSafe == false)
        #expect { try JSONDecoder().decode(HomeAssistantSettings.self, from: Data(#"{"url":"https://x"}"#.utf8)) } throws: {
            ($0 as? SettingsFault)?.key == "token"
        }
    }

    @Test func versionsAreOrdered() {
        #expect(HomeAssistantRelease("2026.2.3") ?? .init(year: 0, month: 0) > .init(year: 2025, month: 11))
        #expect(HomeAssistantRelease("2025.10.4") ?? .init(year: 9999, month: 0) < HomeAssistantClient.oldest)
        #expect(HomeAssistantRelease("x") == nil)
    }
}
