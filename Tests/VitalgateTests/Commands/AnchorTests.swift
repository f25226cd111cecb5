import FoundationEssentials
import Glibc
import Testing

/// An anchor belongs to one store and its history: a reader of `changes` loses nothing, also if a store was restored from a backup.
@Suite struct AnchorTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    /// A reader that keeps its anchor.
    func changes(after anchor: String, status: Int32 = 0, store: String? = nil) throws -> [JSON] {
        let run = try folder.vitalgate(["changes", "--after", anchor], store: store)
        #expect(run.status == status, "\(run.errors)")
        if status == 0 { #expect(run.errors.isEmpty) }
        return try run.objects()
    }

    func anchor(after start: String = "0") throws -> String { try #require(try changes(after: start).last?["anchor"].text) }

    /// Heart rates of one minute.
    func add(_ minute: Int, count: Int = 2, store: String? = nil) throws {
        let rows = (0..<count).map { "2026-04-01T08:\(10 + minute):\(10 + $0)Z,heartRate,61,/min\n" }.joined()
        let file = try folder.write("more.csv", "time,type,value,unit\n" + rows)
        #expect(try folder.vitalgate(["import", file], store: store).status == 0)
    }

    /// As described in docs/how-to/back-up-and-upgrade.md.
    func putBack(_ copy: String) throws {
        for suffix in ["", "-wal", "-shm"] { unlink(folder.store + suffix) }
        try folder.write("store.db", try folder.bytes(copy))
    }

    /// The error names the next step.
    func refuses(_ anchor: String) throws -> Bool {
        let run = try folder.vitalgate("changes", "--after", anchor)
        return run.status == 65 && run.output.isEmpty && run.errors.contains("--after 0")
    }

    @Test func everyLineHasAnchor() throws {
        let run = try folder.vitalgate("changes")
        let all = try run.objects()
        #expect(all.count == 10)
        for (line, change) in zip(run.lines, all) {
            #expect(Array(JSON.keys(of: line).suffix(2)) == ["seq", "anchor"])
            let seq = try #require(change["seq"].integer)
            let rest = try changes(after: try #require(change["anchor"].text))
            #expect(rest.compactMap { $0["seq"].integer } == Array(seq + 1..<11))
        }
        try folder.vitalgate("delete", "--type", "bodyMass", "--yes")
        let deletion = try changes(after: try #require(all.last?["anchor"].text))
        #expect(deletion.count == 1 && deletion[0]["anchor"].text != nil)
        #expect(try changes(after: try #require(deletion[0]["anchor"].text)).isEmpty)
    }

    /// A number alone does not identify its store.
    @Test(arguments: ["1", "5", "10", "11", "90231", "x", "", "00", "-"])
    func aNumberIsNoAnchor(text: String) throws {
        let run = try folder.vitalgate("changes", "--after", text)
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("anchor"), "\(run.errors)")
    }

    @Test func anotherStoresAnchorIsRefused() throws {
        let own = try anchor()
        try add(0, count: 12, store: folder.path("other.db"))
        let others = try #require(try changes(after: "0", store: folder.path("other.db")).last?["anchor"].text)
        #expect(try refuses(others))
        _ = try changes(after: own, status: 65, store: folder.path("other.db"))
    }

    @Test func aBackupBeginsAnEpoch() throws {
        let before = try anchor()
        #expect(try folder.vitalgate("store", "backup", folder.path("copy.db")).status == 0)
        try add(0)
        let lost = try anchor()
        #expect(try changes(after: before).count == 2)
        try putBack("copy.db")
        // Before anybody writes, after fewer changes than were lost, and after more.
        for step in 1..<4 {
            #expect(try refuses(before))
            #expect(try refuses(lost))
            try add(step)
        }
        let all = try changes(after: "0")
        #expect(all.count == 16)
        #expect(try changes(after: try #require(all[9]["anchor"].text)).count == 6)
        #expect(try changes(after: try #require(all[12]["anchor"].text)).count == 3)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        // The same backup once more: anchors given since the first restoration are also invalid.
        let second = try #require(all.last?["anchor"].text)
        try putBack("copy.db")
        #expect(try refuses(second))
        try add(7, count: 9)
        #expect(try refuses(second))
        #expect(!folder.exists("copy.db-journal") && !folder.exists("copy.db-wal"))
    }

    /// A copy of the file alone, by any program: the loss is detected, and the common history does not have to be read again.
    @Test func detectsRestoredFile() throws {
        let before = try anchor()
        try folder.write("copy.db", try folder.bytes("store.db"))
        try add(0)
        let lost = try anchor()
        try putBack("copy.db")
        for step in 1..<4 {
            #expect(try refuses(lost))
            #expect(try changes(after: before).count == 2 * (step - 1))
            try add(step)
        }
    }

    /// Another place, another card, another file of the same content: no reader has to begin again.
    @Test func anchorsSurviveMovingStore() throws {
        let anchors = try changes(after: "0").compactMap { $0["anchor"].text }
        #expect(anchors.count == 10)
        let moved = folder.path("moved.db")
        try folder.write("moved.db", try folder.bytes("store.db"))
        for suffix in ["", "-wal", "-shm"] { unlink(folder.store + suffix) }
        try add(0, store: moved)
        for (index, anchor) in anchors.enumerated() {
            #expect(try changes(after: anchor, store: moved).count == 11 - index)
        }
    }

    /// A follower is notified and does not wait forever for a missing file.
    @Test func followerDetectsReplacedStore() throws {
        #expect(try folder.vitalgate("store", "backup", folder.path("copy.db")).status == 0)
        let pipe = try Pipe()
        let follower = try folder.start("changes", "--follow", output: pipe)
        #expect(try pipe.readLines(10).count == 10)
        try putBack("copy.db")
        let run = try follower.wait()
        #expect(run.status == 66)
        #expect(run.errors.contains("replaced"), "\(run.errors)")
    }
}
