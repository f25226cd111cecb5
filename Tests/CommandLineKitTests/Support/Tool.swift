import Foundation

/// A program of the system, run to its end.
struct Tool {
    struct Missing: Error, CustomStringConvertible {
        let name: String
        var description: String { "\(name) is not installed, and this test means nothing without it" }
    }

    let status: Int32
    let output: String
    let errors: String

    /// - Throws: ``Missing``: a test that can't run fails, it is not skipped.
    init(_ name: String, _ arguments: [String], input: String = "") throws {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let candidates = directories.map { "\($0)/\(name)" }
        guard let path = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Missing(name: name)
        }
        // Files hold any amount of text. Two pipes that are read one after the other could block the program.
        let directory = try TemporaryDirectory()
        let names = ["in", "out", "err"]
        let files = names.map { directory.url.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        try Data(input.utf8).write(to: files[0])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        status = process.terminationStatus
        output = try String(decoding: Data(contentsOf: files[1]), as: UTF8.self)
        errors = try String(decoding: Data(contentsOf: files[2]), as: UTF8.self)
    }
}

/// A directory that is removed with its last user.
final class TemporaryDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("CommandLineKitTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
