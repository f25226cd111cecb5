import EventLoopKit
import PipelineTesting
import Testing

@testable import Hub

/// The numbers that the process of the API reports.
@Suite struct ServingProcessTests {
    @Test func refusalsByBound() throws {
        let clock = RadioBench.Clock()
        let loop = EventLoop(clock: clock)
        let script =
            "echo 3; echo refused streams 2; echo refused uploads 1; echo refused streams 5; echo refused; exec sleep 600"
        let process = ServingProcess(["/bin/sh", "-c", script], loop: loop, settings: { [] })
        try process.start()
        defer { process.stop() }
        for _ in 0..<10_000 {
            if process.refusedForLoad == 6 { break }
            loop.turn(maximumWait: .milliseconds(10))
        }
        #expect(process.wrongTokens == 3 && process.refusedForLoad == 6)
        #expect(process.refusals.map(\.bound) == ["streams", "uploads"])
        #expect(process.refusals.map(\.count) == [5, 1])
        #expect(process.refusals.allSatisfy { $0.since == clock.now })
    }
}
