import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The pages that delete a sample, list the deleted ones, and restore them.
enum DeletedPage {
    static let routes = [
        PageRoute(method: "GET", path: "deleted", isSlow: true, answer: page),
        PageRoute(method: "GET", path: "sample/*/delete", answer: confirmation),
        PageRoute(method: "POST", path: "sample/*/delete", body: 64, answer: delete),
        PageRoute(method: "POST", path: "sample/*/restore", answer: restore),
    ]

    private static let maximum = 200

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let (texts, store) = (call.texts, try call.reader().store)
        let deleted = try call.records().restorable(limit: maximum)
        let rows: [HTML] = try deleted.map { each in
            let sample = each.stored.sample
            let (name, shown) = (call.values.name(of: sample.origin.type), try call.values.shown(sample, in: store))
            let id = sample.identity.description
            return """
                <tr><th scope="row"><a href="/page/sample/\(id)">\(name)</a></th><td>\(shown.value) \(shown.unit)</td><td>\(call.times.element(sample.start))</td>\
                <td>\(call.times.element(each.deleted))</td><td>\(SampleActions.restoreForm(id, call, name: "\(name) \(shown.value)"))</td></tr>
                """
        }
        let heads = ["clients.type", "figure.value", "figure.when", "deleted.when", "clients.change"].map { texts($0) }
        let done: HTML =
            call.text("done") == "restored" ? "<p class=\"done\" role=\"status\">\(texts("deleted.restored"))</p>" : ""
        let body: HTML = """
            <h1>\(texts("deleted.title"))</h1>
            <p>\(texts("deleted.how"))</p>
            \(done)
            \(HTML.choose(rows.isEmpty, "<p>\(texts("deleted.none"))</p>", ClientsPage.table("deleted", texts("deleted.title"), heads, rows)))
            """
        return .page(PageLayout(call: call, title: texts("deleted.title")).whole(body))
    }

    @Sendable private static func confirmation(_ call: PageCall) throws -> HTTPResponse {
        let (texts, sample) = (call.texts, try CorrectionPage.sample(call))
        let store = try call.reader().store
        let shown = try call.values.shown(sample, in: store)
        let id = call.variables[0]
        let parts = try store.samples.countOfObjects(namedBy: [sample.identity])
        let choice: HTML =
            parts == 0
            ? ""
            : "<p><label><input type=\"checkbox\" name=\"parts\" value=\"yes\"> \(texts("deleted.parts", "\(parts)"))</label></p>"
        let body: HTML = """
            <h1>\(texts("deleted.sure"))</h1>
            <p>\(call.values.name(of: sample.origin.type)): \(shown.value) \(shown.unit), \(call.times.element(sample.start)), \(TypeCard.source(of: sample, texts))</p>
            <p>\(texts("deleted.how"))</p>
            <form class="inline" method="post" action="/page/sample/\(id)/delete">\(choice)<button class="bad">\(texts("deleted.delete"))</button></form>
            <p><a href="/page/sample/\(id)">\(texts("entry.cancel"))</a></p>
            """
        return .page(PageLayout(call: call, title: texts("deleted.sure")).whole(body))
    }

    @Sendable private static func delete(_ call: PageCall) throws -> HTTPResponse {
        let sample = try CorrectionPage.sample(call)
        try call.doing {
            let withParts = call.text("parts") == "yes"
            guard try call.changes().delete(sample.identity, withParts: withParts, at: call.now) else {
                throw PageProblem(404, "sample")
            }
        }
        return call.see("/page/deleted")
    }

    @Sendable private static func restore(_ call: PageCall) throws -> HTTPResponse {
        guard let uuid = SampleIdentity(call.variables[0]) else { throw PageProblem(404, "sample") }
        try call.doing {
            guard try call.changes().restore(uuid, at: call.now) else { throw PageProblem(404, "sample") }
        }
        return call.see("/page/deleted?done=restored")
    }
}
