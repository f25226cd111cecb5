import Glibc

/// A separate process for a test that counts the resources of a process (descriptors, memory), because other tests share this one.
package enum OwnProcess {
    private static let variable = "VITALGATE_TEST_ALONE"

    /// Runs only the test of this name, in a new process, and returns its status, 0 if it passed. In that process, runs `body`.
    /// - Throws: the errors of `body`, or `Failure` if no process could be started.
    package static func run(_ test: String, _ body: () throws -> Void) throws -> Int32 {
        if getenv(variable) != nil {
            try body()
            return 0
        }
        let arguments = ["alone", "--testing-library", "swift-testing", "--filter", test]
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var variables: [UnsafeMutablePointer<CChar>?] = [strdup("\(variable)=1"), strdup("PATH=/usr/bin:/bin"), nil]
        defer { for variable in variables { free(variable) } }
        var process: pid_t = 0
        let result = posix_spawn(&process, "/proc/self/exe", nil, nil, &words, &variables)
        guard result == 0 else { throw Failure(code: result) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    package struct Failure: Error {
        package let code: Int32
    }

    /// Open descriptors of this process.
    package static func openDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
