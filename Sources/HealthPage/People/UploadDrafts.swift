import Glibc
import HTTPServerKit
import HealthModel
import HealthServing
import Pipeline
import SampleStore

/// The drafts of a person: files whose pieces are still arriving. They are hidden in the hub's inbox until they are complete.
///
/// The disk is shared with the store. Drafts leave room for it, and each person has at most half of what drafts may use, so that an upload of
/// one person never prevents readings from being stored, or another person's upload.
struct UploadDrafts {
    private static let prefix = ".page-draft-"
    /// The maximum number of drafts of a person. A further one removes the oldest.
    private static let maximum = 8
    /// The time in seconds after which a draft that gets no more pieces is removed.
    private static let timeout: Int64 = 3600

    let inbox: String
    let person: String

    private struct Draft {
        var name: String
        var size: Int
        /// The time of the last piece in seconds since 1970.
        var time: Int64
        var person: String
    }

    func path(of upload: String) -> String { "\(inbox)/\(Self.prefix)\(person)-\(upload.lowercased())" }

    private static func all(in inbox: String) -> [Draft] {
        var found: [Draft] = []
        for name in Folder.names(inbox) ?? [] {
            let rest = name.dropFirst(prefix.count)
            var status = stat()
            guard name.hasPrefix(prefix), rest.utf8.count == 73, UUIDText.isValid(String(rest.suffix(36))),
                lstat("\(inbox)/\(name)", &status) == 0
            else { continue }
            found.append(
                Draft(name: name, size: Int(status.st_size), time: Int64(status.st_mtim.tv_sec), person: String(rest.prefix(36))))
        }
        return found
    }

    /// Removes drafts of all people that get no more pieces.
    static func removeAbandoned(in inbox: String, at now: Instant) {
        for draft in all(in: inbox) where draft.time < now.microseconds / 1_000_000 - timeout {
            unlink("\(inbox)/\(draft.name)")
        }
    }

    static func removeAll(of person: String, in inbox: String) {
        for draft in all(in: inbox) where draft.person == person { unlink("\(inbox)/\(draft.name)") }
    }

    /// Removes drafts that get no more pieces, and the oldest of the person's own if there are too many.
    func removeAbandoned(at now: Instant) {
        Self.removeAbandoned(in: inbox, at: now)
        let own = Self.all(in: inbox).filter { $0.person == person }.sorted { $0.time < $1.time }
        for draft in own.dropLast(Self.maximum - 1) { unlink("\(inbox)/\(draft.name)") }
    }

    /// Checks that a piece leaves room for the store and for others.
    ///
    /// - Throws: ``PageProblem`` 507 if it does not.
    func checkRoom(for bytes: Int) throws(PageProblem) {
        guard let room = DiskRoom(of: inbox) else { return }
        let own = Self.all(in: inbox).filter { $0.person == person }.reduce(0) { $0 + $1.size }
        guard room.isEnough(for: bytes, having: own) else { throw PageProblem(507, "disk", bound: .disk) }
    }
}
