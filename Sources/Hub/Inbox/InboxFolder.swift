import EventLoopKit
import Glibc

/// The inbox folder and its subfolders `done` and `refused`: the files in them, and how they are moved.
///
/// A file is moved by one rename to an unused name. No other process puts files there. Its account is first written under a
/// hidden name beside it and renamed afterwards. After a power cut at any moment, a file is in one place and has its account (see
/// ``finishMoves()``).
struct InboxFolder {
    enum Outcome: String, CaseIterable {
        case done, refused
    }

    let path: String

    /// Creates the folders (mode 0700) if they do not exist.
    init(_ path: String) throws(SystemFailure) {
        self.path = path
        // A process that opens a file with our lease breaks the lease, and SIGIO would end the hub.
        _ = signal(SIGIO, SIG_IGN)
        for folder in [path] + Outcome.allCases.map({ "\(path)/\($0.rawValue)" }) {
            var status = stat()
            // The owner chooses the path of the inbox, which may be a link. Others may write within it, so a link there could
            // redirect its files.
            if (folder == path ? stat(folder, &status) : lstat(folder, &status)) == 0 {
                guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemFailure(folder, ENOTDIR) }
                guard access(folder, W_OK | X_OK | R_OK) == 0 else { throw SystemFailure(folder, errno) }
            } else if mkdir(folder, 0o700) != 0 {
                throw SystemFailure(folder, errno)
            }
        }
    }

    /// The identity and state of a file, to detect changes.
    struct State: Equatable {
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    enum Content: Equatable {
        case file(State)
        /// Another process has it open for writing.
        case beingWritten
        /// A folder, link or device, with a description. Links are never followed.
        case other(String)
        case missing
    }

    /// Returns the current kind of an inbox entry.
    func content(_ name: String) -> Content {
        var status = stat()
        guard lstat("\(path)/\(name)", &status) == 0 else { return .missing }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: return .other("links are not followed")
        case S_IFDIR: return .other("folders are not searched")
        default: return .other("not a regular file")
        }
        if isBeingWritten(name) { return .beingWritten }
        return .file(
            State(
                inode: UInt(status.st_ino), size: Int(status.st_size), seconds: Int(status.st_mtim.tv_sec),
                nanoseconds: Int(status.st_mtim.tv_nsec)))
    }

    /// F_SETLEASE, which Glibc's headers define only with _GNU_SOURCE.
    private static let setLease: Int32 = 1024

    /// Whether a process has the file open for writing. A read lease is granted only if there is no writer (fcntl(2),
    /// F_SETLEASE). On file systems without leases, and for files of other users, this cannot be checked: the file is then read
    /// when its writer closes it.
    private func isBeingWritten(_ name: String) -> Bool {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        // Closing releases the lease.
        defer { close(descriptor) }
        return fcntl(descriptor, Self.setLease, F_RDLCK) != 0 && errno == EAGAIN
    }

    /// Returns the entries except our own folders, oldest first. Names that are not valid UTF-8 are changed because an account
    /// has to contain them.
    func names() -> [String] {
        let found = Self.entries(of: path).compactMap { entry -> (name: String, time: Int)? in
            guard let name = entry.text ?? renamed(entry.bytes) else { return nil }
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0, !isFolderOfOurs(name) else { return nil }
            return (name, Int(status.st_mtim.tv_sec))
        }
        return found.sorted { ($0.time, $0.name) < ($1.time, $1.name) }.map(\.name)
    }

    private func renamed(_ bytes: [CChar]) -> String? {
        let name = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let old = (path + "/").utf8CString.dropLast() + bytes
        for number in 1...1000 {
            let new = Self.numbered(name, number)
            guard access("\(path)/\(new)", F_OK) != 0 else { continue }
            return rename(Array(old), "\(path)/\(new)") == 0 ? new : nil
        }
        return nil
    }

    // MARK: Moving

    /// Returns a numbered name: `weight.csv`, `weight-2.csv` …
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name)-\(number)" }
        return "\(name[..<dot])-\(number)\(name[dot...])"
    }

    private static let suffix = ".account.json"
    /// The maximum length of a name in bytes (NAME_MAX of Linux).
    private static let maximumNameLength = 255

    /// Shortens a name whose account or note would have too long a name, at a character and before the extension.
    static func shortened(_ name: String) -> String {
        // The hidden name of an account adds the most: a dot, the suffix, and a number such as -100000.
        let limit = maximumNameLength - 1 - suffix.utf8.count - 7
        guard name.utf8.count > limit else { return name }
        let dot = name.lastIndex(of: ".").flatMap { $0 != name.startIndex && name[$0...].utf8.count <= 32 ? $0 : nil }
        let (ending, stem) = (dot.map { name[$0...] } ?? "", dot.map { name[..<$0] } ?? name[...])
        var (short, length) = ("", ending.utf8.count)
        for character in stem {
            length += character.utf8.count
            guard length <= limit else { break }
            short.append(character)
        }
        return short.isEmpty ? "file\(ending)" : short + ending
    }

    /// Moves a file to its folder, with its account. Returns its new name, which is shortened if the account's name would be too long.
    func move(_ name: String, to outcome: Outcome, account: (String) -> [UInt8]) throws(SystemFailure) -> String {
        let folder = "\(path)/\(outcome.rawValue)"
        var status = stat()
        if lstat(folder, &status) != 0 {
            guard errno == ENOENT, mkdir(folder, 0o700) == 0, lstat(folder, &status) == 0 else {
                throw SystemFailure(folder, errno)
            }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemFailure(folder, ENOTDIR) }
        let short = Self.shortened(name)
        for number in 1...100_000 {
            let new = Self.numbered(short, number)
            guard access("\(folder)/\(new)", F_OK) != 0, access("\(folder)/\(new)\(Self.suffix)", F_OK) != 0 else { continue }
            let hidden = "\(folder)/.\(new)\(Self.suffix)"
            try Self.write(account(new), to: hidden)
            guard rename("\(path)/\(name)", "\(folder)/\(new)") == 0 else {
                let code = errno
                unlink(hidden)
                throw SystemFailure("\(path)/\(name)", code)
            }
            guard rename(hidden, "\(folder)/\(new)\(Self.suffix)") == 0 else { throw SystemFailure(hidden, errno) }
            for changed in [folder, path] { Self.synchronise(changed) }
            return new
        }
        throw SystemFailure("\(folder)/\(name)", EEXIST)
    }

    /// Finishes moves after a crash: an account whose file was moved gets its name, and other accounts are deleted.
    func finishMoves() {
        for outcome in Outcome.allCases {
            let folder = "\(path)/\(outcome.rawValue)"
            for name in Self.entries(of: folder).compactMap(\.text) where name.hasPrefix(".") && name.hasSuffix(Self.suffix) {
                let file = name.dropFirst().dropLast(Self.suffix.count)
                if access("\(folder)/\(file)", F_OK) == 0 {
                    _ = rename("\(folder)/\(name)", "\(folder)/\(file)\(Self.suffix)")
                } else {
                    unlink("\(folder)/\(name)")
                }
            }
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(SystemFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFailure(path, errno) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                let code = errno
                unlink(path)
                throw SystemFailure(path, code)
            }
            written += max(count, 0)
        }
        guard fsync(descriptor) == 0 else { throw SystemFailure(path, errno) }
    }

    private static func synchronise(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    static func entries(of folder: String) -> [(bytes: [CChar], text: String?)] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var entries: [(bytes: [CChar], text: String?)] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            let text = String(validating: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text != ".", text != ".." { entries.append((bytes, text)) }
        }
        return entries
    }
}

extension InboxFolder {
    /// Whether a name is one of our two subfolders.
    func isFolderOfOurs(_ name: String) -> Bool { Outcome(rawValue: name) != nil }
}
