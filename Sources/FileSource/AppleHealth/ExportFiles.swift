import Pipeline

/// Finds the files that an export names: routes and clinical records. In a ZIP they are members beside the export's, in front of it or behind;
/// of an export by itself they lie in folders beside it.
///
/// A path from the export is never followed out of its folder: one with `..` is refused, no link is followed, and each file belongs to
/// whoever names it first.
final class ExportFiles {
    /// Longest path that is looked at.
    static let maximumPath = ZipArchive.maximumName
    /// Files that one export may name; more than twice a day for fifty years.
    static let maximumFiles = 65_536

    /// Where to look.
    enum Folder {
        /// In the archive, by the hashes of its members' names; the export's own folder is the first of the names.
        case archive(folder: [UInt8], members: Set<UInt64>)
        /// The folder that the export lies in.
        case path(String)
        /// The export came through a pipe.
        case none
    }

    /// What is known of a file.
    enum Answer {
        /// It stands in the archive under this key, and is read when the export is through.
        case later(key: [UInt8])
        /// It is open.
        case here(InputFile)
        /// It will not be read.
        case refused(String)
    }

    private let folder: Folder
    private var used: Set<UInt64> = []

    init(_ folder: Folder) { self.folder = folder }

    /// Looks for the file that the export names.
    func find(_ path: UnsafeRawBufferPointer) -> Answer {
        guard !path.isEmpty else { return .refused("it names no file") }
        guard path.count <= Self.maximumPath, let components = Self.components(path) else {
            return .refused("the path of its file leaves the export's folder, and is not followed")
        }
        let key = Array(components.joined(separator: [UInt8(ascii: "/")]))
        let hash = key.withUnsafeBytes { FNV.hash($0) }
        guard used.count < Self.maximumFiles else {
            return .refused("the export names more than \(Self.maximumFiles) files")
        }
        guard used.insert(hash).inserted else { return .refused("another one names the same file already") }
        switch folder {
        case .archive(_, let members):
            return members.contains(hash) ? .later(key: key) : .refused("the archive has no such file as the export names")
        case .path(let folder):
            do throws(SourceError) {
                return .here(try InputFile(in: folder, components: components))
            } catch {
                return .refused("the file that the export names, beside it: \(error.reason)")
            }
        case .none: return .refused("its file lies beside the export, which was read from a pipe")
        }
    }

    /// The names between the slashes; `nil` where one leads upwards, or there is none.
    private static func components(_ path: UnsafeRawBufferPointer) -> [[UInt8]]? {
        let parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [0x2E] }
        guard !parts.isEmpty, !parts.contains([0x2E, 0x2E]), !parts.contains(where: { $0.contains(0) }) else { return nil }
        return parts
    }

    /// How the export would name a member of its archive.
    static func key(ofMember name: [UInt8], in folder: [UInt8]) -> [UInt8] {
        name.starts(with: folder) ? Array(name[folder.count...]) : name
    }

    /// The folders in front of a member's name, with the slash.
    static func folder(of name: [UInt8]) -> [UInt8] {
        name.lastIndex(of: UInt8(ascii: "/")).map { Array(name[...$0]) } ?? []
    }
}
