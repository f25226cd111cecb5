import Foundation
import Testing

/// Text that was reviewed, in a file next to the tests.
enum Snapshot {
    /// `VITALGATE_RECORD=1` records the files again. Review the difference.
    static func expect(_ text: String, matches name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Snapshots").appendingPathComponent(name)
        if ProcessInfo.processInfo.environment["VITALGATE_RECORD"] == "1" {
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            return
        }
        let recorded = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        let comment: Comment = "\(name) differs; if the new text is right, record it with VITALGATE_RECORD=1"
        #expect(text == recorded, comment, sourceLocation: sourceLocation)
    }
}
