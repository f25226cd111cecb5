import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import CommandExport

/// A command gets the changes as lines, and gets them again until it acknowledges them.
@Suite struct CommandExporterTests {
    private let test: ExportedStore
    private let folder: TemporaryFolder

    init() throws { (test, folder) = (try ExportedStore(), try TemporaryFolder()) }

    private func exporter(_ script: String) throws -> CommandExporter {
        CommandExporter(
            .init(command: ["/bin/sh", "-c", script, folder.path]),
            context: try ExportContext(name: "script", me: test.store.owner, now: { Instant(seconds: 1_790_000_000) }))
    }

    private func received() throws -> [String] {
        guard folder.names().contains("heard") else { return [] }
        return String(decoding: try folder.read("heard"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func aCommandReadsEachChangeAsALine() throws {
        let sample = try test.sample(61, at: 0)
        try test.add([sample, try test.sample(62, at: 60)])
        let target = try exporter("cat >> \"$0/heard\"")
        try test.finish(try test.run(target))
        #expect(try received().count == 2)
        #expect(try received()[0].contains("\"value\":61") && received()[0].contains("\"anchor\":\""))
        try test.delete(sample)
        try test.finish(try test.run(target))
        #expect(try received().count == 3 && received()[2].contains("\"deleted\":\"\(sample.sample.identity)\""))
        // Nothing is new, so the command is not run.
        try test.finish(try test.run(target))
        #expect(try received().count == 3)
    }

    @Test func retriesFailedCommandWithSameChanges() throws {
        let change = SampleChange.added(try stored())
        let batch = ExportBatch(changes: [change], anchors: ["a-1"])
        #expect { _ = try exporter("exit 3").deliver(batch) } throws: { error in
            (error as? DeliveryError) == DeliveryError(.unreachable, "the command ended with status 3")
        }
        #expect { _ = try exporter("kill -9 $$").deliver(batch) } throws: { error in
            (error as? DeliveryError)?.reason == "the command was ended by signal 9"
        }
        let silent = try exporter("sleep 600")
        silent.timeout = .milliseconds(50)
        #expect { _ = try silent.deliver(batch) } throws: { ($0 as? DeliveryError)?.kind == .unreachable }
        #expect(try exporter("cat >> \"$0/heard\"").deliver(batch) == 0)
        #expect(try received().count == 1)
    }

    private func stored() throws -> StoredSample {
        try test.add([try test.sample(61, at: 0)])
        let cursor = try test.store.samples.cursor(matching: SampleQuery())
        defer { cursor.close() }
        return try #require(try cursor.next())
    }

    @Test func aMissingProgramIsFound() throws {
        func check(_ program: String) throws -> Int {
            let context = try ExportContext(name: "x", me: test.store.owner, now: { Instant(seconds: 0) })
            return try CommandExporter(.init(command: [program]), context: context).check().count
        }
        #expect(try check("/bin/sh") == 1 && check("sh") == 1)
        #expect(throws: DeliveryError.self) { try check("/no/such/program") }
        #expect(throws: DeliveryError.self) { try check("no-such-program") }
    }
}
