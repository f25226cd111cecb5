import FoundationEssentials
import Glibc
import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import HealthStore

/// The example package, built like another developer's package and run as a user runs it, while another process writes.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SmoothWalkerTests {
    private static let repository = #filePath.components(separatedBy: "/Tests/HealthStoreTests/")[0]

    /// It is built in a folder that is kept, so only changes are built the next time. The folder contains only the library's part of the
    /// package, and no debug information.
    private static func program() async throws -> String {
        let folder = "\(repository)/.build/examples"
        if try await build(folder).status != 0 {
            // The kept folder may contain old files.
            try? FileManager.default.removeItem(atPath: folder)
            let built = try await build(folder)
            try #require(built.status == 0, "\(built.output)")
        }
        return "\(folder)/debug/SmoothWalker"
    }

    private static func build(_ folder: String) async throws -> (status: Int32, output: String) {
        let arguments = [
            "swift", "build", "--package-path", "\(repository)/Examples/SmoothWalker", "--scratch-path", folder,
            "-debug-info-format", "none", "--disable-index-store",
        ]
        return try await Command("/usr/bin/env", arguments).wait()
    }

    @Test func weekUpdatesAsStepsAreAdded() async throws {
        let program = try await Self.program()
        let folder = try TemporaryFolder()
        let path = folder.file("walker.db")
        // Noon of the day before yesterday, and of one before the week, whatever the time of day is now.
        let days = CalendarIntervals(.day, zone: .machine)
        let today = days.index(of: Instant(Date()))
        func steps(_ count: Int, daysAgo: Int, minute: Int64 = 0) throws -> HealthObject {
            let start = days.start(of: today - daysAgo).microseconds + (12 * 60 + minute) * 60_000_000
            return .quantity(
                .stepCount, try Amount(Double(count), .one), from: Instant(microseconds: start),
                to: Instant(microseconds: start + 60_000_000))
        }
        let pedometer = try HealthStore(
            path: path, access: .write(as: SourceRevision(id: "pedometer", name: "Pedometer")), creating: true)
        try await pedometer.save([try steps(4157, daysAgo: 2), try steps(99, daysAgo: 9)])

        let walker = try Command(program, [path, "--walk", "628"])
        let first = try await walker.lines(8)
        #expect(first[0].hasPrefix("saved a walk of 628.0 m as "))
        #expect(first.count == 8)
        #expect(Self.sum(first[1...]) == 4157)
        #expect(first.count { $0.hasSuffix("  0") } == 6)
        let walks = try await SampleQueryDescriptor(predicate: .types([.distanceWalkingRunning])).result(for: pedometer)
        #expect(walks.map(\.sample.value) == [628])
        #expect(walks.first?.sample.origin.source.name == "SmoothWalker")

        // The day that changes is shown again.
        try await pedometer.save(try steps(843, daysAgo: 2, minute: 3))
        #expect(Self.sum(try await walker.lines(9)[8...]) == 5000)
        walker.closeInput()
        #expect(try await walker.wait().status == 0)
    }

    @Test func reportsInvalidArguments() async throws {
        let program = try await Self.program()
        let folder = try TemporaryFolder()
        #expect(try await Command(program, []).wait().status == 64)
        #expect(try await Command(program, [folder.file("walker.db"), "--walk", "far"]).wait().status == 64)
    }

    /// Steps of lines such as `2026-11-20  4157`.
    private static func sum(_ lines: ArraySlice<String>) -> Int {
        lines.reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }
}

/// A program that runs during the tests, with a pipe as its input. Its output goes into a file.
final class Command {
    private let process: pid_t
    private let folder: TemporaryFolder
    private var input: Int32
    /// Once it has ended.
    private var status: Int32?

    struct Failure: Error { var code: Int32 }

    init(_ program: String, _ arguments: [String]) throws {
        folder = try TemporaryFolder()
        // Prevents other child processes from keeping it open.
        input = mkfifo(folder.file("input"), 0o600) == 0 ? open(folder.file("input"), O_RDWR | O_CLOEXEC) : -1
        guard input >= 0 else { throw Failure(code: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder.file("input"), O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.file("output"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let status = posix_spawn(&process, program, &actions, nil, &words, environ)
        guard status == 0 else { throw Failure(code: status) }
        self.process = process
    }

    deinit {
        closeInput()
        guard status == nil else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Ends the program's input.
    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    private var output: String { String(decoding: (try? folder.read("output")) ?? [], as: UTF8.self) }

    /// Its output, once it has this many lines or has ended.
    func lines(_ count: Int) async throws -> [String] {
        while true {
            let hasEnded = try ended()
            let lines = output.split(separator: "\n").map(String.init)
            if lines.count >= count || hasEnded { return lines }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until it ends.
    func wait() async throws -> (status: Int32, output: String) {
        while !(try ended()) { try await Task.sleep(for: .milliseconds(20)) }
        let status = status ?? 0
        return (status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F, output)
    }

    private func ended() throws -> Bool {
        guard status == nil else { return true }
        var status: Int32 = 0
        let found = waitpid(process, &status, WNOHANG)
        guard found >= 0 || errno == EINTR else { throw Failure(code: errno) }
        if found == process { self.status = status }
        return found == process
    }
}
