import ExportTesting
import Foundation
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import ExportEngine
@testable import FileExport

/// A target that is a folder of files, which contains each sample that is sent again twice.
@Suite struct FileTargetTests {
    private let test: ExportedStore
    private let folder: TemporaryFolder

    init() throws {
        (test, folder) = (try ExportedStore(), try TemporaryFolder())
        try test.add((0..<30).map { try test.sample(60 + $0, at: $0) })
    }

    private func exporter(_ form: FileExporter.Form) throws -> FileExporter {
        FileExporter(
            .init(folder: folder.file("export"), form: form, limit: 1 << 20, isPacked: false),
            context: try ExportContext(name: "other", me: test.origin.person, now: { ExportedStore.received }))
    }

    /// The advice leads to a folder with each sample once.
    @Test func adviceBeforeRestart() throws {
        func settings(_ exporter: FileExporter) -> TargetSettings { TargetSettings(name: "other", shapeText: exporter.shape) }
        let first = try exporter(.ndjson)
        try test.finish(try test.run(first, settings(first)))
        let second = try exporter(.csv)
        let run = try test.run(second, settings(second))
        #expect(try run.step() == .stopped)
        let path = folder.file("export")
        let advice = "empty \(path), then run 'vitalgate targets restart other' to send everything again"
        #expect(run.target.words?.hasSuffix(advice) == true, "\(run.target.words ?? "")")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try test.store.targets.restart(target: "other", isOrdered: true, filter: "", at: ExportedStore.received)
        let third = try exporter(.csv)
        try test.finish(try test.run(third, settings(third)))
        third.finish()
        let text = try String(contentsOfFile: folder.file("export/other.csv"), encoding: .utf8)
        #expect(text.split(separator: "\n").count == 31, "a header, and each sample once")
    }
}
