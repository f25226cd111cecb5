import Foundation
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileExport

/// The content of a folder after every kind of failure: each change once, in order, in files that never change again.
@Suite struct FileExporterTests {
    private let folder: TemporaryFolder
    private let origin = Origin(
        person: "11111111-2222-4333-8444-555555555555", type: .heartRate,
        source: SourceRevision(id: "strap", name: "Strap", version: nil), device: nil)

    init() throws { folder = try TemporaryFolder() }

    private func exporter(
        _ form: FileExporter.Form = .ndjson, limit: Int = 64 << 20, at time: Int64 = 1_800_000_000, isPacked: Bool = false
    ) throws -> FileExporter {
        FileExporter(
            .init(folder: folder.file("export"), form: form, limit: limit, isPacked: isPacked),
            context: try ExportContext(name: "vitals", me: origin.person, now: { Instant(seconds: time) }))
    }

    private func batch(_ range: Range<Int>) throws -> ExportBatch {
        var batch = ExportBatch()
        for number in range {
            let start = Instant(seconds: 1_790_000_000 + Int64(number))
            let reading = Reading(
                origin: origin, numeral: try Numeral("\(60 + number % 40)"), unit: try Unit(ucum: "/min"),
                time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
            let sample = try #require(
                try ReadingPath.samples(
                    of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000)
                )
                .first
            ).sample
            batch.changes.append(
                number % 7 == 6
                    ? .deleted(StoredDeletion(sample: sample, replacedBy: nil, ingest: 1, seq: Int64(number + 1)))
                    : .added(StoredSample(sample: sample, ingest: 1, seq: Int64(number + 1))))
            batch.anchors.append("0123456789abcdef-\(number + 1)")
        }
        return batch
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.file("export")).filter { !$0.contains(".state") }.sorted()
        }
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try #require(FileManager.default.contents(atPath: folder.file("export/" + name))), as: UTF8.self)
    }

    /// The numbers of all changes, file by file. The growing file comes last.
    private func numbers() throws -> [Int] {
        let names = try files.filter { $0 != "vitals.ndjson" && $0 != "mine.ndjson" } + files.filter { $0 == "vitals.ndjson" }
        return try names.flatMap { try text($0).split(separator: "\n") }.map { line in
            let anchor = try #require(line.split(separator: "\"anchor\":\"0123456789abcdef-").last)
            return try #require(Int(anchor.prefix { $0.isNumber }))
        }
    }

    /// A disk that is not mounted is waited for, and nothing is written into its mount point.
    @Test func anAbsentFolderIsLeftAlone() throws {
        let exporter = try exporter()
        let mark = TargetMark(identity: "folder", count: 0, anchor: "0", holder: StoreHolder(id: "a", name: "a"))
        _ = try exporter.claim(mark)
        func delivered(_ range: Range<Int>, _ count: Int64) throws -> ExportBatch {
            var batch = try batch(range)
            batch.mark = mark
            batch.mark?.count = count
            return batch
        }
        _ = try exporter.deliver(delivered(0..<5, 1))
        try FileManager.default.moveItem(atPath: folder.file("export"), toPath: folder.file("disk"))
        for isThere in [false, true] {
            if isThere {
                try FileManager.default.createDirectory(atPath: folder.file("export"), withIntermediateDirectories: false)
            }
            #expect(throws: DeliveryError.self) { try exporter.deliver(delivered(5..<10, 2)) }
            let found = try #require(try exporter.found())
            #expect(found.mark == nil && found.absence != nil)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("export")).isEmpty)
        try FileManager.default.removeItem(atPath: folder.file("export"))
        try FileManager.default.moveItem(atPath: folder.file("disk"), toPath: folder.file("export"))
        _ = try exporter.deliver(delivered(5..<10, 2))
        #expect(try numbers() == Array(1...10))
    }

    @Test func linesEqualChangesCommand() throws {
        #expect(try exporter().deliver(batch(0..<10)) == 0)
        #expect(try numbers() == Array(1...10))
        #expect(try text("vitals.ndjson").split(separator: "\n").count { $0.hasPrefix("{\"deleted\"") } == 1)
        var status = stat()
        #expect(stat(folder.file("export/vitals.ndjson"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(folder.file("export"), &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test func csvRowsNameChange() throws {
        let exporter = try exporter(.csv)
        _ = try exporter.deliver(batch(0..<7))
        _ = try exporter.deliver(batch(7..<8))
        let rows = try text("vitals.csv").split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(rows.count == 9)
        #expect(Set(rows.map(\.count)).count == 1)
        #expect(rows.map { $0[0] } == ["change"] + Array(repeating: "added", count: 6) + ["deleted", "added"])
    }

    /// A change that was delivered and not acknowledged is delivered again, and is in the file once.
    @Test func repeatedDeliveryWritesEachChangeOnce() throws {
        _ = try exporter().deliver(batch(0..<5))
        #expect(try exporter().deliver(batch(0..<5)) == 0)
        _ = try exporter().deliver(batch(2..<9))
        #expect(try numbers() == Array(1...9))
    }

    /// A user runs `export --once` next to the hub. Each continues where the other stopped, also after a rotation.
    @Test func twoByTurns() throws {
        let both = try [exporter(limit: 1500), exporter(limit: 1500)]
        for number in 0..<12 { _ = try both[number % 2].deliver(batch(number..<number + 1)) }
        #expect(try numbers() == Array(1...12))
        #expect(try files.count > 2)
    }

    /// The content of an existing file is never cut off.
    @Test func doesNotTruncateForeignFile() throws {
        _ = try exporter().deliver(batch(0..<1))
        try folder.write(Array("mine\n".utf8), to: "export/mine.ndjson")
        func another(_ name: String, of store: String) throws -> FileExporter {
            FileExporter(
                .init(folder: folder.file("export")),
                context: try ExportContext(name: name, store: store, me: origin.person, now: { Instant(seconds: 1_800_000_000) })
            )
        }
        #expect(throws: DeliveryError.self) { try another("mine", of: "a").deliver(batch(0..<1)) }
        #expect(try text("mine.ndjson") == "mine\n")
        #expect(throws: DeliveryError.self) { try another("vitals", of: "b").deliver(batch(0..<1)) }
        #expect(try numbers() == [1])
    }

    /// Killed in the middle of a line: the half is cut off, and comes again.
    @Test func halfALineIsCutOff() throws {
        _ = try exporter().deliver(batch(0..<5))
        let whole = try text("vitals.ndjson")
        try folder.write(Array((whole + "{\"uuid\":\"01").utf8), to: "export/vitals.ndjson")
        _ = try exporter().deliver(batch(5..<6))
        #expect(try numbers() == Array(1...6))
    }

    /// A user has shortened the file with an editor. The target stops, because nothing may be guessed.
    @Test func stopsIfFileShrank() throws {
        _ = try exporter().deliver(batch(0..<5))
        try folder.write(Array(try text("vitals.ndjson").utf8.dropLast(10)), to: "export/vitals.ndjson")
        #expect(throws: DeliveryError.self) { try exporter().deliver(batch(5..<6)) }
        #expect(try text("vitals.ndjson").count > 100)
    }

    @Test func filesTurnAndStay() throws {
        let exporter = try exporter(limit: 1000)
        for number in 0..<9 { _ = try exporter.deliver(batch(number..<number + 1)) }
        #expect(try files.count > 2)
        #expect(try files.allSatisfy { $0 == "vitals.ndjson" || $0.hasPrefix("vitals-20270115-00000") })
        #expect(try numbers() == Array(1...9))
        // Another day.
        let before = try files
        _ = try self.exporter(limit: 1 << 20, at: 1_800_086_400).deliver(batch(9..<10))
        #expect(try files.count == before.count + 1)
        #expect(try numbers() == Array(1...10))
    }

    /// Killed between the new name and the note of it.
    @Test func aTurnIsTakenUp() throws {
        for number in 0..<3 { _ = try exporter().deliver(batch(number..<number + 1)) }
        #expect(rename(folder.file("export/vitals.ndjson"), folder.file("export/vitals-20270115-000001.ndjson")) == 0)
        _ = try exporter().deliver(batch(2..<5))
        #expect(try files == ["vitals-20270115-000001.ndjson", "vitals.ndjson"])
        #expect(try numbers() == Array(1...5))
        let first = try text("vitals-20270115-000001.ndjson")
        #expect(first.split(separator: "\n").count == 3)
    }

    /// Samples without a schema are left out and counted, and the position advances anyway.
    @Test func dataPointsOfOpenMHealth() throws {
        var batch = try batch(0..<20)
        let first = try #require(batch.changes.first).sample
        let origin = Origin(person: origin.person, type: .batteryLevel, source: origin.source, device: nil)
        let battery = Reading(
            origin: origin, numeral: try Numeral("50"), unit: try Unit(ucum: "%"),
            time: .instants(start: first.start, end: first.start, offset: .utc), place: Place(.line, 1))
        let gated = try ReadingPath.samples(of: [battery], zone: TimeZoneRules(fixed: .utc), received: first.received)
        batch.changes.append(.added(StoredSample(sample: try #require(gated.first).sample, ingest: 1, seq: 21)))
        batch.anchors.append("0123456789abcdef-21")
        let exporter = try exporter(.openMHealth)
        #expect(try exporter.deliver(batch) == 1)
        #expect(try files == ["vitals.omh.ndjson"])
        let lines = try text("vitals.omh.ndjson").split(separator: "\n")
        #expect(lines.count == 20 && lines.count { $0.hasPrefix(#"{"header":{"id":"#) } == 18)
        // After a kill all of it is known.
        #expect(try self.exporter(.openMHealth).deliver(batch) == 0)
        #expect(try text("vitals.omh.ndjson").split(separator: "\n").count == 20)
    }

    /// Files are compressed when they get their final names, also after a kill in between. Nothing is doubled or lost.
    @Test func packedFiles() throws {
        for part in 0..<6 { _ = try exporter(limit: 3000, isPacked: true).deliver(batch(part * 20..<part * 20 + 20)) }
        var names = try files
        #expect(names.last == "vitals.ndjson" && names.dropLast().allSatisfy { $0.hasSuffix(".ndjson.zst") } && names.count > 2)
        func lines() throws -> [String] {
            var all: [String] = []
            for name in try files {
                let path = folder.file("export/" + name)
                let text = name.hasSuffix(".zst") ? try Packed.text(path) : try self.text(name)
                all += text.split(separator: "\n").map(String.init)
            }
            return all
        }
        let before = try lines()
        #expect(before.count == 120 && Set(before).count == 120)
        // Killed before the compressed file was complete, and after it.
        let first = try #require(names.first)
        let unpacked = String(first.dropLast(4))
        try Data(Packed.text(folder.file("export/" + first)).utf8).write(to: URL(filePath: folder.file("export/" + unpacked)))
        try Data([1, 2, 3]).write(to: URL(filePath: folder.file("export/" + first + ".part-1")))
        // Another target's file, whose name begins in the same way.
        try Data("x".utf8).write(to: URL(filePath: folder.file("export/vitals-old.ndjson")))
        _ = try exporter(limit: 3000, isPacked: true).deliver(batch(100..<120))
        names = try files
        #expect(!names.contains(unpacked) && !names.contains(first + ".part-1") && names.contains("vitals-old.ndjson"))
        #expect(try unlink(folder.file("export/vitals-old.ndjson")) == 0 && lines() == before)
    }

    // MARK: Marks

    private func marked(_ range: Range<Int>, _ count: Int64, _ identity: String = "folder") throws -> ExportBatch {
        var batch = try batch(range)
        batch.mark = TargetMark(
            identity: identity, count: count, anchor: batch.anchors.last ?? "0",
            holder: StoreHolder(id: "m", name: "'pi' (/var/lib/s.db)"), time: Instant(seconds: 1_790_000_000))
        return batch
    }

    /// The state names the folder, the last delivery and the store. Another folder has no such state, and checking it creates nothing.
    @Test func rejectsDeliveryAfterRestore() throws {
        let exporter = try exporter()
        #expect(try exporter.found().map { $0.identity == nil && $0.mark == nil } == true)
        #expect(!FileManager.default.fileExists(atPath: folder.file("export")))
        let first = try #require(try marked(0..<5, 1).mark)
        _ = try exporter.claim(TargetMark(identity: "folder", count: 0, anchor: "0", holder: first.holder))
        _ = try exporter.deliver(try marked(0..<5, 1))
        #expect(try self.exporter().found()?.mark == first)
        // The folder was restored from a backup: the next delivery is refused.
        #expect(throws: DeliveryError.self) { try self.exporter().deliver(try marked(5..<9, 5)) }
        #expect(throws: DeliveryError.self) { try self.exporter().deliver(try marked(5..<9, 2, "other")) }
        _ = try self.exporter().deliver(try marked(5..<9, 2))
        #expect(try numbers().count == 9)
        // Told everything again, all of it is written again.
        _ = try exporter.claim(TargetMark(identity: "folder", count: 7, anchor: "0", holder: first.holder))
        _ = try exporter.deliver(try marked(0..<9, 8))
        #expect(try numbers().count == 18)
    }

    /// All lines can be imported again, except those of samples that were deleted later.
    @Test func theWayBack() throws {
        let exporter = try exporter(limit: 1)
        for start in stride(from: 0, to: 35, by: 5) { _ = try exporter.deliver(try batch(start..<start + 5)) }
        var deleted = try batch(0..<1)
        if case .added(let stored) = deleted.changes[0] {
            deleted.changes = [.deleted(StoredDeletion(sample: stored.sample, replacedBy: nil, ingest: 1, seq: 99))]
        }
        deleted.anchors = ["0123456789abcdef-99"]
        _ = try exporter.deliver(deleted)
        var bytes: [UInt8] = []
        #expect(try exporter.lines { bytes += $0 } == [:])
        let lines = bytes.split(separator: 0x0A)
        // Every seventh of 35 is a deletion of what never came, and the first one is gone.
        #expect(lines.count == 35 - 5 - 1)
    }
}

/// What zstd's own program makes of a file.
private enum Packed {
    static func text(_ path: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/zstd")
        process.arguments = ["-dcq", path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: bytes, as: UTF8.self)
    }
}
