import Glibc
import Testing

/// `changes --follow` on a store that other processes write.
@Suite struct FollowTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        let rows = (0..<60).map { "2026-03-30T08:\($0 / 10)\($0 % 10):00Z,heartRate,\(60 + $0),/min\n" }
        let file = try folder.write("rates.csv", "time,type,value,unit\n" + rows.joined())
        #expect(try folder.vitalgate("import", file).status == 0)
    }

    /// Each commit is reported by itself: nothing else is written before its line is expected.
    @Test func reportsEachCommitAlone() throws {
        let pipe = try Pipe()
        let follower = try folder.start("changes", "--follow", output: pipe)
        let uuids = try pipe.readLines(60).compactMap { try JSON($0)["uuid"].text }
        // Each deletion is one small commit. The follower once had a chance of one in some to be quick enough to miss it.
        for uuid in uuids.prefix(20) {
            #expect(try folder.vitalgate("delete", uuid, "--yes").status == 0)
            let line = try #require(pipe.readLines(1, within: .seconds(60)).first)
            #expect(try JSON(line)["deleted"].text == uuid)
        }
        follower.signal(SIGTERM)
        _ = try follower.wait()
    }

    /// Statistics that follow: all days first, then the day that a commit touched, and a day that is left empty.
    @Test func statisticsFollow() throws {
        let file = try folder.write("more.csv", "time,type,value,unit\n2026-03-31T08:00:00Z,heartRate,99,/min\n")
        let pipe = try Pipe()
        let follower = try folder.start(
            "stats", "heartRate", "--every", "1d", "--format", "ndjson", "--time-zone", "UTC", "--follow", output: pipe)
        let first = try pipe.readLines(1).map { try JSON($0) }
        #expect(first.map { $0["count"].integer } == [60])
        #expect(try folder.vitalgate("import", file).status == 0)
        let second = try pipe.readLines(1, within: .seconds(60)).map { try JSON($0) }
        #expect(second.map { $0["start"].text } == ["2026-03-31T00:00:00.000000Z"] && second.map { $0["max"].double } == [99])
        #expect(try folder.vitalgate("ledger", "undo", "2").status == 0)
        let third = try pipe.readLines(1, within: .seconds(60)).map { try JSON($0) }
        #expect(third.map { $0["count"].integer } == [0] && third.map { $0["max"] == .null } == [true])
        follower.signal(SIGTERM)
        _ = try follower.wait()
    }
}
