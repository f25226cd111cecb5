import HealthModel
import Synchronization
import Testing

@testable import Hub

/// The machine's time as the hub uses it.
@Suite struct SteadyClockTests {
    /// A machine's clocks that the test sets, in seconds.
    private final class Clocks: Sendable {
        let state = Mutex<(now: Int64, uptime: Int64)>((0, 100))
        func pass(_ seconds: Int64, setBy step: Int64 = 0) {
            state.withLock { $0 = ($0.now + seconds + step, $0.uptime + seconds) }
        }
        func clock(after last: Int64? = nil) -> SteadyClock {
            SteadyClock(
                now: { Instant(seconds: self.state.withLock { $0.now }) },
                uptime: { .seconds(self.state.withLock { $0.uptime }) }, after: last.map { Instant(seconds: $0) })
        }
    }

    private static let year: Int64 = 365 * 86_400
    /// 2026-11-28
    private static let present: Int64 = 1_795_824_000
    private let clocks = Clocks()

    private func begin(at now: Int64) -> SteadyClock {
        clocks.pass(0, setBy: now)
        return clocks.clock()
    }

    /// A wrong answer of a time server, for some seconds.
    @Test(arguments: [9 * year, 2 * year, -year * 56]) func leaps(step: Int64) {
        let clock = begin(at: Self.present)
        #expect(clock.time() == Instant(seconds: Self.present) && !clock.isUntrusted)
        clocks.pass(10, setBy: step)
        #expect(clock.time() == Instant(seconds: Self.present + 10) && clock.isUntrusted)
        clocks.pass(10)
        #expect(clock.time() == Instant(seconds: Self.present + 20))
        clocks.pass(10, setBy: -step)
        #expect(clock.time() == Instant(seconds: Self.present + 30) && !clock.isUntrusted)
    }

    @Test func stepsOfARightClock() {
        let clock = begin(at: Self.present)
        _ = clock.time()
        clocks.pass(5, setBy: 3 * 86_400)
        #expect(clock.time() == Instant(seconds: Self.present + 5 + 3 * 86_400) && !clock.isUntrusted)
    }

    /// A Pi from 1970, to the right time or to 2036.
    @Test(arguments: [true, false]) func firstSynchronization(isRight: Bool) {
        let clock = begin(at: 60)
        #expect(clock.time() == Instant(seconds: 60) && !clock.isUntrusted)
        clocks.pass(10, setBy: Self.present + (isRight ? 0 : 9 * Self.year))
        #expect(clock.isUntrusted == !isRight)
        #expect(clock.time() == Instant(seconds: isRight ? Self.present + 70 : 70))
    }

    /// A machine from a drawer: years that are stable for a day are believed, but never 2036.
    @Test(arguments: [(2, false), (9, true)] as [(Int64, Bool)]) func years(count: Int64, isUntrusted: Bool) {
        let clock = begin(at: Self.present)
        _ = clock.time()
        clocks.pass(1, setBy: count * Self.year)
        #expect(clock.isUntrusted)
        clocks.pass(90_000)
        #expect(clock.isUntrusted == isUntrusted)
        #expect(clock.time() == Instant(seconds: Self.present + 90_001 + (isUntrusted ? 0 : count * Self.year)))
    }

    /// A time server answered wrongly before the hub started.
    @Test(arguments: [(2 * year, true), (20 * 86_400, false)] as [(Int64, Bool)]) func leapBeforeTheStart(
        step: Int64, isUntrusted: Bool
    ) {
        clocks.pass(0, setBy: Self.present + step)
        let clock = clocks.clock(after: Self.present)
        #expect(clock.isUntrusted == isUntrusted)
        #expect(clock.time() == Instant(seconds: Self.present + (isUntrusted ? 0 : step)))
        clocks.pass(10, setBy: -step)
        #expect(clock.time() == Instant(seconds: Self.present + 10) && !clock.isUntrusted)
    }
}
