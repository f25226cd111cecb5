import CommandLineKit
import FileSource
import Glibc
import Pipeline

/// A file as a person named it: what is said of it, and what the system is asked for.
struct FileArgument {
    /// For messages and the ledger: on one line, whatever the name holds.
    let name: String
    private let path: String
    private let bytes: [UInt8]

    /// The files that stand on the command line. A name that is not UTF-8 comes from there as it is; the text of an argument has lost it.
    static func all(_ texts: [String]) -> [FileArgument] {
        var raw: [String: [[UInt8]]] = [:]
        for index in stride(from: Int(CommandLine.argc) - 1, through: 1, by: -1) {
            guard let word = CommandLine.unsafeArgv[index] else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
            let text = String(decoding: bytes, as: UTF8.self)
            if Array(text.utf8) != bytes { raw[text, default: []].append(bytes) }
        }
        return texts.map { text in
            // Two names may look alike as text: each stands for its own, in their order.
            FileArgument(name: TerminalText.sanitized(text), path: text, bytes: raw[text]?.popLast() ?? Array(text.utf8))
        }
    }

    /// A file of our own making, under a name for people.
    init(name: String, at path: String) { (self.name, self.path, bytes) = (name, path, Array(path.utf8)) }

    private init(name: String, path: String, bytes: [UInt8]) { (self.name, self.path, self.bytes) = (name, path, bytes) }

    /// Whether it is standard input, whose end is where the other program ended it.
    var isStandardInput: Bool { path == InputFile.standardInput }

    /// Why it cannot be read at all; nothing where it can, as far as one sees.
    var obstacle: String? {
        if bytes.isEmpty { return "the file's name is empty" }
        guard path != InputFile.standardInput, access(bytes.map { CChar(bitPattern: $0) } + [0], R_OK) != 0 else { return nil }
        return String(cString: strerror(errno))
    }

    /// Opens it; a pipe is read to its end before.
    func open(onlyFile: Bool) throws(SourceError) -> InputFile {
        let temporary = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
        return try InputFile(
            path: path, bytes: bytes, onlyFile: onlyFile, spoolFolders: temporary + ["/var/tmp", "/tmp"],
            isCancelled: { Interruption.isAsked })
    }
}
