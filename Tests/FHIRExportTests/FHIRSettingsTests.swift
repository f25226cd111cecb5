import ExportTesting
import Pipeline
import Testing

@testable import FHIRExport

@Suite struct FHIRSettingsTests {
    @Test func readsSettings() throws {
        let settings = try Settings.read(
            FHIRSettings.self,
            #"{"url": "https://fhir.example.org/r4/", "patient": "Patient/7", "patients": {"x": "Patient/a-1.B"}, "ids": "server", "token": {"environment": "T"}}"#
        )
        #expect(settings.url == "https://fhir.example.org/r4" && settings.ids == .server && settings.token == .environment("T"))
        #expect(
            try Settings.read(FHIRSettings.self, #"{"url": "http://localhost:8080/fhir", "patient": "Patient/7"}"#).ids == .client
        )
    }

    @Test(arguments: [
        ("url", #"{"url": "ftp://x", "patient": "Patient/7"}"#), ("url", #"{"url": "https://a@x", "patient": "Patient/7"}"#),
        ("url", #"{"url": "https://x?y", "patient": "Patient/7"}"#),
        ("url", #"{"url": "http://x", "patient": "Patient/7", "token": {"environment": "T"}}"#),
        ("patient", #"{"url": "https://x", "patient": "7"}"#), ("patient", #"{"url": "https://x", "patient": "Patient/7/8"}"#),
        ("patients", #"{"url": "https://x", "patient": "Patient/7", "patients": {"a": "Anna"}}"#),
        ("ids", #"{"url": "https://x", "patient": "Patient/7", "ids": "both"}"#),
        ("user", #"{"url": "https://x", "patient": "Patient/7", "user": "u"}"#),
    ]) func refusesInvalidSettings(key: String, json: String) throws {
        #expect { try Settings.read(FHIRSettings.self, json) } throws: { ($0 as? SettingsFault)?.key == key }
    }
}
