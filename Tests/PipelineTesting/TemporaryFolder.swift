import Glibc

/// A folder for one test, removed with its content when the last reference is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    package struct Failure: Error, Sendable {
        package var code: Int32
    }

    package init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/vitalgate-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure(code: errno) }
        path = String(cString: made)
    }

    deinit { Self.remove(path) }

    /// The path of a file in the folder.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func read(_ name: String) throws -> [UInt8] {
        guard let handle = fopen(file(name), "r") else { throw Failure(code: errno) }
        defer { fclose(handle) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, handle)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    package func write(_ bytes: [UInt8], to name: String) throws {
        guard let handle = fopen(file(name), "w") else { throw Failure(code: errno) }
        defer { fclose(handle) }
        guard bytes.isEmpty || fwrite(bytes, 1, bytes.count, handle) == bytes.count else { throw Failure(code: errno) }
    }

    package func copy(_ name: String, to other: String) throws { try write(try read(name), to: other) }

    /// The permissions of a file. `nil` if it does not exist.
    package func mode(_ name: String) -> mode_t? {
        var status = stat()
        return stat(file(name), &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// The names of the files in it, sorted.
    package func names() -> [String] { Self.names(path).sorted() }

    private static func names(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func remove(_ path: String) {
        for name in names(path) {
            let inner = "\(path)/\(name)"
            if unlink(inner) != 0 { remove(inner) }
        }
        rmdir(path)
    }
}
