import FoundationEssentials
import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import Hub

/// The hub shows the state of updates, and the configuration turns them on.
@Suite struct UpdateStateTests {
    private func configuration(_ text: String) throws -> UpdateConfiguration {
        let file = try JSONDecoder().decode([String: UpdateConfiguration].self, from: Data("{\"update\": \(text)}".utf8))
        return try #require(file["update"])
    }

    @Test func bothAreOffByDefault() throws {
        #expect(!UpdateConfiguration().checks && !UpdateConfiguration().applies)
        let empty = try configuration("{}")
        #expect(!empty.checks && !empty.applies)
    }

    @Test func applyingIncludesTheCheck() throws {
        let check = try configuration("{\"check\": true}")
        #expect(check.checks && !check.applies)
        let apply = try configuration("{\"apply\": true}")
        #expect(apply.checks && apply.applies)
    }

    @Test func refusesUnknownKeys() {
        let error = #expect(throws: ConfigurationError.self) { try configuration("{\"aply\": true}") }
        #expect(error?.description == "'update.aply': unknown key, expected one of check, apply")
    }

    private func state(_ outcome: UpdateState.Attempt.Outcome, reason: String?) -> UpdateState {
        var state = UpdateState()
        state.last = .init(outcome: outcome, time: FixedClock().now, from: "1.0", to: "2.0", reason: reason)
        return state
    }

    @Test func doctorShowsWhyAVersionWasUndone() {
        let returned = state(.returned, reason: "profile: a").finding
        #expect(returned?.weight == .warning)
        #expect(returned?.text == "the update to 2.0 was undone: profile: a")
        #expect(state(.failed, reason: "dpkg").finding?.weight == .broken)
        #expect(state(.applied, reason: nil).finding == nil)
        var available = UpdateState()
        (available.checked, available.available) = (FixedClock().now, "2.0")
        #expect(available.finding?.text == "2.0 is available")
        #expect(available.finding?.command == "sudo vitalgate update apply")
        available.failure = "not signed"
        #expect(available.finding?.weight == .warning)
    }

    @Test func theStateIsReadAsWritten() throws {
        let folder = try TemporaryFolder()
        #expect(UpdateState(in: folder.path) == nil)
        let written = state(.returned, reason: "profile: a")
        written.write(in: folder.path)
        #expect(UpdateState(in: folder.path) == written)
        try folder.write(Array("{".utf8), to: "state.json")
        #expect(UpdateState(in: folder.path) == nil)
    }
}
