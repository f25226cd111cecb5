import EventLoopKit
import Glibc

/// The memory that a process beside the hub may use. One that needs more ends with a clear error, before the service as a whole reaches
/// the limit of its systemd unit.
///
/// The hub passes the limit in the environment, and the process applies it to itself before it does anything else. The limit counts
/// writable memory without mapped files (RLIMIT_DATA). Programs that the process starts inherit it.
package enum MemoryLimit: Int, CaseIterable, Sendable {
    /// A process that sends to a target or delivers alerts, and one that prunes the store.
    case delivery = 192
    case importing = 256
    /// The API with the page, and a backup with restic.
    case serving = 384

    package var bytes: Int { rawValue << 20 }

    private static let variable = "VITALGATE_MEMORY"

    static func environment(with limit: MemoryLimit?) -> [UnsafeMutablePointer<CChar>?] {
        var words: [UnsafeMutablePointer<CChar>?] = []
        var index = 0
        while let word = environ[index] {
            if strncmp(word, "\(variable)=", variable.utf8.count + 1) != 0 { words.append(strdup(word)) }
            index += 1
        }
        if let limit { words.append(strdup("\(variable)=\(limit.bytes)")) }
        return words + [nil]
    }

    /// Applies the limit in the environment to this process, if there is one.
    ///
    /// - Returns: whether it could be applied.
    package static func apply() -> Bool {
        guard let text = getenv(variable), let bytes = UInt(String(cString: text)), bytes > 0 else { return true }
        unsetenv(variable)
        // Only the soft limit, so that a process started by this one can have a higher limit of its own.
        let resource = __rlimit_resource_t(RLIMIT_DATA.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return false }
        limit.rlim_cur = min(bytes, limit.rlim_max)
        guard setrlimit(resource, &limit) == 0 else { return false }
        MemoryShortage.explain(limit: Int(limit.rlim_cur))
        return true
    }
}

/// Explains the end of a process that reached its memory limit. Swift ends a process that gets no memory, by a signal.
private enum MemoryShortage {
    // Written before the handlers are installed, and only read by them.
    nonisolated(unsafe) private static var words: UnsafeMutablePointer<CChar>?
    nonisolated(unsafe) private static var length = 0
    nonisolated(unsafe) private static var share = 0

    static func explain(limit: Int) {
        let text = "vitalgate: this process reached its memory limit of \(limit >> 20) MiB and has ended\n"
        (words, length, share) = (strdup(text), text.utf8.count, limit / 4)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { MemoryShortage.ended(by: $0) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND) | UInt32(SA_NODEFER))
        for signal in [SIGABRT, SIGILL, SIGTRAP, SIGSEGV, SIGBUS] { sigaction(signal, &action, nil) }
    }

    /// Runs in the signal handler, so it only makes system calls. A process that can still get a quarter of its limit ends for another
    /// reason.
    private static func ended(by signal: Int32) {
        let room = mmap(nil, share, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if room == MAP_FAILED, let words {
            _ = write(STDERR_FILENO, words, length)
        } else {
            munmap(room, share)
        }
        // The handler is reset, so this ends the process as the signal does by default.
        raise(signal)
    }
}
