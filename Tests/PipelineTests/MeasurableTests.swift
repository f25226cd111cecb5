import HealthModel
import Testing

@testable import Pipeline

/// A value that no instrument can measure is quarantined, whatever its type, so that no sum becomes infinite.
@Suite struct MeasurableTests {
    @Test(arguments: ["distanceWalkingRunning", "stepCount", "activeEnergyBurned", "bodyMass", "dietaryEnergyConsumed"])
    func quarantinesUnmeasurableValues(id: String) throws {
        let type = try #require(SampleType(id))
        for text in ["1e16", "3e20"] {
            let origin = Origin(person: "me", type: type, source: SourceRevision(id: "s", name: "S"), device: nil)
            let reading = Reading(
                origin: origin, numeral: try Numeral(text), unit: type.canonicalUnit,
                time: .instants(start: Instant(seconds: 1_790_000_000), end: Instant(seconds: 1_790_000_060), offset: .utc),
                place: Place(.line, 1))
            let gated = try ReadingPath.samples(
                of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_790_000_100))
            #expect(gated.first?.rule == .impossible, "\(id) \(text)")
        }
    }
}
