import EventLoopKit
import Glibc

/// The folder of the inbox and the two in it, `done` and `refused`: which files are there, and where they go.
///
/// A file goes by one rename, to a name that is free (nobody else puts files there); its account is written beside it before under a hidden name, and gets its own
/// after: whatever moment the power goes, a file is in one place, and its account with it (see ``finishMoves()``).
struct InboxFolder {
    enum Outcome: String, CaseIterable {
        case done, refused
    }

    let path: String

    /// Makes the folders (mode 0700) where they are not there.
    init(_ path: String) throws(SystemFailure) {
        self.path = path
        // Who opens a file while we hold a lease on it breaks that, and SIGIO would end us.
        _ = signal(SIGIO, SIG_IGN)
        for folder in [path] + Outcome.allCases.map({ "\(path)/\($0.rawValue)" }) {
            var status = stat()
            // Where the inbox is, its owner says; within it others may write, and a link of theirs would lead its files elsewhere.
            if (folder == path ? stat(folder, &status) : lstat(folder, &status)) == 0 {
                guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemFailure(folder, ENOTDIR) }
                guard access(folder, W_OK | X_OK | R_OK) == 0 else { throw SystemFailure(folder, errno) }
            } else if mkdir(folder, 0o700) != 0 {
                throw SystemFailure(folder, errno)
            }
        }
    }

    /// What tells one state of a file from another.
    struct State: Equatable {
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    enum Content: Equatable {
        case file(State)
        /// Somebody has it open for writing.
        case beingWritten
        /// A folder, a link, a device, in words; never followed.
        case other(String)
        case gone
    }

    /// What a name in the inbox stands for now.
    func content(_ name: String) -> Content {
        var status = stat()
        guard lstat("\(path)/\(name)", &status) == 0 else { return .gone }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: return .other("a link, which is not followed")
        case S_IFDIR: return .other("a folder, which is not looked into")
        default: return .other("no file")
        }
        if isBeingWritten(name) { return .beingWritten }
        return .file(
            State(
                inode: UInt(status.st_ino), size: Int(status.st_size), seconds: Int(status.st_mtim.tv_sec),
                nanoseconds: Int(status.st_mtim.tv_nsec)))
    }

    /// F_SETLEASE, which Glibc's headers keep for those who ask for all of Linux.
    private static let setLease: Int32 = 1024

    /// A lease for reading is given only where nobody writes (fcntl(2), F_SETLEASE). A file system without leases, or a file of
    /// another user, cannot be asked: then the writer's close is all there is to go by.
    private func isBeingWritten(_ name: String) -> Bool {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        // Closing gives the lease back.
        defer { close(descriptor) }
        return fcntl(descriptor, Self.setLease, F_RDLCK) != 0 && errno == EAGAIN
    }

    /// What is there besides our own folders, oldest first. Names that are no UTF-8 get one that is, since an account has to name them.
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

    /// `weight.csv`, `weight-2.csv` …
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name)-\(number)" }
        return "\(name[..<dot])-\(number)\(name[dot...])"
    }

    private static let suffix = ".account.json"

    /// Moves a file to where it belongs, its account beside it. Returns its new name.
    func move(_ name: String, to outcome: Outcome, account: (String) -> [UInt8]) throws(SystemFailure) -> String {
        let folder = "\(path)/\(outcome.rawValue)"
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw SystemFailure(folder, ENOTDIR) }
        for number in 1...100_000 {
            let new = Self.numbered(name, number)
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

    /// After a crash: an account whose file came gets its name, one whose file did not is dropped.
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
    /// Whether a name is that of one of the two folders that belong here.
    func isFolderOfOurs(_ name: String) -> Bool { Outcome(rawValue: name) != nil }
}
