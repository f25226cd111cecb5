import HealthModel
import Testing

@testable import FleetCollector

/// The order in which a collector takes the requests of hubs.
@Suite struct RequestTurnsTests {
    private var turns = RequestTurns<Int>(timeout: .seconds(60), maximumBytes: 100)

    private func at(_ second: Int64) -> Instant { Instant(seconds: 1_790_000_000 + second) }

    @Test mutating func aFloodDelaysNoOtherHub() {
        for number in 0..<1000 { turns.add(number, bytes: 1, of: "flood", at: at(0)) }
        turns.add(1, bytes: 1, of: "other", at: at(1))
        let first = turns.take(maximum: 16, maximumBytes: 1000, at: at(1))
        // Only the newest wait, and one of them is carried out at a time.
        #expect(first.map(\.store) == ["flood", "other"])
        #expect(first.map(\.request) == [997, 1])
        #expect(turns.take(maximum: 16, maximumBytes: 1000, at: at(1)).isEmpty)
        turns.finish(["flood", "other"])
        for number in [998, 999] {
            #expect(turns.take(maximum: 16, maximumBytes: 1000, at: at(1)).map(\.request) == [number])
            turns.finish(["flood"])
        }
        #expect(turns.isEmpty)
    }

    @Test mutating func anOldRequestIsNotCarriedOut() {
        turns.add(1, bytes: 1, of: "a", at: at(0))
        turns.add(2, bytes: 1, of: "b", at: at(30))
        #expect(turns.take(maximum: 16, maximumBytes: 1000, at: at(61)).map(\.request) == [2])
    }

    /// A worker without work gets the next request of a hub that is being served, once. It is still carried out in its turn.
    @Test mutating func readsNextRequestOfBusyHubAhead() {
        turns.add(1, bytes: 1, of: "a", at: at(0))
        turns.add(2, bytes: 1, of: "a", at: at(0))
        #expect(turns.takeAhead() == nil)
        #expect(turns.take(maximum: 16, maximumBytes: 1000, at: at(0)).map(\.request) == [1])
        #expect(turns.takeAhead() == 2)
        #expect(turns.takeAhead() == nil)
        turns.finish(["a"])
        #expect(turns.take(maximum: 16, maximumBytes: 1000, at: at(0)).map(\.request) == [2])
        #expect(turns.takeAhead() == nil)
    }

    @Test mutating func theSumOfLengthsIsBounded() {
        turns.add(1, bytes: 60, of: "large", at: at(0))
        turns.add(2, bytes: 30, of: "small", at: at(0))
        turns.add(3, bytes: 30, of: "other", at: at(0))
        #expect(turns.take(maximum: 16, maximumBytes: 1000, at: at(0)).map(\.request) == [2, 3])
    }
}
