import Glibc
import HealthModel
import HealthServing
import Pipeline

/// A complete file that waits for its import, in a hidden folder that the hub's inbox ignores. The file keeps its name, which is in the
/// ledger. The name of the folder contains everything else that the import needs, so that another server can continue after this one:
///
///     .page-upload-own-PERSON-OWNER-UUID/weight.csv
package struct WaitingUpload: Sendable {
    private static let prefix = ".page-upload-"
    private static let (own, all) = ("own-", "all-")

    private let folder: String
    let name: String
    /// The UUID of the person whose readings are in the file.
    let person: String
    /// The UUID of the person who sent the file and sees the result.
    let owner: String
    /// Whether readings of other people are refused.
    let isOwnOnly: Bool

    var file: String { "\(folder)/\(name)" }

    init(in inbox: String, name: String, person: String, owner: String, isOwnOnly: Bool) {
        let words = [(isOwnOnly ? Self.own : Self.all) + person, owner, UUIDText.random()]
        folder = "\(inbox)/\(Self.prefix)\(words.joined(separator: "-"))"
        (self.name, self.person, self.owner, self.isOwnOnly) = (name, person, owner, isOwnOnly)
    }

    /// Reads the folder of an upload. `nil` if it is something else, or if this program did not make it. A folder without a file is removed.
    private init?(_ entry: String, in inbox: String) {
        let words = entry.dropFirst(Self.prefix.count)
        let rest = words.dropFirst(Self.own.count)
        guard entry.hasPrefix(Self.prefix), words.hasPrefix(Self.own) || words.hasPrefix(Self.all), rest.utf8.count == 3 * 36 + 2
        else { return nil }
        let uuids = [0, 37, 74].map { String(rest.dropFirst($0).prefix(36)) }
        folder = "\(inbox)/\(entry)"
        guard uuids.allSatisfy(UUIDText.isValid), Self.isOwn(folder, S_IFDIR), rmdir(folder) != 0,
            let name = Folder.names(folder, maximum: 1)?.first, Self.isOwn("\(folder)/\(name)", S_IFREG)
        else { return nil }
        (self.name, person, owner, isOwnOnly) = (name, uuids[0], uuids[1], words.hasPrefix(Self.own))
    }

    private static func isOwn(_ path: String, _ kind: mode_t) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == kind && status.st_uid == geteuid()
    }

    /// Removes the files in an inbox that contain readings of a person: those that wait for their import, and drafts.
    package static func removeAll(of person: String, in inbox: String) {
        for upload in all(in: inbox) where upload.person == person { upload.remove() }
        UploadDrafts.removeAll(of: person, in: inbox)
    }

    /// The uploads in an inbox, in the order in which they arrived.
    static func all(in inbox: String) -> [WaitingUpload] {
        (Folder.names(inbox) ?? []).compactMap { WaitingUpload($0, in: inbox) }
            .map { (upload: $0, time: time(of: $0.folder)) }.sorted { $0.time < $1.time }.map(\.upload)
    }

    private static func time(of path: String) -> Double {
        var status = stat()
        return lstat(path, &status) == 0 ? Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9 : 0
    }

    /// Moves a complete draft into the folder.
    func place(_ draft: String) -> Bool {
        guard mkdir(folder, 0o700) == 0 else { return false }
        guard rename(draft, file) == 0 else {
            rmdir(folder)
            return false
        }
        return true
    }

    func remove() {
        unlink(file)
        rmdir(folder)
    }
}
