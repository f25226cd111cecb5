import FoundationEssentials
import Glibc

/// The program that was built with these tests, run as a user runs it.
struct Vitalgate {
    struct NotBuilt: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) is not there: build the package, or name the program in VITALGATE_BINARY" }
    }

    /// How a run ended.
    struct Run {
        /// The exit status. 128 and the signal's number if a signal ended it.
        var status: Int32
        var output: String
        var errors: String

        /// The lines on standard output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
        var last: String { lines.last ?? "" }
    }

    /// The program's path: `VITALGATE_BINARY`, or else next to the test bundle.
    static func binary() throws -> String {
        if let path = getenv("VITALGATE_BINARY") { return String(cString: path) }
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = bundle.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/vitalgate"
        guard access(path, X_OK) == 0 else { throw NotBuilt(path: path) }
        return path
    }

    /// The environment of the program, without the machine's settings except those that a test passes.
    static func environment(home: String, _ more: [String: String] = [:]) -> [String: String] {
        ["HOME": home, "PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8"].merging(more) { $1 }
    }

    /// Starts the program and waits for it.
    static func run(_ arguments: [String], environment: [String: String], input: String = "/dev/null") throws -> Run {
        try RunningVitalgate(arguments, environment: environment, input: input).wait()
    }

    /// Runs the program without the administrator's privilege to read and write everything, should the tests have it.
    static func runWithoutPrivileges(_ arguments: [String], environment: [String: String]) throws -> Run {
        guard geteuid() == 0 else { return try run(arguments, environment: environment) }
        let wrapper = ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
        return try RunningVitalgate(arguments, environment: environment, wrapper: wrapper).wait()
    }

    /// Runs the program with this limit of memory for data. It ends by a signal if it exceeds the limit.
    ///
    /// The peak that the system reports for a child (`ru_maxrss`) would include the tests' own memory, with which a spawned child starts.
    static func run(_ arguments: [String], environment: [String: String], memory: Int) throws -> Run {
        try RunningVitalgate(arguments, environment: environment, wrapper: ["/usr/bin/prlimit", "--data=\(memory)"]).wait()
    }
}

/// The program while it runs. Its output goes into files, which hold any amount and never block it.
final class RunningVitalgate {
    let process: pid_t
    private let folder: TestFolder
    private var reaped = false

    /// - Parameters:
    ///   - input: the file that standard input reads.
    ///   - output: where standard output goes instead of a file.
    ///   - wrapper: the command that starts the program in its stead.
    convenience init(
        _ arguments: [String], environment: [String: String], input: String = "/dev/null", output: Int32? = nil,
        wrapper: [String] = []
    ) throws {
        try self.init(
            command: wrapper + [try Vitalgate.binary()] + arguments, environment: environment, input: input, output: output)
    }

    /// Runs another program in its stead.
    init(command: [String], environment: [String: String], input: String = "/dev/null", output: Int32? = nil) throws {
        folder = try TestFolder()
        let binary = command[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        for (descriptor, name) in [(Int32(1), "output"), (2, "errors")] {
            posix_spawn_file_actions_addopen(&actions, descriptor, folder.path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The tests' runner may ignore or block signals, and children inherit that.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        let status = Self.withCStrings(command) { words in
            Self.withCStrings(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) { settings in
                posix_spawn(&process, binary, &actions, &attributes, words, settings)
            }
        }
        guard status == 0 else { throw POSIXFailure("posix_spawn \(binary)", status) }
        self.process = process
    }

    deinit {
        guard !reaped else { return }
        Glibc.kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    func signal(_ number: Int32) { Glibc.kill(process, number) }

    /// Its output so far.
    var output: String { folder.text("output") }

    /// Its standard error so far.
    var errors: String { folder.text("errors") }

    func wait() throws -> Vitalgate.Run {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw POSIXFailure("waitpid", errno) }
        }
        reaped = true
        let signal = status & 0x7F
        return Vitalgate.Run(
            status: signal == 0 ? status >> 8 & 0xFF : 128 + signal, output: folder.text("output"), errors: folder.text("errors"))
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            // The array has the closing nil at least, so it has an address.
            body(buffer.baseAddress ?? UnsafeMutablePointer.allocate(capacity: 0))
        }
    }
}

/// A call of the system that failed.
struct POSIXFailure: Error, CustomStringConvertible {
    let description: String
    init(_ call: String, _ code: Int32) { description = "\(call): \(String(cString: strerror(code)))" }
}
