import HealthModel
import Testing

@testable import FileSource

@Suite struct SeenPlacesTests {
    /// A crafted route with all of its locations at one time. They are not compared in pairs.
    @Test func comparesFewPositionsAtOneTime() throws {
        var seen = SeenPlaces()
        let count = 5000
        let longitude = try Numeral("8.5")
        let latitudes = try (0..<count).map { try Numeral("47.\(10_000 + $0)") }
        let added = latitudes.map { seen.insert(0, $0, longitude) }
        let repeated = latitudes.map { seen.insert(0, $0, longitude) }
        let later = [seen.insert(1, latitudes[0], longitude), seen.insert(1, latitudes[0], longitude)]
        #expect(added.allSatisfy { $0 } && !repeated.contains(true) && later == [true, false])
        #expect(seen.comparisons < SeenPlaces.maximumAtOneTime * SeenPlaces.maximumAtOneTime)
    }

    /// An ordinary route, with one location each second and a repetition at the ends of laps.
    @Test func findsRepetitions() throws {
        var seen = SeenPlaces()
        let longitude = try Numeral("8.5")
        var results: [Bool] = []
        for second in 0..<1000 {
            let latitude = try Numeral("47.\(10_000 + second)")
            results.append(seen.insert(Int64(second), latitude, longitude))
            if second % 100 == 0 { results.append(!seen.insert(Int64(second), latitude, longitude)) }
        }
        // Times that go back.
        results.append(!seen.insert(500, try Numeral("47.10500"), longitude))
        results.append(seen.insert(500, try Numeral("47.1"), longitude))
        #expect(results.allSatisfy { $0 })
    }
}
