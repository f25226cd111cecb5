import HealthModel
import Pipeline

/// Finds the files that an export names: routes and clinical records. In a ZIP archive they are other members, before or after the
/// export. For a plain export they are in folders next to it.
///
/// A path never leads out of the export's folder. A path with `..` is rejected, links are not followed, and each file belongs to the
/// first element that names it.
final class ExportFiles {
    static let maximumPath = ZipArchive.maximumName
    /// The maximum number of files that an export may name, more than twice a day for fifty years.
    static let maximumFiles = 65_536

    /// The place to look for files.
    enum Folder {
        /// The archive, with the hashes of its members' names relative to the export's folder.
        case archive(folder: [UInt8], members: Set<UInt64>)
        case path(String)
        /// No place, because the export came through a pipe.
        case none
    }

    enum Answer {
        /// The file is in the archive under this key. It is read after the export.
        case later(key: [UInt8])
        /// The open file.
        case here(InputFile)
        /// The reason why the file is not read.
        case refused(String)
    }

    private let folder: Folder
    private var used: Set<UInt64> = []

    init(_ folder: Folder) { self.folder = folder }

    /// Looks for a file that the export names.
    func find(_ path: UnsafeRawBufferPointer) -> Answer {
        guard !path.isEmpty else { return .refused("it does not name a file") }
        guard path.count <= Self.maximumPath, let components = Self.components(path) else {
            return .refused("the path of its file leaves the export's folder, so it is not read")
        }
        let key = Array(components.joined(separator: [UInt8(ascii: "/")]))
        let hash = StableHash.hash(key)
        guard used.count < Self.maximumFiles else {
            return .refused("the export names more than \(Self.maximumFiles) files")
        }
        guard used.insert(hash).inserted else { return .refused("another one names the same file already") }
        switch folder {
        case .archive(_, let members):
            return members.contains(hash)
                ? .later(key: key) : .refused("the archive does not contain the file that the export names")
        case .path(let folder):
            do throws(SourceError) {
                return .here(try InputFile(in: folder, components: components))
            } catch {
                return .refused("the file that the export names: \(error.reason)")
            }
        case .none: return .refused("its file is next to the export, which was read from a pipe")
        }
    }

    /// The names between the slashes, or `nil` if one is `..` or there are none.
    private static func components(_ path: UnsafeRawBufferPointer) -> [[UInt8]]? {
        let parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [0x2E] }
        guard !parts.isEmpty, !parts.contains([0x2E, 0x2E]), !parts.contains(where: { $0.contains(0) }) else { return nil }
        return parts
    }

    /// Returns the name of an archive's member as the export writes it.
    static func key(ofMember name: [UInt8], in folder: [UInt8]) -> [UInt8] {
        name.starts(with: folder) ? Array(name[folder.count...]) : name
    }

    /// Returns the folders in a member's name, including the slash.
    static func folder(of name: [UInt8]) -> [UInt8] {
        name.lastIndex(of: UInt8(ascii: "/")).map { Array(name[...$0]) } ?? []
    }
}
