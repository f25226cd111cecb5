import Glibc
import HealthModel
import Pipeline

/// Files next to the store that record which data clients read, until the store's read ledger contains it. A killed
/// program loses no record, and a read needs no commit. The files contain counts by client, person, type and day, but
/// no values.
///
/// A file belongs to the program that locks it. The transaction that adds a file to the ledger also stores the file's
/// id, so no file is counted twice.
public final class ReadJournal {
    private let store: String
    private var file: (id: String, descriptor: Int32)?

    /// A count of objects that a client read.
    public struct Entry: Hashable, Sendable {
        /// The client's number, ``Client/id``.
        public var client: Int64
        /// The number of objects, with their person, type and day.
        public var read: ReadEntry

        /// Creates an entry for the client with this number.
        public init(client: Int64, read: ReadEntry) { (self.client, self.read) = (client, read) }
    }

    /// Creates a journal without opening a file.
    ///
    /// - Parameter store: The path of the store.
    public init(store: String) { self.store = store }

    deinit { end() }

    /// Records entries in one write.
    ///
    /// - Returns: Whether the entries are in the file. They are not if the disk is full.
    public func append(_ entries: [Entry]) -> Bool {
        guard let descriptor = begin() else { return false }
        let text = entries.map {
            "\($0.client)\t\($0.read.person)\t\($0.read.type)\t\($0.read.day)\t\($0.read.count)\n"
        }.joined()
        return write(descriptor, text, text.utf8.count) == text.utf8.count
    }

    /// Closes the file. The next entry starts a new file.
    public func end() {
        if let file { close(file.descriptor) }
        file = nil
    }

    private func begin() -> Int32? {
        if let file { return file.descriptor }
        let id = (0..<16).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
        let descriptor = open(
            Self.path(store, id), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        file = (id, descriptor)
        return descriptor
    }

    // MARK: Files

    private static let suffix = "-reads."
    /// The maximum size of a file in bytes. A minute of reads takes a few kilobytes.
    private static let maximumLength = 4 << 20

    static func path(_ store: String, _ id: String) -> String { store + suffix + id }

    /// The ids of the journal files next to a store, sorted.
    static func ids(_ store: String) -> [String] {
        let parts = store.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "."
        let prefix = "\(parts.last ?? "")\(suffix)"
        let ids = (Folder.names(folder) ?? []).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        return ids.filter { $0.utf8.count == 16 && $0.utf8.allSatisfy(isHex) }.sorted()
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// Whether any journal file exists that the ledger may not contain yet.
    public static func isThere(_ store: String) -> Bool { !ids(store).isEmpty }

    /// Whether no running program has the file open for writing.
    static func isLeft(_ store: String, _ id: String) -> Bool {
        let descriptor = open(path(store, id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) == 0
    }

    /// The entries in the complete lines of a file. The last line may be incomplete if the program was killed.
    static func read(_ path: String) -> [Entry] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while text.count < maximumLength {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        guard let end = text.lastIndex(of: 0x0A) else { return [] }
        return String(decoding: text[..<end], as: UTF8.self).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "\t").map(String.init)
            guard cells.count == 5, let client = Int64(cells[0]), let count = Int(cells[4]), count > 0 else { return nil }
            return Entry(client: client, read: ReadEntry(person: cells[1], type: cells[2], day: cells[3], count: count))
        }
    }
}
