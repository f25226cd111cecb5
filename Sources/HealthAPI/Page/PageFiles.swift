import FoundationEssentials
import Glibc

/// What the page consists of beside the program: style, scripts and texts, read once from its folder.
///
///     let files = try PageFiles(folder: "/usr/share/vitalgate/WebPage")
public struct PageFiles: Sendable {
    struct File: Sendable {
        var type: String
        var octets: [UInt8]
        /// Another for other octets: a browser that has the file need not ask again.
        var version: String
    }

    private(set) var files: [String: File] = [:]
    /// By their language, `en`.
    private(set) var languages: [String: PageTexts] = [:]

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]
    private static let longest = 1 << 20

    /// Reads a folder with the page's files, and its texts by language in the folder `texts`.
    ///
    /// - Throws: ``PageFilesError`` where one is missing, too long, or no list of texts.
    public init(folder: String) throws {
        for name in try Self.names(in: folder) {
            guard let type = name.split(separator: ".").last.flatMap({ Self.types[String($0)] }) else { continue }
            let octets = try Self.read(folder + "/" + name)
            files[name] = File(type: type, octets: octets, version: Self.version(of: octets))
        }
        for name in try Self.names(in: folder + "/texts") where name.hasSuffix(".json") {
            let path = folder + "/texts/" + name
            guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(try Self.read(path))) else {
                throw PageFilesError(description: "\(path): expected an object of JSON that has texts and nothing else")
            }
            languages[String(name.dropLast(5))] = PageTexts(language: String(name.dropLast(5)), texts)
        }
        guard let english = languages["en"] else {
            throw PageFilesError(description: "\(folder)/texts/en.json: cannot be read")
        }
        for (name, texts) in languages { languages[name] = texts.completed(by: english) }
    }

    /// The texts of the first language that a browser asks for (`Accept-Language`) and there is; else the English ones.
    func texts(_ accepted: String?) -> PageTexts {
        for range in (accepted ?? "").split(separator: ",").prefix(16) {
            let tag = range.prefix { $0 != ";" && $0 != "-" }.filter { $0 != " " }.lowercased()
            if let texts = languages[tag] { return texts }
        }
        return languages["en"] ?? PageTexts(language: "en", [:])
    }

    /// Where a browser finds a file.
    func address(of name: String) -> String { "/page/static/\(name)?v=\(files[name]?.version ?? "0")" }

    /// FNV-1a; the same octets give the same in every run.
    private static func version(of octets: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }

    private static func names(in folder: String) throws -> [String] {
        guard let stream = opendir(folder) else {
            throw PageFilesError(description: "\(folder): \(String(cString: strerror(errno)))")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let failure = PageFilesError(description: "\(path): cannot be read, or is longer than 1 MiB")
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0, octets.count + count <= longest else { throw failure }
            if count == 0 { return octets }
            octets += piece[..<count]
        }
    }
}

/// Why the page's files are not to be had.
public struct PageFilesError: Error, CustomStringConvertible {
    /// The file and what is wrong with it.
    public let description: String
}

/// The page's words in one language, by their keys: all of them stand in one file.
struct PageTexts: Sendable {
    let language: String
    private var texts: [String: String]

    init(language: String, _ texts: [String: String]) { (self.language, self.texts) = (language, texts) }

    func completed(by others: PageTexts) -> PageTexts {
        PageTexts(language: language, texts.merging(others.texts) { own, _ in own })
    }

    /// The text of a key; the key itself where there is none. `{0}`, `{1}` in it are replaced.
    func callAsFunction(_ key: String, _ values: String...) -> String {
        var text = texts[key] ?? key
        for (index, value) in values.enumerated() { text = text.split("{\(index)}", value) }
        return text
    }

    /// The text of a key, if there is one.
    subscript(key: String) -> String? { texts[key] }
    /// All keys.
    var keys: Set<String> { Set(texts.keys) }
    /// Those of a part, `script.` as scripts have them.
    func beginning(with prefix: String) -> [(key: String, text: String)] {
        texts.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension String {
    fileprivate func split(_ word: String, _ replacement: String) -> String {
        guard let range = firstRange(of: word) else { return self }
        return String(self[..<range.lowerBound]) + replacement + self[range.upperBound...]
    }

    private func firstRange(of word: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(word) { return start..<index(start, offsetBy: word.count) }
            start = index(after: start)
        }
        return nil
    }
}
