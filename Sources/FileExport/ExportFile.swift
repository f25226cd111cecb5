import FoundationEssentials
import Glibc
import HealthModel
import Pipeline

/// The file that grows, and how far it is whole.
final class ExportFile {
    /// What is true of the file, written behind what it is about.
    struct State: Equatable {
        /// Of the last change in it, or in the one before.
        var anchor: String?
        /// In octets; what lies behind was not acknowledged.
        var length = 0
        /// Whose changes it has; 0 where files are not of a day.
        var day = 0
        /// Files that have their final name.
        var closed = 0
        /// Of the last delivery; `nil` where an earlier version wrote last, or nobody.
        var mark: Mark?
    }

    /// By which the folder is known as the one that was filled, and who fills it.
    struct Mark: Equatable {
        var identity: String
        var count: Int64
        var holder: StoreHolder
        var time: Instant?
    }

    private let folder: String
    private let name: String
    private let suffix: String
    /// The store whose changes they are.
    private let store: String
    private var descriptor: Int32 = -1
    private(set) var state = State()

    private var path: String { "\(folder)/\(name).\(suffix)" }
    private var statePath: String { "\(folder)/\(name).state" }

    private let dayName: (Int) -> String
    private let isPacked: Bool

    /// - Parameters:
    ///   - isPacked: whether files are packed that have their final name.
    ///   - dayName: how a day is written in it.
    init(
        folder: String, name: String, suffix: String, store: String, isPacked: Bool, dayName: @escaping (Int) -> String
    ) throws(DeliveryError) {
        self.isPacked = isPacked
        (self.folder, self.name, self.suffix, self.dayName) = (folder, name, suffix, dayName)
        self.store = store.isEmpty ? "0" : store
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.error(folder) }
        if let known = try readState() {
            state = known
        } else {
            // Written before the first line, so that a file without it is somebody else's.
            var status = stat()
            guard stat(path, &status) != 0 || status.st_size == 0 else {
                throw DeliveryError(.unfit, "\(path): it is there already, and nothing says that it is ours: move it away")
            }
            try save(State())
        }
        if state.length > 0, access(path, F_OK) != 0, access(finalPath, F_OK) == 0 {
            try begin()
        } else {
            try open()
        }
        try pack()
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    private func open() throws(DeliveryError) {
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.error(path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error(path) }
        guard Int(status.st_size) >= state.length else {
            throw DeliveryError(.unfit, "\(path): it is shorter than what was written into it: somebody has changed it")
        }
        guard ftruncate(descriptor, off_t(state.length)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else { throw Self.error(path) }
    }

    /// Octets behind the place up to which the file is whole.
    private var pending = 0

    /// Writes lines of which nobody knows until ``append(_:anchor:day:)`` comes behind them.
    func write(_ octets: [UInt8]) throws(DeliveryError) {
        try Self.write(octets, to: descriptor, path)
        pending += octets.count
    }

    /// Appends lines, durable once this returns, and those that were written before.
    func append(_ octets: [UInt8], anchor: String?, day: Int, mark: Mark?) throws(DeliveryError) {
        try write(octets)
        guard fdatasync(descriptor) == 0 else { throw Self.error(path) }
        var next = state
        next.length += pending
        pending = 0
        (next.anchor, next.day) = (anchor, day)
        next.mark = mark ?? next.mark
        try save(next)
    }

    /// Says who fills the folder from now on, and from where.
    func claim(_ mark: Mark, anchor: String?) throws(DeliveryError) {
        var next = state
        (next.mark, next.anchor) = (mark, anchor)
        try save(next)
    }

    /// Gives the file its final name, and begins another.
    func close() throws(DeliveryError) {
        guard access(finalPath, F_OK) != 0, access(finalPath + ".zst", F_OK) != 0 else {
            throw DeliveryError(.unfit, "\(finalPath): it is there already")
        }
        guard rename(path, finalPath) == 0 else { throw Self.error(path) }
        Glibc.close(descriptor)
        descriptor = -1
        try begin()
        try pack()
    }

    /// Packs what has its final name, whoever was killed at it before. A packed file has its name once it is whole and on the disk; only then the
    /// other one goes.
    private func pack() throws(DeliveryError) {
        guard isPacked else { return }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { throw Self.error(folder) }
        for file in names.sorted() where file.hasPrefix("\(name)-") {
            let path = "\(folder)/\(file)"
            if file.contains(".\(suffix).zst.part-") {
                unlink(path)
            } else if file.hasSuffix(".\(suffix)"), isNumbered(file) {
                if access(path + ".zst", F_OK) != 0 { try pack(path) }
                guard unlink(path) == 0 else { throw Self.error(path) }
            }
        }
    }

    /// Whether a file is one of ours with its final name: `NAME-20261123-000001`, and not another target's whose name begins in the same way.
    private func isNumbered(_ file: String) -> Bool {
        let parts = file.dropFirst(name.count + 1).dropLast(suffix.count + 1).split(
            separator: "-", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count)
            && parts.allSatisfy { $0.utf8.count >= 6 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    private func pack(_ path: String) throws(DeliveryError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Self.error(path) }
        defer { Glibc.close(file) }
        do throws(ExportFileError) {
            let packed = try OutputFile(path: path + ".zst", packing: .zstandard, time: 0)
            var portion = [UInt8](repeating: 0, count: 1 << 18)
            while true {
                let count = read(file, &portion, portion.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw ExportFileError(path, errno) }
                guard count > 0 else { break }
                try packed.write { $0 += portion[..<count] }
            }
            try packed.finish()
        } catch {
            throw DeliveryError(.unreachable, error.description)
        }
    }

    /// The file that was open has its final name.
    private func begin() throws(DeliveryError) {
        var next = state
        (next.length, next.closed) = (0, state.closed + 1)
        try save(next)
        try open()
    }

    /// What the open file is going to be called: known from the state, so that a start can tell that it was renamed and nothing more.
    private var finalPath: String {
        let number = String(state.closed + 1)
        let parts = [name, dayName(state.day), String(repeating: "0", count: max(0, 6 - number.count)) + number]
        return "\(folder)/\(parts.filter { !$0.isEmpty }.joined(separator: "-")).\(suffix)"
    }

    // MARK: State

    /// Whether nobody else has written meanwhile, such as the hub beside a person's `export --once`.
    func isCurrent() throws(DeliveryError) -> Bool { try readState() == state }

    private func readState() throws(DeliveryError) -> State? { try Self.readState(statePath, path, store) }

    /// The state of a file that need not be opened; `nil` where there is none.
    static func state(folder: String, name: String, suffix: String, store: String) throws(DeliveryError) -> State? {
        try readState("\(folder)/\(name).state", "\(folder)/\(name).\(suffix)", store.isEmpty ? "0" : store)
    }

    private static func readState(_ statePath: String, _ path: String, _ store: String) throws(DeliveryError) -> State? {
        let file = Glibc.open(statePath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw Self.error(statePath) }
            return nil
        }
        defer { Glibc.close(file) }
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &octets, octets.count)
        guard count >= 0 else { throw Self.error(statePath) }
        let words = String(decoding: octets.prefix(count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count >= 5, let length = Int(words[1]), let day = Int(words[2]), let closed = Int(words[3]), length >= 0
        else {
            throw DeliveryError(.unfit, "\(statePath): it does not say how far the file is whole")
        }
        guard words[4] == store else {
            throw DeliveryError(.unfit, "\(path): another store writes there: give this one a folder of its own")
        }
        var state = State(anchor: words[0] == "0" ? nil : String(words[0]), length: length, day: day, closed: closed)
        if words.count >= 8, let count = Int64(words[6]) {
            // Earlier versions wrote no time.
            let parts = words[7].split(separator: "@", maxSplits: 1)
            let id = parts.first ?? "-"
            let holder = StoreHolder(id: id == "-" ? "" : String(id), name: words[8...].joined(separator: " "))
            state.mark = Mark(
                identity: String(words[5]), count: count, holder: holder,
                time: parts.count == 2 ? Int64(parts[1]).map { Instant(microseconds: $0) } : nil)
        }
        return state
    }

    private func save(_ next: State) throws(DeliveryError) {
        let temporary = statePath + ".new"
        let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.error(temporary) }
        defer { Glibc.close(file) }
        var line = "\(next.anchor ?? "0") \(next.length) \(next.day) \(next.closed) \(store)"
        if let mark = next.mark {
            let holder = mark.holder.id.isEmpty ? "-" : mark.holder.id
            line +=
                " \(mark.identity) \(mark.count) \(holder)\(mark.time.map { "@\($0.microseconds)" } ?? "") \(mark.holder.name)"
        }
        // A name that is too long to be read back is cut.
        try Self.write(Array(line.utf8.prefix(4000)) + [0x0A], to: file, temporary)
        guard fsync(file) == 0, rename(temporary, statePath) == 0 else { throw Self.error(statePath) }
        let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.error(folder) }
        defer { Glibc.close(directory) }
        guard fsync(directory) == 0 else { throw Self.error(folder) }
        state = next
    }

    private static func write(_ octets: [UInt8], to file: Int32, _ path: String) throws(DeliveryError) {
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw error(path) }
            written += count
        }
    }

    /// What the system has said last: a full disk gets room again, a file that is not ours to write does not.
    static func error(_ path: String) -> DeliveryError {
        let code = errno
        let stops = [EACCES, EPERM, EROFS, ENOTDIR, ELOOP, EISDIR].contains(code)
        return DeliveryError(stops ? .unauthorised : .unreachable, "\(path): \(String(cString: strerror(code)))")
    }
}
