import FileSource
import Glibc
import HealthModel

@testable import Profiles

/// Initial inputs that require the profiles. `scripts/fuzz` creates those that do not.
enum Seeds {
    /// - Returns: the exit code.
    static func write(to folder: String) -> Int32 {
        for profile in Fuzz.library.profiles {
            for (index, vector) in profile.frameVectors.enumerated() {
                let bytes = Array(vector.channel.utf8) + [0x0A] + vector.bytes
                put(bytes, "\(folder)/frames/\(profile.id)-\(index)")
                if vector.channel.hasPrefix("serial:") { put(bytes, "\(folder)/streams/\(profile.id)-\(index)") }
            }
            for (index, vector) in profile.vectors.enumerated() {
                put(Array((profile.id + "\n" + vector.text).utf8), "\(folder)/tables/\(profile.id)-\(index)")
            }
            guard let root = try? JSONValue.parse(json5: bytes(of: profile.file)) else { continue }
            for (index, part) in parts(of: root).enumerated() {
                put(Array(text(of: part).utf8), "\(folder)/profiles/\(profile.id)-\(index)")
            }
        }
        let files = Fuzz.folder + "/Tests/FileSourceTests/Files"
        for name in names(in: files) where name.hasSuffix(".csv") || name.hasSuffix(".json") && !name.hasSuffix(".expected.json")
        {
            let bytes = bytes(of: files + "/" + name)
            guard let head = try? TextFileHead.read(bytes: bytes).text, let match = try? Fuzz.library.match(firstLines: head)
            else { continue }
            put(Array(match.profile.id.utf8) + [0x0A] + bytes, "\(folder)/tables/\(name)")
        }
        return 0
    }

    /// Splits a profile into small, complete ones: each of its channels alone, with at most two vectors. A small profile is quick to read,
    /// and a change in it more often hits an important part.
    private static func parts(of root: JSONValue) -> [JSONValue] {
        guard case .object(var object) = root, case .array(let channels)? = object["channels"] else { return [] }
        var vectors: [JSONValue] = []
        if case .array(let all)? = object["vectors"] { vectors = all }
        return channels.map { channel in
            guard case .object(let members) = channel else { return root }
            let own = vectors.filter { vector in
                guard case .object(let vector) = vector, let name = vector["channel"] else { return true }
                return name == members["channel"]
            }
            object["channels"] = .array([channel])
            object["vectors"] = .array(Array(own.prefix(2)))
            return .object(object)
        }
    }

    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .number(let value): return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .string(let value): return JSON5Text.quoted(value)
        case .array(let values): return "[" + values.map(text).joined(separator: ",") + "]"
        case .object(let members):
            let texts = members.sorted { $0.key < $1.key }.map { JSON5Text.quoted($0.key) + ":" + text(of: $0.value) }
            return "{" + texts.joined(separator: ",") + "}"
        }
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.sorted()
    }

    private static func bytes(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
    }

    private static func put(_ bytes: [UInt8], _ path: String) {
        guard let file = fopen(path, "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}
