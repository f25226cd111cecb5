import EventLoopKit
import Hub
import Ingestion
import PipelineTesting
import Testing

/// Processes that run once a day next to the hub.
@Suite struct DailyProcessTests {
    @Test func runsOnceDailyWithTrustedClock() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("runs")
        let clock = RadioBench.Clock()
        let loop = EventLoop(clock: clock)
        var isRight = false
        var notices: [String] = []
        let daily = DailyProcess("prune", loop: loop) { isRight }
        daily.onNotice = { notices.append("\($0)") }
        // Runs until the end is reported, because the line is written before.
        func runs(after hours: Int, expecting count: Int) throws -> Int {
            clock.uptime += .seconds(hours * 3600 + 600)
            var written = 0
            // The limit of five minutes only ends a test that would hang.
            for _ in 0..<60_000 {
                loop.turn(maximumWait: .milliseconds(5))
                written = (SmallFile.read(path, limit: 100) ?? []).count
                if count > 0, written == count { break }
                if count == 0 { break }
            }
            // The end of the process itself.
            for _ in 0..<20 { loop.turn(maximumWait: .milliseconds(5)) }
            return written
        }
        let command = ["/bin/sh", "-c", "printf x >> '\(path)'; exit 3"]
        daily.run(command)
        #expect(try runs(after: 0, expecting: 0) == 0, "nobody has set the clock")
        isRight = true
        #expect(try runs(after: 1, expecting: 1) == 1)
        daily.run(command)
        #expect(try runs(after: 22, expecting: 0) == 1, "the day is not over")
        #expect(try runs(after: 2, expecting: 2) == 2)
        #expect(notices.first == "prune: the process ended (status 3), retrying in a day")
        daily.run(nil)
        #expect(try runs(after: 48, expecting: 0) == 2)
        daily.stop()
    }
}
