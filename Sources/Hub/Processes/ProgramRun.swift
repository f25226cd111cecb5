import EventLoopKit
import Glibc

/// Runs a program to its end and returns its output.
package enum ProgramRun {
    private static let maximumLength = 1 << 20

    /// - Parameters: - arguments: the program's path and its arguments. - input: a short text for its standard input. - seconds: the
    ///   time after which the program is killed, with all programs that it has started. - memory: the limit of its memory, if it is this
    ///   program. - file: a file for its standard output, which is then not returned. - source: a file for its standard input.
    /// - Returns: the exit code, or 70 if it did not start or exit by itself, and its output and errors, at most 1 MiB each. If
    ///   it printed no error, the errors are the reason of the 70.
    package static func run(
        _ arguments: [String], input: [UInt8] = [], seconds: Int, memory: MemoryLimit? = nil, to file: Int32? = nil,
        from source: Int32? = nil
    ) -> (code: Int32, output: String, words: String) {
        var (out, err): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pair(&out) else { return (70, "", String(cString: strerror(errno))) }
        guard pair(&err) else {
            for end in out { close(end) }
            return (70, "", String(cString: strerror(errno)))
        }
        let process: ChildProcess
        do throws(SystemFailure) {
            let output = file ?? out[1]
            if let source {
                process = try ChildProcess(arguments, input: source, output: output, errors: err[1], memory: memory)
            } else {
                process = try ChildProcess(arguments, reading: input, output: output, errors: err[1], memory: memory)
            }
        } catch {
            for end in out + err { close(end) }
            return (70, "", error.reason)
        }
        close(out[1])
        close(err[1])
        defer {
            close(out[0])
            close(err[0])
        }
        let texts = read([out[0], err[0]], until: ContinuousClock.now + .seconds(seconds))
        if texts.isWhole { process.wait() } else { process.killGroup() }
        guard process.status & 0x7F == 0 else {
            let end = texts.isWhole ? "it was ended by a signal: \(process.status & 0x7F)" : "it did not end within \(seconds) s"
            return (70, texts.all[0], texts.all[1].isEmpty ? end : texts.all[1])
        }
        return (process.status >> 8 & 0xFF, texts.all[0], texts.all[1])
    }

    /// Returns connected sockets that no other started program inherits.
    private static func pair(_ ends: inout [Int32]) -> Bool {
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    }

    private static func read(
        _ descriptors: [Int32], until end: ContinuousClock.Instant
    ) -> (all: [String], isWhole: Bool) {
        var (bytes, open) = ([[UInt8]](repeating: [], count: descriptors.count), Set(descriptors.indices))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !open.isEmpty, ContinuousClock.now < end {
            let indices = open.sorted()
            var entries = indices.map { pollfd(fd: descriptors[$0], events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), 250) > 0 else { continue }
            for (index, entry) in zip(indices, entries) where entry.revents != 0 {
                let count = Glibc.read(entry.fd, &buffer, buffer.count)
                if count <= 0 {
                    open.remove(index)
                } else if bytes[index].count < maximumLength {
                    bytes[index] += buffer[..<count]
                }
            }
        }
        return (bytes.map { String(decoding: $0.prefix(maximumLength), as: UTF8.self) }, open.isEmpty)
    }
}
