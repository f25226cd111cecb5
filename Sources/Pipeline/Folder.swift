import Glibc

package enum Folder {
    /// The names of a folder's entries in no order, without `.` and `..`. `nil` if it cannot be read, for the reason in `errno`.
    package static func names(_ path: String, maximum: Int = .max) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < maximum, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The path of an existing file or folder from the root, without symbolic links. `nil` if it does not exist.
    package static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Creates a folder with a new name in `parent`. Returns `nil` if that is impossible, for the reason in `errno`.
    package static func temporary(in parent: String) -> String? {
        var template = Array("\(parent)/vitalgate-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
