import FoundationEssentials
import Glibc
import Testing

/// A hub on a folder's store, with an inbox.
final class RunningHub {
    let folder: TestFolder
    let program: RunningVitalgate
    var inbox: String { folder.path("inbox") }

    init(
        _ folder: TestFolder, _ arguments: String..., inbox: Bool = true, wrapper: [String] = [],
        environment: [String: String] = [:]
    ) throws {
        self.folder = folder
        var words = ["run"] + arguments
        if inbox { words += ["--inbox", folder.path("inbox")] }
        program = try RunningVitalgate(
            try folder.options() + words, environment: Vitalgate.environment(home: folder.root, environment), wrapper: wrapper)
    }

    /// A hub that was started otherwise.
    init(_ folder: TestFolder, watching program: RunningVitalgate) {
        self.folder = folder
        self.program = program
    }

    /// A hub that has its lock and watches its inbox.
    static func started(_ folder: TestFolder, _ arguments: String...) throws -> RunningHub {
        let hub = try RunningHub(folder)
        try hub.waits { folder.exists("inbox/refused") }
        return hub
    }

    /// Puts a file into the inbox as a program that writes it.
    func drop(_ name: String, _ text: String) throws { try folder.write("inbox/\(name)", text) }

    /// Waits until a condition is true. The limit only ends a test that would hang.
    func waits(
        _ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation, until isSo: () throws -> Bool
    ) throws {
        for _ in 0..<60_000 {
            if try isSo() { return }
            usleep(5000)
        }
        Issue.record("it never came to be: \(comment)\n\(program.errors)", sourceLocation: sourceLocation)
        throw POSIXFailure("wait", ETIMEDOUT)
    }

    func waitsFor(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try waits(name, sourceLocation: sourceLocation) { folder.exists(name) }
    }

    /// How many lines of its log hold this.
    func count(_ text: String) -> Int { program.errors.split(separator: "\n").count { $0.contains(text) } }

    /// The number of its open descriptors, without sockets, because umockdev opens one for each terminal.
    var descriptors: Int {
        let folder = "/proc/\(program.process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            !((try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? "").hasPrefix("socket:")
        }
    }

    /// Asks it to stop, and waits for its end.
    @discardableResult
    func stop() throws -> Vitalgate.Run {
        program.signal(SIGTERM)
        return try program.wait()
    }

    /// The report beside a file.
    func account(_ name: String) throws -> JSON { try JSON(folder.text("inbox/\(name).account.json")) }
}
