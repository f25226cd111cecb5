import FileSource
import Formats
import HTTPServerKit
import HealthModel
import HealthServing

/// The route for apps on phones that post health data in their own format.
enum IntakeRoutes {
    static let post = Route(
        method: "POST", path: "/v1/intake/{kind}", name: "postIntake", summary: "Store what an app on a phone posts.",
        discussion: """
            The body is in the app's own format, which the path names. 'vitalgate phones add' creates the client and prints the settings \
            of the app. Other clients get 403. The token can also be sent in the header X-API-Key. The response is sent after the data is durable. A post that \
            is cut or malformed stores nothing, and the same post again changes nothing. The response counts the readings that were \
            accepted, the refused ones, and the parts that are not stored, by name.
            """,
        parameters: [
            Parameter(
                name: "kind", form: .words(apps.map(\.id)),
                help: "Format of the body: \(apps.map { "\($0.id) (the app \($0.name), JSON)" }.joined(separator: " or ")).",
                isRequired: true, isInPath: true),
            Parameter(
                name: grouping, form: .field(maximum: 64),
                help: "Length of the periods whose sums and averages the body contains. Health Auto Export sends this header.",
                isInHeader: true),
        ],
        body: RequestBody(forms: [.json], maximum: 64 << 20, schema: "{\"type\":\"object\"}", isSpooled: true), answers: [.json],
        problems: [403, 507], acceptsKeyHeader: true, answer: post)

    private static let apps = PhoneApp.all
    private static let ownReading = HealthAutoExportInterpreter.ownReading.name
    private static let grouping = "automation-aggregation"

    @Sendable private static func post(_ call: Call) throws -> HTTPResponse {
        guard let intake = call.core.settings.intake, let kind = call.text("kind") else {
            throw Problem(503, "This service accepts no posts.")
        }
        guard let file = call.file else { throw Problem(400, "The body is empty.") }
        let account = try intake(
            IntakePost(client: try call.caller().client, kind: kind, file: file.path, grouping: call.text(grouping)))
        var (answer, skipped) = (JSONObject(), JSONObject())
        // Whether a reading was already stored, or quarantined, is not told. It depends on data that the client may not read.
        let known = account.skipped[ownReading] ?? 0
        answer.set(["read": account.read + known, "accepted": account.read - account.refused + known, "refused": account.refused])
        for (name, count) in account.skipped.sorted(by: { $0.key < $1.key }) where name != ownReading { skipped.set(name, count) }
        answer.set("skipped", skipped)
        return HTTPResponse(type: "application/json", answer.line)
    }
}
