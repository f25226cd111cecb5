import FoundationEssentials
import Glibc

/// A folder for one test, with its own store. It is removed with its last user.
final class TestFolder {
    let root: String

    init() throws {
        var template = Array("/tmp/vitalgate-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXFailure("mkdtemp", errno) }
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    func path(_ name: String) -> String { "\(root)/\(name)" }

    var store: String { path("store.db") }

    /// A file's text. Empty if it does not exist.
    func text(_ name: String) -> String {
        (try? Data(contentsOf: URL(filePath: path(name)))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Writes a file and returns its path.
    ///
    /// Programs that other tests start at the same time do not inherit it open for writing, because an inbox ignores files with a writer.
    @discardableResult
    func write(_ name: String, _ bytes: some Collection<UInt8>) throws -> String {
        let descriptor = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw POSIXFailure(path(name), errno) }
        defer { close(descriptor) }
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw POSIXFailure(path(name), errno) }
            rest = rest.dropFirst(count)
        }
        return path(name)
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    /// Permission bits of a file or folder.
    func mode(_ name: String) -> UInt32 {
        var status = stat()
        return stat(path(name), &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    /// A file's size in bytes. 0 if it does not exist.
    func size(_ name: String) -> Int {
        var status = stat()
        return stat(path(name), &status) == 0 ? Int(status.st_size) : 0
    }

    func exists(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    // MARK: The program

    /// The options that keep the program off the machine's own store, configuration and profiles.
    func options(store: String? = nil) throws -> [String] {
        if !exists("config.json5") { try write("config.json5", "{}\n") }
        return ["--store", store ?? self.store, "--config", path("config.json5"), "--profiles", Repository.profiles]
    }

    /// Runs the program on this folder's store.
    @discardableResult
    func vitalgate(
        _ arguments: String..., store: String? = nil, environment: [String: String] = [:]
    ) throws -> Vitalgate.Run {
        try vitalgate(arguments, store: store, environment: environment)
    }

    @discardableResult
    func vitalgate(
        _ arguments: [String], store: String? = nil, environment: [String: String] = [:], output: Int32? = nil
    ) throws -> Vitalgate.Run {
        try RunningVitalgate(
            try options(store: store) + arguments, environment: Vitalgate.environment(home: root, environment), output: output
        ).wait()
    }

    /// Starts the program and leaves it running.
    func start(_ arguments: String..., store: String? = nil, output: Pipe? = nil) throws -> RunningVitalgate {
        defer { output?.closeWriting() }
        return try RunningVitalgate(
            try options(store: store) + arguments, environment: Vitalgate.environment(home: root), output: output?.writing)
    }
}

/// A pipe from the program to the test.
final class Pipe {
    private let reading: Int32
    /// For the program. Closed here once the program has it, so that the program's end ends the input.
    private(set) var writing: Int32
    private var rest: [UInt8] = []

    init() throws {
        var ends: [Int32] = [0, 0]
        // A pair of sockets. Unlike a pipe, no other program that the tests start inherits an end.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXFailure("socketpair", errno)
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// Waits for this many lines.
    ///
    /// - Parameter limit: fails if they have not arrived by then. No test that passes waits so much.
    func readLines(_ count: Int, within limit: Duration? = nil) throws -> [String] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while rest.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            if let limit, poll(&waiting, 1, Int32(limit.components.seconds * 1000)) == 0 {
                throw POSIXFailure("the program's output", ETIMEDOUT)
            }
            let length = read(reading, &buffer, buffer.count)
            guard length != 0 else { throw POSIXFailure("the program has ended", EPIPE) }
            guard length > 0 else { throw POSIXFailure("read", errno) }
            rest += buffer[..<length]
        }
        let lines = rest.split(separator: UInt8(ascii: "\n"), maxSplits: count, omittingEmptySubsequences: false)
        rest = Array(lines[count])
        return lines.prefix(count).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Where things lie in the checkout.
enum Repository {
    static let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
    static let profiles = root + "/DeviceProfiles"
    static let files = root + "/Tests/FileSourceTests/Files"
    static let tests = root + "/Tests/VitalgateTests"

    static func data(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(root)/\(path)")) }
}
