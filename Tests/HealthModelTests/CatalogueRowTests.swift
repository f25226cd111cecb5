import Testing

@testable import HealthModel

/// New rows of the catalogue.
@Suite struct CatalogueRowTests {
    @Test func theDimensionFollowsFromTheUnit() {
        let entry = Catalogue.entry(
            row: ["phaseAngle", "deg", "mean", "0...90", "2...15", "Phase Angle"], healthKitIdentifier: nil, healthKitUnit: nil,
            since: nil, codes: [:])
        #expect(entry.dimensionName == "angle" && entry.unit.code == "deg" && entry.possible == 0...90)
    }
}
