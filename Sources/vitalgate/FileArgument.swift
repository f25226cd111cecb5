import CommandLineKit
import FileSource
import Glibc
import Pipeline

/// A file argument, with a display name and the exact path.
struct FileArgument {
    /// The display name for messages and the ledger, always on one line.
    let name: String
    private let path: String
    private let bytes: [UInt8]

    /// The files on the command line. The raw bytes are kept because the text of a name that is not UTF-8 has lost them.
    static func all(_ texts: [String]) -> [FileArgument] {
        var raw: [String: [[UInt8]]] = [:]
        for index in stride(from: Int(CommandLine.argc) - 1, through: 1, by: -1) {
            guard let word = CommandLine.unsafeArgv[index] else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
            let text = String(decoding: bytes, as: UTF8.self)
            if Array(text.utf8) != bytes { raw[text, default: []].append(bytes) }
        }
        return texts.map { text in
            // Two names may have the same text. They are then assigned in order.
            FileArgument(name: TerminalText.sanitized(text), path: text, bytes: raw[text]?.popLast() ?? Array(text.utf8))
        }
    }

    /// The files that a file lists, each name followed by a NUL byte.
    static func all(listedIn path: String) throws -> [FileArgument] {
        let descriptor = path == InputFile.standardInput ? dup(STDIN_FILENO) : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SourceError(.noInput, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var (list, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while case let count = Glibc.read(descriptor, &piece, piece.count), count > 0 { list += piece[..<count] }
        return list.split(separator: 0).map { name in
            let text = String(decoding: name, as: UTF8.self)
            return FileArgument(name: TerminalText.sanitized(text), path: text, bytes: Array(name))
        }
    }

    /// Creates an argument for a temporary file with a display name.
    init(name: String, at path: String) { (self.name, self.path, bytes) = (name, path, Array(path.utf8)) }

    private init(name: String, path: String, bytes: [UInt8]) { (self.name, self.path, self.bytes) = (name, path, bytes) }

    /// Whether this is standard input, which may have been cut short by the other program.
    var isStandardInput: Bool { path == InputFile.standardInput }

    /// The reason why the file cannot be read, or `nil` if there is no apparent one.
    var rejectionReason: String? {
        if bytes.isEmpty { return "the file name is empty" }
        guard path != InputFile.standardInput, access(bytes.map { CChar(bitPattern: $0) } + [0], R_OK) != 0 else { return nil }
        return String(cString: strerror(errno))
    }

    /// Opens the file. A pipe is read to its end first.
    func open(onlyFile: Bool) throws(SourceError) -> InputFile {
        let temporary = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
        return try InputFile(
            path: path, bytes: bytes, onlyFile: onlyFile, spoolFolders: temporary + ["/var/tmp", "/tmp"],
            isCancelled: { Interruption.isAsked })
    }
}
