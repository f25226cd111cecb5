import FoundationEssentials
import Glibc
import Testing

/// Text that was reviewed, in a file next to the tests.
enum Snapshot {
    /// `VITALGATE_RECORD=1` records the files again. Review the difference.
    static func expect(_ text: String, matches name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let path = "\(Repository.tests)/Snapshots/\(name)"
        if getenv("VITALGATE_RECORD").map({ String(cString: $0) }) == "1" {
            let folder = path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: path))
            return
        }
        let recorded = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let comment: Comment = "\(name) differs; if the new text is right, record it with VITALGATE_RECORD=1"
        #expect(text == recorded, comment, sourceLocation: sourceLocation)
    }
}
