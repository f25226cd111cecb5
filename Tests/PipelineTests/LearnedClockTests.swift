import HealthModel
import Pipeline
import PipelineTesting
import Testing

@Suite struct LearnedClockTests {
    private static let second: Int64 = 1_000_000

    /// A clock that was compared at our seconds `at`, when it was this many seconds ahead.
    private static func clock(_ comparisons: (at: Int64, ahead: Int64)...) -> LearnedClock {
        var clock = shown(comparisons[0])
        for comparison in comparisons.dropFirst() {
            clock.learn(
                shown: WallTime(microseconds: (comparison.at + comparison.ahead) * second),
                received: Instant(seconds: comparison.at))
        }
        return clock
    }

    private static func shown(_ comparison: (at: Int64, ahead: Int64)) -> LearnedClock {
        LearnedClock(
            shown: WallTime(microseconds: (comparison.at + comparison.ahead) * second), received: Instant(seconds: comparison.at))
    }

    private static func ahead(_ clock: LearnedClock, at shown: Int64) -> Double {
        Double(clock.ahead(at: WallTime(microseconds: shown * second))) / Double(second)
    }

    /// Eleven seconds are an error of the clock, on top of the zone's rules. An hour is not.
    @Test(arguments: [(11, true), (-1700, true), (3600, false), (-3600, false), (90_000, false)] as [(Int64, Bool)])
    func zonesRules(error: Int64, followsZone: Bool) throws {
        let zone = try TimeZoneRules.berlin
        let received = try Instant("2026-11-20T07:00:00Z")
        let wall = received.wallTime(at: ZoneOffset(seconds: 3600))
        let clock = LearnedClock(
            shown: WallTime(microseconds: wall.microseconds + error * Self.second), received: received, zone: zone)
        #expect(clock.followsZone == followsZone)
        #expect(Self.ahead(clock, at: 0) == Double(followsZone ? error : 3600 + error))
        #expect(LearnedClock(points: clock.points, followsZone: followsZone) == clock)
    }

    @Test func oneComparison() {
        let clock = Self.clock((at: 1000, ahead: -300))
        for time in [0, 700, 5000] as [Int64] { #expect(Self.ahead(clock, at: time) == -300) }
    }

    @Test("drift over a connection") func drift() {
        // 20 s in ten hours.
        let clock = Self.clock((at: 0, ahead: 10), (at: 36_000, ahead: 30))
        #expect(Self.ahead(clock, at: 10) == 10)
        #expect(abs(Self.ahead(clock, at: 18_020) - 20) < 0.001)
        #expect(Self.ahead(clock, at: 36_030) == 30)
        #expect(Self.ahead(clock, at: 90_000) == 30)
        #expect(Self.ahead(clock, at: -50) == 10)
    }

    @Test("a clock that was set did not drift") func set() {
        for ahead in [3600, -3600] as [Int64] {
            let clock = Self.clock((at: 0, ahead: 0), (at: 1000, ahead: ahead))
            for time in [-5000, 500, 9000] as [Int64] { #expect(Self.ahead(clock, at: time) == Double(ahead)) }
        }
    }
}
