import HTTPServerKit
import HealthModel
import HealthServing
import QRCodeKit
import SampleStore

/// The page on which the keeper adds people and creates login codes for them. A person logs in with the code in any browser. The keeper's
/// own browser can switch to each person, and back.
enum PeoplePage {
    static let routes = [
        PageRoute(method: "GET", path: "people", right: .owner, isSlow: true) { call in
            .page(try whole(FormFields(call: call), call))
        },
        PageRoute(method: "POST", path: "people", right: .owner, body: 4096, answer: change),
        PageRoute(method: "POST", path: "people/back", body: 64) { call in
            guard try call.changes().showOpener(in: call.person()) else { throw PageProblem(403, "owner") }
            return call.see("/page/")
        },
    ]

    private static let maximum = 100

    private static func whole(_ fields: FormFields, _ call: PageCall, code: (name: String, code: String)? = nil) throws -> HTML {
        let texts = call.texts
        let names = try call.personNames().filter { $0.key != Origin.unassigned }.sorted {
            ($0.value, $0.key) < ($1.value, $1.key)
        }
        let rows: [HTML] = names.map { person, name in
            let note: HTML = person == call.core.owner ? "<td>\(texts("people.owner"))</td>" : "<td></td>"
            return """
                <tr><th scope="row">\(name)</th>\(note)<td><form method="post" action="/page/people">\
                \(FormFields.hidden([("do", "invite"), ("person", person)]))<button class="quiet" aria-label="\(texts("people.inviteOf", name))">\(texts("people.invite"))</button></form></td></tr>
                """
        }
        let invitation: HTML =
            code.map { code in
                """
                <div class="card" role="status"><p>\(texts("people.code", code.name))</p><p class="value">\(code.code)</p>\
                \(scan(code.code, call))</div>
                """
            } ?? ""
        let body: HTML = """
            <h1>\(texts("people.title"))</h1>
            <p>\(texts("people.how"))</p>
            \(invitation)
            \(try PersonCards.html(names.map { (person: $0.key, name: $0.value) }, call))
            <h2>\(texts("people.access"))</h2>
            \(ClientsPage.table("people", texts("people.title"), ["targets.name", "people.role", "clients.change"].map { texts($0) }, rows))
            <h2>\(texts("people.add"))</h2>
            <form class="entry" method="post" action="/page/people">\(FormFields.hidden([("do", "add")]))
            \(fields.input("name", texts("targets.name"), value: fields.typed("name") ?? "", attributes: "autocomplete=\"off\" required"))
            <button>\(texts("people.add"))</button> <button class="quiet" name="then" value="invite">\(texts("people.addAndInvite"))</button></form>
            <h2>\(texts("people.rename"))</h2>
            <form class="entry" method="post" action="/page/people">\(FormFields.hidden([("do", "rename")]))
            \(fields.select("person", texts("people.whoseName"), names.map { (value: $0.key, text: $0.value) }, chosen: fields.typed("person") ?? call.core.owner))
            \(fields.input("newName", texts("people.newName"), value: fields.typed("newName") ?? "", attributes: "autocomplete=\"off\" required"))
            <button>\(texts("people.rename"))</button></form>
            <p><a href="/page/devices">\(texts("people.devices"))</a> · <a href="/page/upload">\(texts("upload.title"))</a></p>
            """
        return PageLayout(call: call, title: texts("people.title"), place: "/page/people").whole(body)
    }

    /// The link with a login code as a QR code for the camera of a phone, unless only this machine knows the page's address.
    private static func scan(_ code: String, _ call: PageCall) -> HTML {
        guard let link = call.address(of: "/page/login#code=\(code)"), let picture = QRCode(link) else { return "" }
        let (low, side) = (-QRCode.margin, picture.size + 2 * QRCode.margin)
        return """
            <p>\(call.texts("people.scan"))</p><svg class="qr" viewBox="\(low) \(low) \(side) \(side)" role="img" aria-label="\(call.texts("people.qr"))">\
            <path fill="#fff" d="M\(low) \(low)h\(side)v\(side)h-\(side)z"/><path d="\(picture.path)"/></svg>
            """
    }

    /// The other people, by name. Empty for everybody but the keeper.
    static func others(_ call: PageCall) -> [(person: String, name: String)] {
        let names = (try? call.personNames()) ?? [:]
        return names.filter { $0.key != Origin.unassigned && $0.key != call.session?.person }
            .map { (person: $0.key, name: $0.value) }.sorted { ($0.name, $0.person) < ($1.name, $1.person) }
    }

    /// The button that shows a person's page in this browser.
    static func switching(_ person: String, _ name: String, _ call: PageCall) -> HTML {
        """
        <form method="post" action="/page/people">\(FormFields.hidden([("do", "switch"), ("person", person)]))\
        <button class="quiet" aria-label="\(call.texts("people.switchOf", name))">\(call.texts("people.switch"))</button></form>
        """
    }

    /// The page with a new login code of a person.
    private static func invite(_ person: String, _ call: PageCall) throws -> HTTPResponse {
        guard let (name, code) = try call.hubChanges().makeCode(for: person, at: call.now) else {
            throw PageProblem(400, "choosePerson")
        }
        return .page(try whole(FormFields(call: call), call, code: (call.texts.person(name), code)))
    }

    @Sendable private static func change(_ call: PageCall) throws -> HTTPResponse {
        switch call.text("do") {
        case "add":
            var fields = FormFields(call: call)
            guard let name = fields.typed("name"), Person.isName(name) else {
                fields.errors["name"] = "people.wrong.name"
                return .page(try whole(fields, call), status: 422)
            }
            let changes = try call.hubChanges()
            let people = try changes.people()
            guard people.count < maximum else { throw PageProblem(409, "mostPeople", "\(maximum)") }
            guard !people.contains(where: { $0.name == name }) else {
                fields.errors["name"] = "people.wrong.taken"
                return .page(try whole(fields, call), status: 422)
            }
            let person = Person(id: UUIDText.random(), name: name)
            try call.doing { try changes.save(person) }
            return call.text("then") == "invite" ? try invite(person.id, call) : call.see("/page/people")
        case "rename":
            var fields = FormFields(call: call)
            let changes = try call.hubChanges()
            guard let person = call.text("person"), person != Origin.unassigned, try call.personNames()[person] != nil else {
                throw PageProblem(400, "choosePerson")
            }
            guard let name = fields.typed("newName"), Person.isName(name) else {
                fields.errors["newName"] = "people.wrong.name"
                return .page(try whole(fields, call), status: 422)
            }
            guard try !changes.people().contains(where: { $0.name == name && $0.id != person }) else {
                fields.errors["newName"] = "people.wrong.taken"
                return .page(try whole(fields, call), status: 422)
            }
            try call.doing { try changes.save(Person(id: person, name: name)) }
            return call.see("/page/people")
        case "invite":
            guard let person = call.text("person") else { throw PageProblem(400, "choosePerson") }
            return try invite(person, call)
        case "switch":
            guard let person = call.text("person"), try call.hubChanges().show(person, in: call.person()) else {
                throw PageProblem(400, "choosePerson")
            }
            return call.see("/page/")
        default: throw PageProblem(400, "field", "do")
        }
    }
}
