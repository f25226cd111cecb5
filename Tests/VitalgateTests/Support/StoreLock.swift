import Glibc

/// Another program in the middle of a write transaction on a store.
final class StoreLock {
    private let process: pid_t
    private var isLocked = true

    /// Returns once it holds the lock.
    init(_ store: String) throws {
        let pipe = try Pipe()
        let script = """
            import sqlite3, signal, sys
            store = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
            store.execute('BEGIN IMMEDIATE')
            print('held', flush=True)
            signal.pause()
            """
        let command: [String] = ["python3", "-c", script, store]
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe.writing, 1)
        var process: pid_t = 0
        let status = posix_spawn(&process, "/usr/bin/python3", &actions, nil, &words, environ)
        guard status == 0 else { throw POSIXFailure("posix_spawn python3", status) }
        self.process = process
        pipe.closeWriting()
        _ = try pipe.readLines(1)
    }

    deinit { release() }

    /// Ends the program, and with it the transaction.
    func release() {
        guard isLocked else { return }
        isLocked = false
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
