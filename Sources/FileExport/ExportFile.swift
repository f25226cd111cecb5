import FoundationEssentials
import Glibc
import HealthModel
import Pipeline

/// The growing file, and the state up to which it is complete.
final class ExportFile {
    /// The state of the file, which is written after its lines.
    struct State: Equatable {
        /// The anchor of the last change in this file or the previous one.
        var anchor: String?
        /// The length in bytes that was acknowledged. Anything after it is not.
        var length = 0
        /// The day of the changes, or 0 if files are not daily.
        var day = 0
        /// The number of files with their final name.
        var closed = 0
        /// The mark of the last delivery, or `nil` if there was none.
        var mark: Mark?
    }

    /// Identifies the folder as the one that was filled, and the holder that fills it.
    struct Mark: Equatable {
        var identity: String
        var count: Int64
        var holder: StoreHolder
        var time: Instant?
    }

    private let folder: String
    private let name: String
    private let suffix: String
    private let store: String
    private var descriptor: Int32 = -1
    private(set) var state = State()

    private var path: String { "\(folder)/\(name).\(suffix)" }
    private var statePath: String { "\(folder)/\(name).state" }

    private let dayName: (Int) -> String
    private let isPacked: Bool

    /// - Parameters: - isPacked: whether files with their final name are compressed. - dayName: returns a day as it is written in
    ///   the name.
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
            // The state is written before the first line, so a file without it is not ours.
            var status = stat()
            guard stat(path, &status) != 0 || status.st_size == 0 else {
                throw DeliveryError(
                    .unfit, "\(path): the file exists, but this target did not create it: move it away", isLasting: true)
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
            throw DeliveryError(
                .unfit, "\(path): it is shorter than Vitalgate wrote it, so another program has changed it", isLasting: true)
        }
        guard ftruncate(descriptor, off_t(state.length)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else { throw Self.error(path) }
    }

    /// The number of bytes after the acknowledged length.
    private var pending = 0

    /// Writes lines that stay unacknowledged until ``append(_:anchor:day:)`` follows.
    func write(_ bytes: [UInt8]) throws(DeliveryError) {
        try Self.write(bytes, to: descriptor, path)
        pending += bytes.count
    }

    /// Appends lines. When this returns, these and the lines written before are durable.
    func append(_ bytes: [UInt8], anchor: String?, day: Int, mark: Mark?) throws(DeliveryError) {
        try write(bytes)
        guard fdatasync(descriptor) == 0 else { throw Self.error(path) }
        var next = state
        next.length += pending
        pending = 0
        (next.anchor, next.day) = (anchor, day)
        next.mark = mark ?? next.mark
        try save(next)
    }

    /// Stores the holder of the folder and the anchor to continue from.
    func claim(_ mark: Mark, anchor: String?) throws(DeliveryError) {
        var next = state
        (next.mark, next.anchor) = (mark, anchor)
        try save(next)
    }

    /// Gives the file its final name and starts the next one.
    func close() throws(DeliveryError) {
        guard access(finalPath, F_OK) != 0, access(finalPath + ".zst", F_OK) != 0 else {
            throw DeliveryError(.unfit, "\(finalPath): the file already exists", isLasting: true)
        }
        guard rename(path, finalPath) == 0 else { throw Self.error(path) }
        Glibc.close(descriptor)
        descriptor = -1
        try begin()
        try pack()
    }

    /// Compresses files with their final name, including those left by a crash. A compressed file gets its name once it is
    /// complete and on the disk. Only then is the original removed.
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

    /// Whether a file is one of ours with its final name, `NAME-20261123-000001`, and not one of a target with a similar name.
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

    /// Updates the state after the open file got its final name.
    private func begin() throws(DeliveryError) {
        var next = state
        (next.length, next.closed) = (0, state.closed + 1)
        try save(next)
        try open()
    }

    /// The final name of the open file. It follows from the state, so that a start can detect an interrupted rename.
    private var finalPath: String {
        let number = String(state.closed + 1)
        let parts = [name, dayName(state.day), String(repeating: "0", count: max(0, 6 - number.count)) + number]
        return "\(folder)/\(parts.filter { !$0.isEmpty }.joined(separator: "-")).\(suffix)"
    }

    // MARK: State

    /// Whether no other process has written in the meantime, such as `export --once` beside the hub.
    func isCurrent() throws(DeliveryError) -> Bool { try readState() == state }

    private func readState() throws(DeliveryError) -> State? { try Self.readState(statePath, path, store) }

    /// Returns the state of a file without opening it, or `nil` if there is none.
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
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw Self.error(statePath) }
        let words = String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count >= 5, let length = Int(words[1]), let day = Int(words[2]), let closed = Int(words[3]), length >= 0
        else {
            throw DeliveryError(.unfit, "\(statePath): it does not contain the complete length of the file")
        }
        guard words[4] == store else {
            throw DeliveryError(.unfit, "\(path): another store writes to it: use another folder for this store")
        }
        var state = State(anchor: words[0] == "0" ? nil : String(words[0]), length: length, day: day, closed: closed)
        if words.count >= 8, let count = Int64(words[6]) {
            // A mark has no time if the holder's clock was not set.
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
        // A name that is too long to be read back is truncated.
        try Self.write(Array(line.utf8.prefix(4000)) + [0x0A], to: file, temporary)
        guard fsync(file) == 0, rename(temporary, statePath) == 0 else { throw Self.error(statePath) }
        let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.error(folder) }
        defer { Glibc.close(directory) }
        guard fsync(directory) == 0 else { throw Self.error(folder) }
        state = next
    }

    private static func write(_ bytes: [UInt8], to file: Int32, _ path: String) throws(DeliveryError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw error(path) }
            written += count
        }
    }

    /// Returns the last system error. A full disk may get space again, but missing permissions stop the target.
    static func error(_ path: String) -> DeliveryError {
        let code = errno
        let stops = [EACCES, EPERM, EROFS, ENOTDIR, ELOOP, EISDIR].contains(code)
        return DeliveryError(stops ? .unauthorised : .unreachable, "\(path): \(String(cString: strerror(code)))")
    }
}
