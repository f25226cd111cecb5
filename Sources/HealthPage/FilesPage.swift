import Formats
import Glibc
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page for uploading files and for the results of imports. A file arrives in pieces and moves to the hub's inbox when it is
/// complete.
enum FilesPage {
    static let routes = [
        PageRoute(method: "GET", path: "files", right: .owner, answer: page),
        PageRoute(method: "POST", path: "data/files/*", right: .owner, body: piece, answer: take),
    ]

    static let piece = 1 << 20
    /// The maximum size of a file in bytes. An export of the Health app has 1 or 2 GB.
    static let maximumLength = 8 << 30

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        let store = try call.ownerReader().store
        let rows = try store.ledger.accounts(limit: 50).reversed().filter {
            $0.kind == .import && !$0.isEnteredByHand
        }.prefix(20).map {
            CarePage.row($0, call)
        }
        let drop: HTML =
            call.site.settings.hub?.inbox == nil
            ? "<p>\(texts("files.noInbox"))</p>"
            : """
            <div class="drop" data-drop data-sending="\(texts("files.sending"))" data-sent="\(texts("files.sent"))" data-refused="\(texts("files.refused"))">
            <label for="file">\(texts("files.drop"))</label> <input type="file" id="file" multiple>
            <p role="status" data-state></p></div>
            <noscript><p>\(texts("files.noScript"))</p></noscript>
            """
        let body: HTML = """
            <h1>\(texts("nav.files"))</h1>
            \(drop)
            <div data-accounts>\(rows.isEmpty ? "" : ClientsPage.table("files", texts("files.read"), CarePage.columns(call), Array(rows)))</div>
            """
        return .page(
            PageLayout(call: call, title: texts("nav.files"), place: "/page/files").whole(body, scripts: ["page.js", "files.js"]))
    }

    /// Receives one piece of a file for the hub's inbox.
    @Sendable private static func take(_ call: PageCall) throws -> HTTPResponse {
        try receive(call) { draft, inbox, name in try place(draft, in: inbox, as: name) }
    }

    /// Receives one piece of a file. `at` is its offset, and `whole` marks the last piece.
    ///
    /// - Parameter finish: Called with the complete draft, the inbox, and the file's name.
    static func receive(_ call: PageCall, _ finish: (String, String, String) throws -> Void) throws -> HTTPResponse {
        guard let hub = call.site.settings.hub, let inbox = hub.inbox else {
            throw PageProblem(503, "noInbox")
        }
        guard let given = call.text("name"), isName(given), UUIDText.isValid(call.variables[0]),
            let offset = call.text("at").flatMap({ Int($0) }), offset >= 0
        else { throw PageProblem(400, "field", "name") }
        guard offset <= maximumLength - call.request.body.count else { throw PageProblem(413, "fileSize") }
        // The hub ignores files that look unfinished, so it would never read this one.
        guard let name = hub.readName(given), isName(name) else {
            throw PageProblem(422, "fileName")
        }
        let drafts = UploadDrafts(inbox: inbox, person: try call.person().person)
        if offset == 0 { drafts.removeAbandoned(at: call.now) }
        try drafts.checkRoom(for: call.request.body.count)
        let draft = drafts.path(of: call.variables[0])
        let isWhole = call.text("whole") != nil
        let end = try write(call.request.body, to: draft, at: offset, isLast: isWhole, now: call.now)
        if isWhole { try finish(draft, inbox, name) }
        let object = JSONObject(["have": end])
        return .data(object.line)
    }

    /// Writes a piece and returns the offset of the next piece.
    private static func write(_ bytes: [UInt8], to draft: String, at offset: Int, isLast: Bool, now: Instant) throws -> Int {
        // Only the first piece creates a draft, because only then are those that are too many removed.
        let descriptor = open(draft, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (offset == 0 ? O_CREAT | O_TRUNC : 0), 0o600)
        guard descriptor >= 0 else { throw errno == ENOENT ? PageProblem(409, "piece") : PageProblem(503, "inbox") }
        defer { close(descriptor) }
        // A repeated piece overwrites itself. A piece beyond the end is rejected.
        guard lseek(descriptor, 0, SEEK_END) >= off_t(offset) else { throw PageProblem(409, "piece") }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + written))
            }
            guard count > 0 else { throw PageProblem(507, "disk") }
            written += count
        }
        guard !isLast || (ftruncate(descriptor, off_t(offset + written)) == 0 && fsync(descriptor) == 0) else {
            throw PageProblem(507, "disk")
        }
        // The age of a draft is measured with the hub's clock.
        let time = timespec(tv_sec: Int(now.microseconds / 1_000_000), tv_nsec: 0)
        futimens(descriptor, [time, time])
        return offset + written
    }

    /// Moves a complete file to an unused name, so that no file is replaced. The hub reads files that are moved into place and
    /// skips files that are still open.
    private static func place(_ draft: String, in inbox: String, as name: String) throws {
        for number in 1...1000 {
            let free = "\(inbox)/" + (number == 1 ? name : "\(number)-\(name)")
            let reserved = open(free, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if reserved >= 0 {
                defer { close(reserved) }
                guard rename(draft, free) == 0 else { break }
                return
            }
            guard errno == EEXIST else { break }
        }
        throw PageProblem(503, "inbox")
    }

    private static func isName(_ name: String) -> Bool {
        (1...200).contains(name.utf8.count) && !name.hasPrefix(".")
            && !name.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }
    }
}
