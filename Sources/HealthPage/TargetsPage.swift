import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The page of the targets that the hub exports to, with their progress.
enum TargetsPage {
    static let routes = [PageRoute(method: "GET", path: "targets", right: .owner, answer: page)]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let store = try call.ownerReader().store
        let texts = call.texts
        let rows: [HTML] = try store.targets.all().map { target in
            let setAside = try store.targets.setAsideSummary(of: target.name)
            return """
                <tr><th scope="row">\(target.name)</th><td>\(texts("targets." + target.state.rawValue))</td><td>\(PageValues.grouped(Int64(target.delivered)))</td>
                <td>\(PageValues.grouped(Int64(try store.targets.changesWaiting(for: target))))</td><td>\(PageValues.grouped(Int64(setAside.count)))</td>
                <td>\(call.times.element(target.changed))</td><td>\(texts.sentence(target.words ?? setAside.words ?? ""))</td></tr>
                """
        }
        let heads = [
            "targets.name", "care.state", "targets.delivered", "targets.left", "targets.setAside", "targets.changed",
            "targets.said",
        ].map { texts($0) }
        let body: HTML = """
            <h1>\(texts("nav.targets"))</h1>
            \(rows.isEmpty ? HTML("<p>\(texts("targets.none"))</p>") : ClientsPage.table("targets", texts("targets.how"), heads, rows))
            """
        return .page(PageLayout(call: call, title: texts("nav.targets"), place: "/page/targets").whole(body))
    }
}
