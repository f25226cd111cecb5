import HealthModel
import Testing

@testable import SampleStore

@Suite struct SuspicionTests {
    /// What is looked at together is bounded; what is found is not cut there. (Where a window has only one or two of its readings it ends a little earlier.)
    @Test(arguments: [17, 40, 1000]) func aStretchGoesOnOverWindows(window: Int) throws {
        try TestStore.with { test in
            let own = try SampleMaker(.bodyTemperature, source: "own")
            let other = try SampleMaker(.bodyTemperature, source: "other")
            let right = try (0..<30).map { try own("36.\($0 % 9)", at: Double($0) * 86_400) }
            let wrong = try (30..<90).map { try own("98.\($0 % 7)", at: Double($0) * 86_400) }
            let later = try (90..<120).map { try own("36.\($0 % 9)", at: Double($0) * 86_400) }
            let others = try (0..<120).map { try other("36.\($0 % 8)", at: Double($0) * 86_400 + 7200) }
            try test.keep(right + wrong + later + others)
            let found = try test.store.suspicions(window: window)
            #expect(found.map(\.stretch.count) == [60])
            let stretch = try #require(found.first?.stretch)
            #expect((stretch.from, stretch.to) == (wrong[0].sample.start, wrong[59].sample.start))
            #expect((stretch.taken.code, stretch.fits.code) == ("Cel", "[degF]"))
            #expect(found.first?.series.source == "own")
        }
    }
}
