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
        PageRoute(method: "POST", path: "add/undo", body: 1024, answer: undo),
    ]

    /// The number of people up to which each has a button of their own.
    private static let maximumButtons = 4

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
            \(try done(call))
            \(HTML.choose(!own.isEmpty, "<h2>\(texts("entry.own"))</h2><ul class=\"buttons\">\(own)</ul>"))
            <h2>\(texts("entry.other"))</h2>
            <form class="entry" method="get" action="/page/add">\(select)<button>\(texts("entry.next"))</button></form>
            <p><a href="/page/deleted">\(texts("deleted.title"))</a></p>
            """
        return PageLayout(call: call, title: texts("entry.title")).whole(body)
    }

    /// What became of the last reading.
    private static func done(_ call: PageCall) throws -> HTML {
        guard let outcome = call.text("done"), ["stored", "duplicate", "quarantined", "refused", "undone"].contains(outcome)
        else {
            return ""
        }
        if outcome == "stored", let saved = try saved(call) { return saved }
        let isDone = outcome == "stored" || outcome == "undone"
        return "<p class=\"\(isDone ? "done" : "problem")\" role=\"status\">\(call.texts("entry.done." + outcome))</p>"
    }

    /// The value, the time, and the person of the reading that was saved, with a button that deletes it. `nil` if it is not there any more.
    private static func saved(_ call: PageCall) throws -> HTML? {
        let store = try (call.isOwner ? call.ownerReader() : call.reader()).store
        let samples = try call.list("sample").prefix(EntryForm.pressures.count).compactMap { id in
            try SampleIdentity(id).flatMap { try store.samples.sample($0)?.sample }
        }
        // An address can name any sample.
        guard let first = samples.first,
            samples.allSatisfy({ $0.origin.person == first.origin.person && $0.origin.source.id == HandEntry.source.id })
        else { return nil }
        let amounts = samples.map { call.values.amount($0.value, of: $0.origin.type) }
        let value = CardFacts.joined(amounts.map(\.value).joined(separator: "/"), amounts[0].unit)
        let (texts, time) = (call.texts, call.times.text(first.start))
        let own = first.origin.person == call.session?.person
        let name = try own ? call.personName : call.personNames()[first.origin.person]
        let sentence = name.map { texts("entry.saved", $0, value, time) } ?? texts("entry.savedOwn", value, time)
        let fields =
            samples.map { (name: "sample", value: $0.identity.description) }
            + [(name: "type", value: call.text("type") ?? ""), (name: "person", value: first.origin.person)]
        return """
            <div class="done" role="status"><p>\(sentence)</p><form class="inline" method="post" action="/page/add/undo">\(FormFields.hidden(fields))\
            <button class="quiet">\(texts("entry.undo"))</button></form></div>
            """
    }

    /// Deletes a reading that was just saved.
    @Sendable private static func undo(_ call: PageCall) throws -> HTTPResponse {
        let changes = try call.changes(of: try person(call))
        let samples = call.list("sample").prefix(EntryForm.pressures.count).compactMap { SampleIdentity($0) }
        try call.doing {
            for sample in samples {
                guard try changes.delete(sample, withParts: false, at: call.now) else { throw PageProblem(404, "sample") }
            }
        }
        let type = call.text("type").flatMap { try? SampleType(anyName: $0) }
        return call.see("/page/add?done=undone\(type.map { "&type=\($0.id)" } ?? "")")
    }

    private static func whole(_ form: EntryForm, _ type: SampleType, _ call: PageCall) throws -> HTML {
        let (texts, name) = (call.texts, call.values.name(of: type))
        let title = texts("entry.of", name)
        var person: HTML = ""
        var buttons: HTML = ""
        if call.isOwner {
            let people = try call.personNames().filter { $0.key != Origin.unassigned }.sorted {
                $0.value < $1.value
            }
            if (2...maximumButtons).contains(people.count) {
                // The person whose page it is comes first, and Enter saves for that person.
                let sorted = people.filter { $0.key == call.session?.person } + people.filter { $0.key != call.session?.person }
                let all: [HTML] = sorted.enumerated().map { index, each in
                    """
                    <button\(HTML.choose(index > 0, " class=\"quiet\"")) name="person" value="\(each.key)">\(texts("entry.saveFor", each.value))</button>\u{20}
                    """
                }
                buttons = "\(all)"
            } else if people.count > 1 {
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
            \(try done(call))
            <form class="entry" method="post" action="/page/add">
            \(FormFields.hidden([("type", type.id)]))\(form.html)\(person)\(buttons.text.isEmpty ? "<button>\(saving)</button>" : buttons)</form>
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
        let result: SampleStore.Samples.HandResult
        do {
            result = try call.changes(of: person).add(entry, at: call.now)
        } catch is Refusal {
            form.fail("value", "entry.wrong.refused")
            return .page(try whole(form, type, call), status: 422)
        }
        let saved = zip(result.samples, result.outcomes).filter { $0.1 == .stored }
        return call.see(
            "/page/add?type=\(type.id)&done=\(word(result.outcomes))"
                + saved.map { "&sample=\($0.0.identity.description)" }.joined())
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
