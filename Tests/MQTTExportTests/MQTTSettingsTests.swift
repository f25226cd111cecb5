import ExportTesting
import HealthModel
import Pipeline
import Testing

@testable import MQTTExport

@Suite struct MQTTSettingsTests {
    @Test func readsSettings() throws {
        let plain = try Settings.read(MQTTSettings.self, #"{"url": "mqtt://homeassistant.local"}"#)
        #expect(plain.host == "homeassistant.local" && plain.port == 1883 && !plain.isEncrypted && plain.topic == "vitalgate")
        #expect(plain.staleAfter(.heartRate) == 86_400)
        // A scale's value stays until the next one.
        for name in ["bodyMass", "height", "bodyFatPercentage", "boneMass"] {
            #expect(plain.staleAfter(try #require(SampleType(name))) == nil, "\(name)")
        }
        for name in ["bodyTemperature", "stepCount", "oxygenSaturation", "batteryLevel"] {
            #expect(plain.staleAfter(try #require(SampleType(name))) == 86_400, "\(name)")
        }
        let whole = try Settings.read(
            MQTTSettings.self,
            #"""
            {"url": "mqtts://[fe80::1]:8884/", "user": "hub", "password": {"environment": "X"}, "certificateAuthority": "/ca.pem",
             "topic": "vg-2", "discovery": "ha/x", "homeAssistant": "2025.4.4", "staleAfter": {"heartRate": 300, "other": 600}}
            """#)
        #expect(whole.host == "fe80::1" && whole.port == 8884 && whole.isEncrypted && whole.password == .environment("X"))
        #expect(whole.staleAfter(.heartRate) == 300 && whole.staleAfter(.bodyMass) == 600)
        #expect(whole.homeAssistant.micro == "\u{B5}")
    }

    @Test(arguments: [
        ("url", #"{"url": "http://x"}"#), ("url", #"{"url": "mqtt://"}"#), ("url", #"{"url": "mqtt://x:0"}"#),
        ("url", #"{"url": "mqtt://x:y"}"#), ("url", #"{"url": "mqtt://hub:secret@x"}"#), ("url", #"{"url": "mqtt://x/y"}"#),
        ("topic", #"{"url": "mqtt://x", "topic": "a/b"}"#), ("topic", ##"{"url": "mqtt://x", "topic": "#"}"##),
        ("discovery", #"{"url": "mqtt://x", "discovery": "a//b"}"#),
        ("homeAssistant", #"{"url": "mqtt://x", "homeAssistant": "new"}"#),
        ("homeAssistant", #"{"url": "mqtt://x", "homeAssistant": "2024.3"}"#),
        ("staleAfter", #"{"url": "mqtt://x", "staleAfter": {"other": 0}}"#),
        ("certificateAuthority", #"{"url": "mqtt://x", "certificateAuthority": "/x"}"#),
        ("password", #"{"url": "mqtt://x", "password": {"environment": "X"}}"#),
    ]) func refusesInvalidSettings(key: String, json: String) throws {
        #expect { try Settings.read(MQTTSettings.self, json) } throws: { ($0 as? SettingsFault)?.key == key }
    }
}
