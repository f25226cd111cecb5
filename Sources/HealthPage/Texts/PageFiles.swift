import FoundationEssentials
import Glibc
import Pipeline

/// The page's files (style, scripts and texts), read once from a folder.
///
///     let files = try PageFiles(folder: "/usr/share/vitalgate/WebPage")
package struct PageFiles: Sendable {
    struct File: Sendable {
        var type: String
        var bytes: [UInt8]
        /// A hash of the contents. Browsers cache a file by it.
        var version: String
    }

    private(set) var files: [String: File] = [:]
    /// The texts by language, such as `en`.
    private(set) var languages: [String: PageTexts] = [:]

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml", "png": "image/png",
        "webmanifest": "application/manifest+json",
    ]
    private static let maximumLength = 1 << 20

    /// Reads a folder with the page's files, and the texts by language in its subfolder `texts`.
    ///
    /// - Throws: ``PageFilesError`` if a file is missing or too long, or if a file of texts is invalid.
    package init(folder: String) throws {
        for name in try Self.names(in: folder) {
            guard let type = name.split(separator: ".").last.flatMap({ Self.types[String($0)] }) else { continue }
            let bytes = CompactText.bytes(try Self.read(folder + "/" + name), of: name)
            files[name] = File(type: type, bytes: bytes, version: Self.version(of: bytes))
        }
        for (language, texts) in try Self.read(texts: folder) { languages[language] = PageTexts(language: language, texts) }
        guard let english = languages["en"] else {
            throw PageFilesError(description: "\(folder)/texts/en.json: cannot be read")
        }
        for (name, texts) in languages { languages[name] = texts.completed(by: english) }
    }

    /// The texts by language and key, from the files in the subfolder `texts`.
    static func read(texts folder: String) throws -> [String: [String: String]] {
        var languages: [String: [String: String]] = [:]
        for name in try names(in: folder + "/texts") where name.hasSuffix(".json") {
            let path = folder + "/texts/" + name
            guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(try read(path))) else {
                throw PageFilesError(description: "\(path): expected a JSON object with only texts as values")
            }
            languages[String(name.dropLast(5))] = texts
        }
        return languages
    }

    /// The texts of the first available language of the browser (`Accept-Language`), or the English ones.
    func texts(_ accepted: String?) -> PageTexts {
        for range in (accepted ?? "").split(separator: ",").prefix(16) {
            let tag = range.prefix { $0 != ";" && $0 != "-" }.filter { $0 != " " }.lowercased()
            if let texts = languages[tag] { return texts }
        }
        return languages["en"] ?? PageTexts(language: "en", [:])
    }

    /// The URL path of a file.
    func address(of name: String) -> String { "/page/static/\(name)?v=\(files[name]?.version ?? "0")" }

    /// The FNV-1a hash, which is the same in every run.
    private static func version(of bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }

    private static func names(in folder: String) throws -> [String] {
        guard let names = Folder.names(folder) else {
            throw PageFilesError(description: "\(folder): \(String(cString: strerror(errno)))")
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let failure = PageFilesError(description: "\(path): cannot be read, or is longer than 1 MiB")
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0, bytes.count + count <= maximumLength else { throw failure }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }
}

package struct PageFilesError: Error, CustomStringConvertible {
    package let description: String
}
