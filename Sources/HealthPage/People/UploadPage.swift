import Glibc
import HTTPServerKit
import HealthModel
import HealthServing
import Pipeline
import SampleStore

/// The page where a person uploads files with their own readings. The keeper can upload for anybody.
enum UploadPage {
    static let routes = [
        PageRoute(method: "GET", path: "upload", answer: page),
        PageRoute(method: "POST", path: "data/upload/*", body: FilesPage.piece, answer: take),
    ]

    /// Imports the files that were uploaded before the server ended. The server has confirmed their receipt.
    static func resume(_ site: PageSite) {
        guard let hub = site.settings.hub, let inbox = hub.inbox else { return }
        for upload in WaitingUpload.all(in: inbox) { add(upload, to: site, hub) }
    }

    /// Adds the import of a complete file. Nothing is imported for a person that the store does not know when its turn comes, because the
    /// person can have been erased.
    private static func add(_ upload: WaitingUpload, to site: PageSite, _ hub: HubDoor) {
        let core = site.core
        site.uploads.add(upload.name, owner: upload.owner) {
            let share = ImportShare(ofStore: core.settings.store)
            defer {
                upload.remove()
                core.disk.add(share.used, for: .person(upload.owner), at: core.settings.now())
            }
            guard (try? core.readers.isKnown(upload.person)) == true else {
                return HubDoor.Outcome(code: 67, output: "", words: "")
            }
            let seconds = seconds(for: size(ofFile: upload.file))
            return hub.runImport(of: upload.file, person: upload.person, onlyPerson: upload.isOwnOnly, seconds: seconds)
        }
    }

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        let personID = try call.person().person
        var person: HTML = ""
        if call.isOwner {
            let people = try call.personNames().filter { $0.key != Origin.unassigned }
                .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            person = FormFields(call: call).select(
                "person", texts("devices.whose"), people.map { (value: $0.key, text: $0.value) }, chosen: personID)
        }
        let rows: [HTML] = call.site.uploads.entries(of: personID).map { entry in
            let text =
                entry.result.map { result in
                    result.counts.map { counts in
                        texts(
                            "upload.done", "\(counts.stored)", "\(counts.duplicate)", "\(counts.quarantined)", "\(counts.refused)"
                        ) + (counts.diskFull == true ? ". " + texts("upload.diskFull") : "")
                    } ?? texts("upload.failed")
                } ?? texts("upload.running")
            return "<tr><th scope=\"row\">\(entry.name)</th><td>\(text)</td></tr>"
        }
        let heads = ["targets.name", "upload.result"].map { texts($0) }
        let drop: HTML =
            call.site.settings.hub?.inbox == nil
            ? "<p>\(texts("files.noInbox"))</p>"
            : """
            <div class="entry">\(person)</div>
            <div class="drop" data-drop data-to="/page/data/upload" data-sending="\(texts("files.sending"))" data-sent="\(texts("files.sent"))" data-refused="\(texts("files.refused"))">
            <label for="file">\(texts("files.drop"))</label> <input type="file" id="file" multiple>
            <p role="status" data-state></p></div>
            <noscript><p>\(texts("upload.noScript"))</p></noscript>
            """
        let body: HTML = """
            <h1>\(texts("upload.title"))</h1>
            <p>\(texts("upload.how"))</p>
            \(drop)
            <div data-accounts>\(rows.isEmpty ? "" : ClientsPage.table("uploads", texts("files.read"), heads, rows))</div>
            """
        return .page(PageLayout(call: call, title: texts("upload.title")).whole(body, scripts: ["page.js", "files.js"]))
    }

    /// The maximum time of an import in seconds: that of any command, and more for a large file on a slow machine.
    static func seconds(for bytes: Int) -> Int { 200 + bytes / leastRate }

    /// The rate in bytes a second at which every machine imports a file.
    private static let leastRate = 32_768

    private static func size(ofFile path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    @Sendable private static func take(_ call: PageCall) throws -> HTTPResponse {
        let own = try call.person().person
        let personID = call.text("person") ?? own
        if personID != own {
            guard call.isOwner else { throw PageProblem(403, "owner") }
            guard personID != Origin.unassigned, try call.ownerReader().store.people.names()[personID] != nil else {
                throw PageProblem(400, "choosePerson")
            }
        }
        guard let hub = call.site.settings.hub else { throw PageProblem(503, "uploads") }
        guard call.site.uploads.isFree(for: own) else { throw PageProblem(503, "uploads", bound: .uploads) }
        // A member's file cannot bring readings of other people.
        let onlyPerson = !call.isOwner
        return try FilesPage.receive(call) { draft, inbox, name in
            let upload = WaitingUpload(in: inbox, name: name, person: personID, owner: own, isOwnOnly: onlyPerson)
            try call.core.disk.take(size(ofFile: draft), for: .person(own), at: call.now)
            guard upload.place(draft) else { throw PageProblem(503, "inbox") }
            add(upload, to: call.site, hub)
        }
    }
}
