import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import Pipeline
import SampleStore

/// The page where a person types a reading. It is stored in the same way as with `vitalgate add`.
enum EntryPage {
    static let routes = [
        PageRoute(method: "GET", path: "add", answer: page),
        PageRoute(method: "POST", path: "add", body: 4096, answer: save),
    ]

    static func link(_ call: PageCall, _ type: SampleType? = nil) -> HTML {
        let type = type.map { EntryForm.pressures.contains($0) ? BloodPressure.type : $0.id }
        guard type.flatMap({ SampleType($0) }).map({ EntryForm(of: $0, call) != nil }) ?? true else { return "" }
        return "<p><a class=\"button\" href=\"/page/add\(type.map { "?type=\($0)" } ?? "")\">\(call.texts("entry.title"))</a></p>"
    }

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        guard let id = call.text("type") else { return .page(try choice(call)) }
        guard let type = try? SampleType(anyName: id), let form = EntryForm(of: type, call) else {
            throw PageProblem(404, "type")
        }
        return .page(try whole(form, type, call))
    }

    /// The first step: the choice of a type. The person's own types come first.
    private static func choice(_ call: PageCall) throws -> HTML {
        let texts = call.texts
        var known: Set<String> = []
        for stored in try call.reader().store.samples.latest() where stored.sample.origin.kind == .quantity {
            let type = stored.sample.origin.type
            known.insert(EntryForm.pressures.contains(type) ? BloodPressure.type : type.id)
        }
        func sorted(_ ids: some Sequence<String>) -> [(id: String, name: String)] {
            ids.compactMap { SampleType($0) }.map { (id: $0.id, name: call.values.name(of: $0)) }.sorted {
                ($0.name, $0.id) < ($1.name, $1.id)
            }
        }
        let own: [HTML] = sorted(known).map { "<li><a class=\"button\" href=\"/page/add?type=\($0.id)\">\($0.name)</a></li>" }
        let all = sorted(
            SampleType.all.filter { $0.kind == .quantity && !EntryForm.pressures.contains($0) }.map(\.id) + [BloodPressure.type])
        let select = FormFields(call: call).select(
            "type", texts("clients.type"), all.map { (value: $0.id, text: $0.name) }, chosen: nil)
        let body: HTML = """
            <h1>\(texts("entry.title"))</h1>
            \(done(call))
            \(HTML.choose(!own.isEmpty, "<h2>\(texts("entry.own"))</h2><ul class=\"buttons\">\(own)</ul>"))
            <h2>\(texts("entry.other"))</h2>
            <form class="entry" method="get" action="/page/add">\(select)<button>\(texts("entry.next"))</button></form>
            <p><a href="/page/deleted">\(texts("deleted.title"))</a></p>
            """
        return PageLayout(call: call, title: texts("entry.title")).whole(body)
    }

    /// What became of the last reading.
    private static func done(_ call: PageCall) -> HTML {
        guard let outcome = call.text("done"), ["stored", "duplicate", "quarantined", "refused"].contains(outcome) else {
            return ""
        }
        let isStored = outcome == "stored"
        return "<p class=\"\(isStored ? "done" : "problem")\" role=\"status\">\(call.texts("entry.done." + outcome))</p>"
    }

    private static func whole(_ form: EntryForm, _ type: SampleType, _ call: PageCall) throws -> HTML {
        let (texts, name) = (call.texts, call.values.name(of: type))
        let title = texts("entry.of", name)
        var person: HTML = ""
        if call.isOwner {
            let people = try call.personNames().filter { $0.key != Origin.unassigned }.sorted {
                $0.value < $1.value
            }
            if people.count > 1 {
                person = form.fields.select(
                    "person", texts("devices.whose"), people.map { (value: $0.key, text: $0.value) },
                    chosen: form.fields.typed("person") ?? call.session?.person)
            }
        }
        // The button names the person, unless the form has a choice of people.
        let saving =
            person.text.isEmpty ? call.personName.map { texts("entry.saveFor", $0) } ?? texts("entry.save") : texts("entry.save")
        let body: HTML = """
            <h1>\(title)</h1>
            \(done(call))
            <form class="entry" method="post" action="/page/add">
            \(FormFields.hidden([("type", type.id)]))\(form.html)\(person)<button>\(saving)</button></form>
            <p><a href="/page/type/\(type.id)">\(name)</a> · <a href="/page/add">\(texts("entry.another"))</a></p>
            """
        return PageLayout(call: call, title: title).whole(body)
    }

    @Sendable private static func save(_ call: PageCall) throws -> HTTPResponse {
        guard let type = call.text("type").flatMap({ try? SampleType(anyName: $0) }), var form = EntryForm(of: type, call) else {
            throw PageProblem(400, "chooseType")
        }
        let person = try person(call)
        guard let entry = form.entry(of: person) else { return .page(try whole(form, type, call), status: 422) }
        let outcomes: [SampleOutcome]
        do {
            outcomes = try call.changes(of: person).add(entry, at: call.now)
        } catch is Refusal {
            form.fail("value", "entry.wrong.refused")
            return .page(try whole(form, type, call), status: 422)
        }
        return call.see("/page/add?type=\(type.id)&done=\(word(outcomes))")
    }

    /// The person whose reading it is. Only the keeper may name another person.
    private static func person(_ call: PageCall) throws -> String {
        let own = try call.person().person
        guard let named = call.text("person"), named != own else { return own }
        guard call.isOwner else { throw PageProblem(403, "owner") }
        guard named != Origin.unassigned, try call.ownerReader().store.people.names()[named] != nil else {
            throw PageProblem(400, "choosePerson")
        }
        return named
    }

    private static func word(_ outcomes: [SampleOutcome]) -> String {
        if outcomes.contains(.quarantined) { return "quarantined" }
        if outcomes.contains(.refused) { return "refused" }
        return outcomes.contains(.stored) ? "stored" : "duplicate"
    }
}
