import FoundationEssentials
import Glibc
import Testing

/// Targets of the configuration, as a person and the hub use them.
@Suite struct TargetsCommandTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func configure(_ targets: String) throws { try folder.write("config.json5", "{ targets: { \(targets) } }\n") }

    private var archive: String { "archive: { kind: 'files', folder: '\(folder.path("archive"))', daily: false }" }

    /// What lines of changes come to: the samples that are there at the end, by UUID, and how often each line was seen.
    ///
    /// - Parameter isWriting: Whether the last line may not be complete yet.
    private func folded(
        _ name: String = "archive/archive.ndjson", isWriting: Bool = false
    ) throws -> (samples: [String: Double], anchors: [String]) {
        var (samples, anchors): ([String: Double], [String]) = ([:], [])
        let lines = folder.text(name).split(separator: "\n", omittingEmptySubsequences: false)
        for line in isWriting ? lines.dropLast() : lines[...] where !line.isEmpty {
            let object = try JSON(String(line))
            anchors.append(try #require(object["anchor"].text))
            if let deleted = object["deleted"].text {
                samples[deleted] = nil
            } else {
                samples[try #require(object["uuid"].text)] = object["value"].double
            }
        }
        return (samples, anchors)
    }

    private func stored() throws -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in try folder.vitalgate("query", "all", "--format", "ndjson").lines {
            let object = try JSON(line)
            samples[try #require(object["uuid"].text)] = object["value"].double
        }
        return samples
    }

    @Test func exportOncePrintsCounts() throws {
        try configure(archive + ", weights: { kind: 'files', folder: '\(folder.path("w"))', format: 'csv', types: ['bodyMass'] }")
        try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(40)))
        var run = try folder.vitalgate("export", "archive", "--once")
        #expect(run.status == 0 && run.errors == "archive: 40 changes delivered; it is up to date\n", "\(run)")
        #expect(try folded().samples == stored())
        let uuid = try #require(try stored().keys.min())
        try folder.vitalgate("delete", uuid)
        run = try folder.vitalgate("targets", "status", "--format", "ndjson")
        let status = try JSON(run.lines[0])
        #expect((status["state"].text, status["delivered"].integer, status["waiting"].integer) == ("delivering", 40, 1))
        #expect(try JSON(run.lines[1])["state"].text == "new")
        run = try folder.vitalgate("export", "archive", "--once")
        #expect(run.errors == "archive: 1 change delivered; it is up to date\n")
        #expect(try folded().samples == stored())
        // A filter that leaves everything out.
        run = try folder.vitalgate("export", "weights", "--once")
        #expect(run.status == 0 && run.errors == "weights: 0 changes delivered; it is up to date\n")
        #expect(folder.text("w/weights.csv").isEmpty)
    }

    /// Whatever decides which samples go there stops the target when it changes.
    @Test func otherOwnSourcesAreAnotherFilter() throws {
        try configure(archive)
        try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(2)))
        #expect(try folder.vitalgate("export", "archive", "--once").status == 0)
        try configure(archive.replacing("daily", with: "ownSources: ['file.generic-csv'], daily"))
        let run = try folder.vitalgate("export", "archive", "--once")
        #expect(run.status == 69 && run.errors.contains("another filter"), "\(run)")
    }

    /// A date in `where` is another instant in another zone, and a name may be another person's: both are another filter.
    @Test func anotherMeaningIsAnotherFilter() throws {
        func configure(_ zone: String, _ condition: String = "start >= 2026-03-01") throws {
            let target = archive.replacing("daily", with: "where: '\(condition)', daily")
            try folder.write("config.json5", "{ timeZone: '\(zone)', targets: { \(target) } }\n")
        }
        func exported() throws -> (status: Int32, errors: String) {
            let run = try folder.vitalgate("export", "archive", "--once")
            return (run.status, run.errors)
        }
        try configure("UTC")
        let rows = "time,type,value,unit\n2026-02-28T23:30:00Z,bodyMass,80,kg\n2026-03-01T12:00:00Z,bodyMass,81,kg\n"
        try folder.vitalgate("import", folder.write("a.csv", rows))
        #expect(try exported().status == 0)
        #expect(try folded().samples.values.sorted() == [81])
        try configure("Europe/Berlin")
        let run = try exported()
        #expect(run.status == 69 && run.errors.contains("another filter"), "\(run)")
        // A zone in which the date is the same instant is not a change.
        try configure("Africa/Abidjan")
        #expect(try exported().status == 0)
        // A name that passes to another person is one.
        try folder.vitalgate("people", "add", "Anna")
        try folder.vitalgate("people", "add", "Bob")
        try configure("UTC", "subject = Anna")
        #expect(try folder.vitalgate("targets", "restart", "archive").status == 0)
        #expect(try exported().status == 0)
        try folder.vitalgate("people", "rename", "Anna", "Clara")
        try folder.vitalgate("people", "rename", "Bob", "Anna")
        #expect(try exported().status == 69)
    }

    @Test func hubKeepsTargetsUpToDate() throws {
        try configure(archive + ", lost: { kind: 'files', folder: '/dev/null/nowhere' }")
        let hub = try RunningHub.started(folder)
        try hub.drop("a.csv", InboxTests.csv(20))
        try hub.waits { try folder.exists("archive/archive.ndjson") && folded(isWriting: true).samples.count == 20 }
        // A target that cannot work is reported once and does not delay the others.
        try hub.waits { hub.count("target lost: delivery stopped") == 1 }
        try hub.drop("b.csv", InboxTests.csv(30, day: 2))
        try hub.waits { try folded(isWriting: true).samples.count == 50 }
        #expect(try folded().samples == stored())
        #expect(hub.count("target lost: delivery stopped") == 1)
        // Killed, it takes its exporters with it.
        let children = try Self.children(of: hub.program.process)
        #expect(children.count == 2)
        hub.program.signal(SIGKILL)
        _ = try hub.program.wait()
        try hub.waits("its exporters end") { children.allSatisfy { kill($0, 0) != 0 } }
        let again = try RunningHub.started(folder)
        try again.drop("c.csv", InboxTests.csv(10, day: 3))
        try again.waits { try folded(isWriting: true).samples.count == 60 }
        #expect(Set(try folded().anchors).count == 60)
        #expect(try again.stop().status == 0)
    }

    private static func children(of process: pid_t) throws -> [pid_t] {
        var found: [pid_t] = []
        let text = try String(contentsOf: URL(filePath: "/proc/\(process)/task/\(process)/children"), encoding: .utf8)
        for word in text.split(separator: " ") { found.append(try #require(pid_t(word.filter(\.isNumber)))) }
        return found
    }

    /// Killed again and again while readings arrive, it sends each change once.
    @Test func killedFiftyTimes() throws {
        try configure(archive)
        try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(1)))
        for round in 0..<50 {
            let exporter = try folder.start("export", "archive")
            let day = round % 9 + 1
            var text = "time,type,value,unit\n"
            for second in 0..<20 {
                text += "2026-0\(day)-11T\(10 + round / 9):00:\(10 + second)Z,heartRate,\(60 + second),/min\n"
            }
            try folder.vitalgate("import", folder.write("more.csv", text))
            if round % 7 == 3 { try folder.vitalgate("ledger", "undo", "\(round / 2 + 1)") }
            usleep(UInt32(round % 10) * 1500)
            exporter.signal(SIGKILL)
            _ = try exporter.wait()
        }
        #expect(try folder.vitalgate("export", "archive", "--once").status == 0)
        let (samples, anchors) = try folded()
        #expect(try samples == stored())
        #expect(Set(anchors).count == anchors.count)
    }

    /// A truncated file is reported, and the target continues after the user has decided.
    @Test func stoppedAndRestarted() throws {
        try configure(archive)
        try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(5)))
        try folder.vitalgate("export", "archive", "--once")
        try folder.write("archive/archive.ndjson", folder.text("archive/archive.ndjson").dropLast(10).description)
        try folder.vitalgate("import", folder.write("b.csv", InboxTests.csv(5, day: 2)))
        let run = try folder.vitalgate("export", "archive", "--once")
        #expect(run.status == 69 && run.errors.contains("shorter than Vitalgate wrote it"), "\(run)")
        #expect(try folder.vitalgate("targets", "status").output.contains("stopped"))
        #expect(unlink(folder.path("archive/archive.ndjson")) == 0 && unlink(folder.path("archive/archive.state")) == 0)
        #expect(try folder.vitalgate("targets", "restart", "archive").status == 0)
        #expect(try folder.vitalgate("export", "archive", "--once").errors.contains("10 changes delivered"))
        #expect(try folded().samples == stored())
    }

    @Test(arguments: [
        ("a: { folder: '/x' }", "'targets.a.kind': expected one of"),
        ("a: { kind: 'file' }", "'targets.a.kind': expected one of"),
        ("a: { kind: 'files' }", "'targets.a.folder': is missing"),
        ("a: { kind: 'files', folder: 'x' }", "'targets.a.folder': the folder's path must begin with /"),
        ("a: { kind: 'files', folder: '/x', types: ['pulses'] }", "'targets.a.types': unknown type 'pulses'"),
        ("a: { kind: 'files', folder: '/x', units: { heartRate: 'kg' } }", "'targets.a.units.heartRate':"),
        ("a: { kind: 'files', folder: '/x', batch: 0 }", "'targets.a.batch': expected a whole number"),
        ("a: { kind: 'files', folder: '/x', limits: 7 }", "'targets.a.limits': unknown key for files, expected one of"),
        ("A: { kind: 'files', folder: '/x' }", "'targets.A': a target's name"),
    ])
    func wrongConfiguration(targets: String, words: String) throws {
        try configure(targets)
        let run = try folder.vitalgate("targets", "list")
        #expect(run.status == 64 || run.status == 78)
        #expect(run.errors.contains(words), "\(run.errors)")
    }

    /// A relative time would pass other samples each day.
    @Test(arguments: ["-7d", "today", "yesterday", "monday", "now"]) func aRelativeTimeIsRefused(time: String) throws {
        try configure("a: { kind: 'files', folder: '/x', where: 'value > 1 and not start < \(time)' }")
        let run = try folder.vitalgate("targets", "list")
        #expect(run.status == 78 && run.errors.contains("'targets.a.where': '\(time)' changes with the time"), "\(run)")
    }

    @Test func reportsInvalidCondition() throws {
        try configure("a: { kind: 'files', folder: '/x', where: 'value >' }")
        try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(5)))
        let run = try folder.vitalgate("export", "a", "--once")
        #expect(run.status == 78 && run.errors.contains("'targets.a.where':"), "\(run)")
    }
}
