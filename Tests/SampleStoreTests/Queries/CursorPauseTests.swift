import HealthModel
import Testing

@testable import SampleStore

@Suite struct CursorPauseTests {
    /// A query that pauses after every hundred rows gives the same result as one without pauses.
    @Test(arguments: ["start", "-start", "-value,start"]) func aPauseLosesNothing(order: String) throws {
        try TestStore.with { test in
            let make = try SampleMaker()
            try test.keepExactly(try (0..<1050).map { try make("\(40 + $0 % 100)", at: Double($0)) })
            var query = SampleQuery(types: [.heartRate], where: try SamplePredicate("value > 137"))
            query.order = try order.split(separator: ",").map { try #require(SampleOrder($0)) }
            let whole = try test.store.samples.cursor(matching: query)
            var expected: [SampleIdentity] = []
            while let sample = try whole.next() { expected.append(sample.uuid) }
            whole.close()
            #expect(expected.count == 20)
            let cursor = try test.store.samples.cursor(matching: query)
            defer { cursor.close() }
            var (found, pauses) = ([SampleIdentity](), 0)
            var rows = 100
            reading: while true {
                switch try cursor.next(within: &rows) {
                case .sample(let sample): found.append(sample.uuid)
                case .pause:
                    #expect(rows == 0)
                    pauses += 1
                    rows = 100
                case .end: break reading
                }
            }
            #expect(found == expected)
            #expect(pauses == 10)
            // A paused query may continue without a limit.
            let other = try test.store.samples.cursor(matching: query)
            defer { other.close() }
            rows = 10
            guard case .pause = try other.next(within: &rows) else {
                Issue.record("there is no pause")
                return
            }
            var rest: [SampleIdentity] = []
            while let sample = try other.next() { rest.append(sample.uuid) }
            #expect(rest == expected)
        }
    }
}
