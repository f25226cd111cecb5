import Glibc
import HTTPServerKit
import HTTPServerTesting
import Testing

/// `api serve` at its own port, over a store in its own folder.
final class ServingHub {
    let folder: TestFolder
    let process: RunningVitalgate
    let address: ListeningAddress
    /// In the form of the command line.
    var url: String { "http://\(address)" }
    let environment: [String: String]

    /// - Parameter readings: a file of readings by its name, imported before it serves.
    init(_ readings: [String: String]) throws {
        folder = try TestFolder()
        try folder.write("config.json5", "{ subject: \"\(Family.person)\", api: { listen: \"127.0.0.1:0\" } }\n")
        environment = Vitalgate.environment(home: folder.root)
        for (name, text) in readings {
            let file = try folder.write(name, text)
            let run = try Vitalgate.run(Self.words(folder, ["import", file]), environment: environment)
            try #require(run.status == 0, "\(run.errors)")
        }
        let process = try RunningVitalgate(Self.words(folder, ["api", "serve"]), environment: environment)
        #expect(eventually { process.errors.contains("listening at") })
        let output = process.errors.split(whereSeparator: \.isNewline).first { $0.contains("listening at") } ?? ""
        address = try #require(output.split(separator: " ").compactMap { ListeningAddress(String($0)) }.first, "\(output)")
        self.process = process
    }

    private static func words(_ folder: TestFolder, _ words: [String]) -> [String] {
        ["--config", folder.path("config.json5")] + words
    }

    /// Another command on the same store.
    @discardableResult
    func run(_ words: String...) throws -> Vitalgate.Run {
        let run = try Vitalgate.run(Self.words(folder, words), environment: environment)
        #expect(run.status == 0, "\(words): \(run.errors)")
        return run
    }

    /// A client's token.
    func token(_ name: String) throws -> String {
        try run("clients", "add", name, "--purpose", "Tests").output.filter { !$0.isNewline }
    }

    /// A number of `/proc/PID/status`: `VmRSS` in kB, `Threads`.
    func status(_ name: String) throws -> Int {
        var text = ""
        let file = try #require(fopen("/proc/\(process.process)/status", "r"))
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        while fgets(&buffer, 256, file) != nil {
            text += String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(Int(line.filter(\.isNumber)))
    }

    /// Ends it as a person does.
    func stop() throws {
        process.signal(SIGTERM)
        #expect(try process.wait().status == 0)
    }
}
